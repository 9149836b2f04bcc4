"""A recording through a library: transcribed in the background, asked, cited by its minute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.reading.sound import is_installed
from tests.conftest import PROJECT

MEMO = PROJECT / "tests/rag_core/reading/memo.ogg"


@pytest.mark.skipif(not is_installed(), reason="the extra 'sound' is not installed")
def test_a_voice_memo_is_asked_and_cited(tmp_path: Path, new_database: Callable[[], str]) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    with Library.open(settings) as library:
        added = list(library.add([MEMO]))
        assert added[-1].stage == "ready", added[-1].error
        assert [step.stage for step in library.recognition.run()][-1] == "done"
        (memo,) = library.documents()
        assert (memo.media_type, memo.is_recording, memo.page_count, memo.to_recognise) == ("audio/ogg", True, 1, 0)
        assert "Page 1 was transcribed by speech recognition." in memo.notes
        answer = library.ask("What does the new ferry cost?")
        assert "400,000 pounds" in answer.text
        assert (answer.citations[0].page, answer.citations[0].page_label) == (1, "0:00")
