"""Backups made amid writing, and archives that are cut, changed or damaged while they are restored."""

from __future__ import annotations

import os
import random
import struct
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.embedding import Embedder
from rag_core.errors import ConfigurationError, StoreCorrupt
from rag_core.storage.maintenance.archive import Archive
from rag_core.storage.maintenance.restore import Restore
from tests.faults.conftest import ALL
from tests.faults.journal import Expected, Journal, read_journal
from tests.faults.judge import judge
from tests.faults.lending import opened
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed
from tests.faults.worker import Work

pytestmark = pytest.mark.slow

_BACKUPS = 12 if ALL else 2
_CUTS, _FLIPS = (1500, 1500) if ALL else (120, 120)
_STRUCK = 6 if ALL else 1
_SECTOR = 512
_HELD = 12


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sound archive and the documents that are in it."""

    path: Path
    data: bytes
    held: tuple[str, ...]


@pytest.fixture(scope="module")
def sealed(
    shelf: Shelf, model: Embedder, new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> Sealed:
    folder = tmp_path_factory.mktemp("sealed")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with opened(settings, model) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items[:_HELD]]))
        library.maintenance.backup(folder / "a.lectern")
        held = tuple(document.id for document in library.documents())
    return Sealed(folder / "a.lectern", (folder / "a.lectern").read_bytes(), held)


@pytest.fixture
def target(tmp_path: Path, new_database: Callable[[], str]) -> Settings:
    """A library that was opened once, and is empty."""
    settings = Settings(_env_file=None, data_dir=tmp_path / "target", database_url=new_database())
    Library.open(settings).close()
    return settings


def test_backups_amid_writing_are_moments(
    settings: Settings, shelf: Shelf, model: Embedder, new_database: Callable[[], str], tmp_path: Path, tally: Tally
) -> None:
    """What was acknowledged before is in it, what was removed before is not, and the rest is whole or absent."""
    made: list[tuple[Path, Expected]] = []
    file = tmp_path / "journal"
    with opened(settings, model) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items[:_HELD]]))
        held = [document.id for document in library.documents()]
        Journal(file).write(judged=held)
        work = Work(library, shelf, Journal(file), held, seed())
        with _Running(work):
            for number in range(_BACKUPS):
                time.sleep(0.3)
                made.append(_back_up(library, file, tmp_path / f"{number}.lectern"))
    assert not read_journal(file).wrong
    for path, expected in made:
        _judge_restored(path, shelf, expected, model, new_database(), tally)


def test_no_cut_or_changed_archive_is_restored(
    sealed: Sealed, target: Settings, shelf: Shelf, model: Embedder, tmp_path: Path, tally: Tally
) -> None:
    path = tmp_path / "damaged.lectern"
    before = _listing(target)
    for data in _damaged(sealed.data):
        path.write_bytes(data)
        with pytest.raises((StoreCorrupt, ConfigurationError)) as refused:
            Library.restore(path, target)
        begins_well = data[:4] == sealed.data[:4]
        assert refused.type is (StoreCorrupt if begins_well else ConfigurationError)
        assert refused.value.help
        tally.faults += 1
    assert _listing(target) == before
    with Library.open(target) as library:
        assert library.documents() == []
    Library.restore(sealed.path, target)
    _judge_whole(sealed, target, shelf, model, tally)


def test_an_archive_damaged_while_it_is_restored_is_refused(
    sealed: Sealed, shelf: Shelf, model: Embedder, new_database: Callable[[], str], tmp_path: Path, tally: Tally,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It was sound when it was checked: the disk fails after that. Where the bit that changed says nothing, as the last
    ones of a compressed member may, all of it is restored."""
    path = tmp_path / "damaged.lectern"
    check_room = Restore._check_room
    refused = 0
    for place in _places_of_members(sealed):
        target = Settings(_env_file=None, data_dir=tmp_path / f"target-{place}", database_url=new_database())
        path.write_bytes(sealed.data)

        def strike(self: Restore, archive: Archive, min_free_bytes: int, place: int = place) -> None:
            check_room(self, archive, min_free_bytes)
            if place % 2:
                os.truncate(path, place)
            else:
                _flip(path, place)

        tally.faults += 1
        with monkeypatch.context() as patch:
            patch.setattr(Restore, "_check_room", strike)
            try:
                Library.restore(path, target)
            except StoreCorrupt:
                refused += 1
                assert not list((target.data_dir / "files").iterdir())
                with Library.open(target) as library:
                    assert library.documents() == []
                patch.undo()
                Library.restore(sealed.path, target)
        _judge_whole(sealed, target, shelf, model, tally)
    assert refused


