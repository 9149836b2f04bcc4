"""Notes of originals on their way: what no document came for is removed, and nothing else."""

from __future__ import annotations

import pytest

from rag_core.storage.blobs import Blobs
from rag_core.storage.blobs.notes import leftover_notes, note_originals

IDS = [f"{number:032x}" for number in range(4)]


@pytest.fixture
def files(blobs: Blobs) -> Blobs:
    blobs.write(IDS[0], [b"of a document that is there"])
    return blobs


def test_a_block_that_ends_keeps_what_came_in(files: Blobs) -> None:
    with note_originals(files, IDS[1:]) as known:
        files.write_many({key: b"new" for key in IDS[1:]})
        known.update(IDS[1:3])
    assert set(files.listing()) == set(IDS[:3])
    assert leftover_notes(files) == []


def test_a_block_that_is_cut_off_leaves_it_to_the_next_opening(files: Blobs) -> None:
    with pytest.raises(KeyboardInterrupt), note_originals(files, IDS[1:]):
        files.write_many({key: b"new" for key in IDS[1:]})
        raise KeyboardInterrupt
    assert set(files.listing()) == set(IDS)
    (note,) = leftover_notes(files)
    assert note.read() == IDS[1:]
    note.clear(known=IDS[2:3])
    assert set(files.listing()) == {IDS[0], IDS[2]}
    assert leftover_notes(files) == []


@pytest.mark.parametrize("data", [b"", b"[", b"7", b'["../../x", 3, null]'], ids=["empty", "cut", "number", "paths"])
def test_a_note_that_cannot_be_read_takes_nothing_along(files: Blobs, data: bytes) -> None:
    files.write("note-odd", [data])
    (note,) = leftover_notes(files)
    assert note.read() == []
    note.clear(known=())
    assert set(files.listing()) == {IDS[0]}
    assert leftover_notes(files) == []


def test_nothing_to_note_writes_nothing(files: Blobs) -> None:
    with note_originals(files, []):
        assert leftover_notes(files) == []
