"""What a loader of langchain-community reads is added as docs/python.md shows it, run from that page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag_core import Library, Upload
from tests.conftest import PROJECT

CHAT = """\
[07.03.24, 18:02:11] Piet Hamre: The ferry to Tolsund is cancelled until Monday.
[07.03.24, 18:05:40] Ada Lund: Then we meet at the net loft at seven.
and bring the red lamp
[07.03.24, 18:06:02] Piet Hamre: <Media omitted>
[07.03.24, 18:09:30] Ada Lund: The key is under the third stone.
"""


def test_a_chat_s_export_is_added_as_the_documentation_says(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (PROJECT / "docs" / "python.md").read_text()
    (example,) = re.findall(r"```python\n(from langchain_community[^`]+)```", page)
    (tmp_path / "chat.txt").write_text(CHAT)
    monkeypatch.chdir(tmp_path)
    exec(example, {"library": library, "Upload": Upload})
    (document,) = library.documents()
    assert document.sources == ("chat 0.txt",)
    answer = library.ask("Where is the key?")
    assert "under the third stone" in answer.text
    assert "Media omitted" not in "".join(chunk.text for chunk in library.chunks(document.id))
