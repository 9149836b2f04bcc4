"""What an earlier release made is opened and brought up to date: a library's folder, moved, and a backup."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from rag_core import Library, Settings
from tests.conftest import PROJECT

KEPT = PROJECT / "tests" / "kept"


def unpacked(folder: Path) -> Settings:
    """The kept folder, as it comes out of an archive: elsewhere, and open to others."""
    with tarfile.open(KEPT / "library.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    (folder / "oldlib" / "postgres").chmod(0o755)
    return Settings(data_dir=folder / "oldlib", _env_file=None)


def restored(folder: Path) -> Settings:
    """The kept backup, restored into an empty library."""
    settings = Settings(data_dir=folder / "restored", _env_file=None)
    Library.restore(KEPT / "library.lectern", settings)
    return settings


@pytest.mark.parametrize("made", [unpacked, restored])
def test_what_an_earlier_release_made_opens(made: object, tmp_path: Path) -> None:
    assert callable(made)
    with Library.open(made(tmp_path)) as library:
        documents = {document.title: document for document in library.documents()}
        assert {document.state for document in documents.values()} == {"ready"}
        assert library.maintenance.status().chunks == 40
        handbook = documents["Handbook of the Veyra Ferry"]
        assert any("kept" in document.tags for document in documents.values())
        assert library.search("fare from Aldhaven to Tolsund", k=1)[0].document.id == handbook.id
        assert "15.80" in library.ask("What does an adult pay from Aldhaven to Tolsund?").text
        assert [item.name for item in library.evaluation.sets()] == ["Kept"]
        asked = [message for one in library.conversations() for message in library.messages(one.id)]
        assert len(asked) == 2
        assert all(message.answer and message.answer.citations for message in asked)
        assert not library.maintenance.verify(deep=True).findings
