"""The n-th operation on files fails, or writes less than it was given: that is said, and nothing is lost by it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from rag_core import Library, Settings
from rag_core.errors import LecternError
from rag_core.settings import EmbeddingSettings
from rag_core.storage import Archive
from tests.faults.bench import HELD, Bench, add, answers, check_told, leftovers, remove, reopen
from tests.faults.conftest import ALL
from tests.faults.disk import MODES, FailingDisk, Mode
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed

pytestmark = pytest.mark.slow

_EVERY = 1 if ALL else 24


@pytest.fixture
def bench(settings: Settings, shelf: Shelf) -> Iterator[Bench]:
    bench = Bench(settings.changed("storage", min_free_bytes=0), shelf)
    try:
        add(bench, bench.open(), shelf.items[:HELD])
        bench.open().storage.settle()
        yield bench
    finally:
        bench.end()


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done while the disk fails, and what is made ready before that."""

    run: Callable[[Bench, Library], None]
    prepare: Callable[[Bench, Library], None] = lambda bench, library: None


def _add_two(bench: Bench, library: Library) -> None:
    add(bench, library, bench.shelf.items[HELD : HELD + 2])


def _remove_two(bench: Bench, library: Library) -> None:
    remove(bench, library, bench.shelf.items[HELD : HELD + 2])


def _remove_one(bench: Bench, library: Library) -> None:
    remove(bench, library, [bench.shelf.items[0]])


def _add_one(bench: Bench, library: Library) -> None:
    add(bench, library, [bench.shelf.items[0]])


def _back_up(bench: Bench, library: Library) -> None:
    path = bench.settings.data_dir / "backup"
    try:
        library.maintenance.backup(path, replace=True)
    finally:
        if path.exists():  # its name is given to a whole one alone
            Archive(path).close()


def _damage(bench: Bench, library: Library | None = None) -> None:
    """Put a damaged dump into the place of a sound one, which is mapped."""
    path = bench.settings.data_dir / "dumps" / f"{bench.shelf.items[1].id}.dump"
    other = path.with_suffix(".other")
    other.write_bytes(path.read_bytes()[:-7])
    other.replace(path)


def _repair(bench: Bench, library: Library) -> None:
    for finding in library.maintenance.repair().findings:
        assert finding.message


def _abandon(bench: Bench, library: Library) -> None:
    library.storage.cutover.discard()


def _reembed(bench: Bench, library: Library) -> None:
    profile = library.storage.documents.profile()
    assert profile is not None
    precision = "bf16" if profile.precision == "float32" else "float32"
    for _ in library.maintenance.reembed(EmbeddingSettings(precision=precision)):
        pass


OPERATIONS = {
    "adding": Operation(_add_two, _remove_two),
    "removing": Operation(_remove_one, _add_one),
    "backing up": Operation(_back_up),
    "repairing": Operation(_repair, _damage),
    "re-embedding": Operation(_reembed, _abandon),
}


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mode", MODES if ALL else ["any"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_failing_operation_on_files_is_told_and_loses_nothing(
    name: str, mode: str, bench: Bench, tally: Tally
) -> None:
    draw = random.Random(f"{seed()} {name} {mode}")
    kind: Mode = draw.choice(MODES) if mode == "any" else mode  # type: ignore[assignment]
    nth = 1 if ALL else draw.randrange(1, _EVERY + 1)
    while failed := strike(bench, OPERATIONS[name], nth, kind):
        tally.faults += 1
        where = f"{kind} at operation {nth}, {failed}"
        wrong = reopen(bench, tally)
        assert not wrong, "\n".join([where, *wrong])
        nth += _EVERY
    assert nth > 1 or not ALL or (name, kind[:5]) == ("removing", "short"), "no file was touched"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", MODES if ALL else MODES[:1])
def test_a_library_that_cannot_be_opened_says_so_and_is_opened_later(kind: Mode, bench: Bench, tally: Tally) -> None:
    nth = 1
    while failed := _strike_opening(bench, nth, kind):
        tally.faults += 1
        wrong = reopen(bench, tally)
        assert not wrong, "\n".join([f"{kind} at operation {nth}, {failed}", *wrong])
        nth += 1 if ALL else 9


def _strike_opening(bench: Bench, nth: int, mode: Mode) -> str:
    """Open a library that has a dump to repair. Returns what failed."""
    bench.close()
    _damage(bench)
    disk = FailingDisk(bench.settings.data_dir, nth, mode)
    with pytest.MonkeyPatch.context() as patch:
        disk.install(patch)
        try:
            bench.open()
            bench.close()
        except LecternError as error:
            check_told(error)
    return disk.failed


def strike(bench: Bench, operation: Operation, nth: int, mode: Mode) -> str:
    """Do the operation on a disk that fails; the library answers then and after. Returns what failed."""
    library = bench.open()
    operation.prepare(bench, library)
    library.storage.settle()
    disk = FailingDisk(bench.settings.data_dir, nth, mode)
    with pytest.MonkeyPatch.context() as patch:
        disk.install(patch)
        try:
            operation.run(bench, library)
        except LecternError as error:
            check_told(error)
        answers(bench, library)
    answers(bench, library)
    assert disk.failed.startswith("unlink") or not leftovers(bench), disk.failed
    return disk.failed
