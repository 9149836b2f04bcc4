"""Originals under names of their own."""

from __future__ import annotations

from pathlib import Path

from rag_core.storage.blobs.folder import FolderBlobs

ID = "0" * 32


def test_a_name_leads_to_the_bytes_and_goes_with_them(tmp_path: Path) -> None:
    files = FolderBlobs.prepared(tmp_path / "files")
    files.write(ID, [b"words"])
    assert files.named(ID, "") == files.path(ID)
    named = files.named(ID, "notes/a letter.txt")
    assert (named.name, named.read_bytes(), files.named(ID, "a letter.txt")) == ("a letter.txt", b"words", named)
    assert {files.named(ID, name) for name in ("..", "a" * 300)} == {files.path(ID)}
    assert set(files.listing()) == {ID}
    files.remove(ID)
    assert not named.is_symlink()
