"""Dumps compacted into segments behind the others' backs: the library answers the same, and the stores agree."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from accelerator import segments
from accelerator.dump import Dump
from rag_core import Settings
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.storage import Storage
from rag_core.storage.maintenance.doctor import repair, verify
from tests.rag_core.storage.filled import PROFILE, fill, flip, stored, truncate


@pytest.fixture(autouse=True)
def _few_rows_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "COMPACT_ROWS", 5)


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    opened = Storage(settings)
    yield opened
    opened.close()


@pytest.fixture
def filled(storage: Storage) -> list[str]:
    """Four documents of three chunks, in a segment."""
    ids = fill(storage)
    storage.compact()
    assert sealed(storage) == 12
    return ids


def sealed(storage: Storage) -> int:
    """How many vectors are searched in segments."""
    words = storage.dumps.describe().split()
    return int(words[words.index("of") - 1]) if "segments" in words else 0


def files(storage: Storage) -> list[Path]:
    return sorted((storage.folder / "segments").rglob("*.segment"))


def nearest(storage: Storage, document_id: str) -> tuple[str, int]:
    vectors, _ = storage.documents.vectors.of(document_id)
    [match], [vector] = storage.dumps.search(vectors[1], 1)
    assert np.array_equal(vector, vectors[1])
    return match.key, match.row


def assert_sound(storage: Storage, ids: list[str]) -> None:
    assert storage.dumps.searched() == set(ids)
    assert [nearest(storage, document_id) for document_id in ids] == [(document_id, 1) for document_id in ids]
    assert verify(storage, deep=True).findings == ()


def test_compacted_documents_are_found_and_bound_to_their_texts(storage: Storage, filled: list[str]) -> None:
    assert_sound(storage, filled)
    for document_id in filled:
        _, sums = storage.documents.vectors.of(document_id)
        assert [storage.dumps.md5(document_id, row) for row in range(3)] == sums


def test_few_rows_are_left_as_they_are(storage: Storage) -> None:
    fill(storage, 1)
    storage.compact()
    assert not files(storage)


def test_opening_maps_the_segment_and_no_dump(
    settings: Settings, storage: Storage, filled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.close()
    with monkeypatch.context() as patch:
        patch.setattr(Dump, "open", _refuse)
        again = Storage(settings)
    try:
        assert sealed(again) == 12
        assert_sound(again, filled)
    finally:
        again.close()


def test_removed_and_added_again(settings: Settings, storage: Storage, filled: list[str]) -> None:
    storage.remove(filled[1])
    assert storage.dumps.searched() == set(filled) - {filled[1]}
    assert filled[1] not in {match.key for match in storage.dumps.search(np.ones(8, np.float32), 12)[0]}
    storage.settle()
    storage.commit([stored(storage, 1, 4)], PROFILE)
    assert_sound(storage, filled)
    storage.close()
    again = Storage(settings)
    try:
        assert len(again.dumps.search(np.ones(8, np.float32), 20)[0]) == 13
        assert_sound(again, filled)
    finally:
        again.close()


def test_segments_grow_into_one(storage: Storage, filled: list[str]) -> None:
    more = [stored(storage, number, 3) for number in range(4, 8)]
    storage.commit(more, PROFILE)
    storage.compact()
    assert sealed(storage) == 24
    assert len(files(storage)) == 1
    assert_sound(storage, [*filled, *(item.document_id for item in more)])


@pytest.mark.parametrize("damage", [truncate(0.5), flip(-1), flip(0), Path.unlink], ids=["cut", "end", "head", "gone"])
def test_a_segment_damaged_while_closed_is_compacted_anew(
    settings: Settings, storage: Storage, filled: list[str], damage
) -> None:
    storage.close()
    damage(files(storage)[0])
    again = Storage(settings)
    try:
        report = repair(again, verify(again, deep=True))
        assert report.findings == ()
        again.compact()
        assert sealed(again) == 12
        assert_sound(again, filled)
    finally:
        again.close()


def test_a_segment_damaged_while_open_is_told_of_and_dumps_take_its_place(storage: Storage, filled: list[str]) -> None:
    path = files(storage)[0]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    with path.open("r+b") as file:  # in place, as a failing disk would
        file.write(data)
    report = verify(storage)
    assert [(finding.store, finding.document_id) for finding in report.findings] == [("Dumps", "")]
    assert "checksum" in report.findings[0].message
    assert repair(storage, report).findings == ()
    assert not sealed(storage)
    assert_sound(storage, filled)


def test_a_segment_that_contradicts_itself_is_never_answered_from(storage: Storage, filled: list[str]) -> None:
    (segment,) = storage.dumps._segments._files  # type: ignore[union-attr]
    section = segment.sections.directory["origins"]
    with segment.path.open("r+b") as file:
        file.seek(section.offset)
        file.write(b"\xff" * section.size_bytes)
    with pytest.raises(StoreCorrupt, match="segment"):
        storage.dumps.search(np.ones(8, np.float32), 3)
    assert_sound(storage, filled)


def test_segments_of_another_profile_go(settings: Settings, storage: Storage, filled: list[str]) -> None:
    storage.close()
    (own,) = files(storage)
    other = own.parent.with_name("another profile")
    own.parent.rename(other)
    again = Storage(settings)
    try:
        assert not other.exists()
        assert_sound(again, filled)
    finally:
        again.close()


def test_no_room_on_the_disk_leaves_all_as_it_is(storage: Storage) -> None:
    storage.min_free_bytes = 2**60
    ids = fill(storage)
    storage.compact()
    assert not files(storage)
    assert_sound(storage, ids)


def test_a_disk_that_refuses_is_said_and_tried_again(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", _full)
        ids = fill(storage)
        with pytest.raises(StoreUnavailable, match="compacted"):
            storage.compact()
    assert_sound(storage, ids)
    storage.compact()
    assert_sound(storage, ids)
    assert sealed(storage) == 12


def _refuse(*_: object, **__: object) -> Dump:
    raise AssertionError("a dump was opened")


def _full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