def _back_up(library: Library, journal: Path, path: Path) -> tuple[Path, Expected]:
    """Back up, and find out what must be in it: what changed while it was made may be or not."""
    lines = journal.read_bytes()
    before = read_journal(journal)
    library.maintenance.backup(path)
    later = path.with_suffix(".later")
    later.write_bytes(journal.read_bytes()[len(lines) :])
    before.states.update(dict.fromkeys(read_journal(later).states, "open"))
    return path, before


class _Running:
    """Work in a thread of its own; ended, it has done something."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._thread = threading.Thread(target=work.run, args=(120.0,))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._work._ends = 0.0
        self._thread.join()


def _damaged(data: bytes) -> Iterator[bytes]:
    """Archives that end too early, or where bits, sectors or the end were lost."""
    draw = random.Random(seed())
    cuts = {0, 1, 4, len(data) - 1, len(data) - 64, len(data) - 65, *draw.sample(range(len(data)), _CUTS)}
    for size in sorted(cuts):
        yield data[:size]
        if size % 4 == 0 and any(data[size:]):  # as file systems leave what was never written
            yield data[:size] + bytes(len(data) - size)
    for place in draw.sample(range(len(data)), _FLIPS):
        changed = bytearray(data)
        changed[place] ^= 1 << draw.randrange(8)
        yield bytes(changed)
    for first in draw.sample(range(0, len(data) - _SECTOR, _SECTOR), 10):
        yield data[:first] + draw.randbytes(_SECTOR) + data[first + _SECTOR :]
    yield data + b"\0"
    yield data + data


def _places_of_members(sealed: Sealed) -> list[int]:
    """A place amid the data of some members, tables and originals."""
    draw = random.Random(seed())
    with zipfile.ZipFile(sealed.path) as archive:
        members = [info for info in archive.infolist() if info.compress_size > 8 and info.filename != "manifest.json"]
    tables = [info for info in members if info.filename.startswith("tables/")]
    files = [info for info in members if info.filename.startswith("files/")]
    chosen = [info for group in (tables, files) for info in draw.sample(group, min(_STRUCK, len(group)))]
    return [_begin(sealed.data, info) + draw.randrange(4, info.compress_size) for info in chosen]


def _begin(data: bytes, info: zipfile.ZipInfo) -> int:
    """Where the data of a member begins, after its local header, name and extra field."""
    name, extra = struct.unpack_from("<HH", data, info.header_offset + 26)
    return int(info.header_offset + 30 + name + extra)


def _flip(path: Path, place: int) -> None:
    with path.open("r+b", buffering=0) as file:
        byte = os.pread(file.fileno(), 1, place)[0]
        os.pwrite(file.fileno(), bytes([byte ^ 0x10]), place)


def _listing(settings: Settings) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in settings.data_dir.rglob("*")}


def _judge_whole(sealed: Sealed, target: Settings, shelf: Shelf, model: Embedder, tally: Tally) -> None:
    states = {item.id: "present" if item.id in sealed.held else "absent" for item in shelf.items}
    _judge(target, shelf, Expected(states), model, tally)


def _judge_restored(
    path: Path, shelf: Shelf, expected: Expected, model: Embedder, database_url: str, tally: Tally
) -> None:
    settings = Settings(_env_file=None, data_dir=path.with_suffix(".library"), database_url=database_url)
    Library.restore(path, settings)
    tally.faults += 1
    _judge(settings, shelf, expected, model, tally)


def _judge(settings: Settings, shelf: Shelf, expected: Expected, model: Embedder, tally: Tally) -> None:
    with opened(settings, model) as library:
        verdict = judge(library, shelf, expected, seed())
    wrong = tally.judge(verdict.lost, verdict.disagreeing)
    assert not wrong, "\n".join(wrong)
