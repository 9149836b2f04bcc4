"""The n-th operation on files fails, or writes less than it was given: that is said, and nothing is lost by it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from accelerator.atomic import WORK_SUFFIX
from rag_core import Library, Settings
from rag_core.embedding import Embedder
from rag_core.errors import LecternError
from rag_core.settings import EmbeddingSettings
from rag_core.storage import Archive
from tests.faults.conftest import ALL
from tests.faults.disk import MODES, FailingDisk, Mode
from tests.faults.journal import Expected, State
from tests.faults.judge import judge, search_fault
from tests.faults.shelf import Item, Shelf
from tests.faults.summary import Tally, seed

_HELD = 3
_EVERY = 1 if ALL else 9


@dataclass(slots=True)
class Bench:
    """A library that is opened again and again, what must be in it, and its embedding model, which is loaded once."""

    settings: Settings
    shelf: Shelf
    expected: Expected = field(default_factory=Expected)
    embedder: Embedder | None = None

    def open(self) -> Library:
        library = Library.open(self.settings)
        library._embedder = self.embedder
        return library

    def close(self, library: Library) -> None:
        self.embedder, library._embedder = library._embedder, None
        library.close()

    def expect(self, items: Sequence[Item], state: State) -> None:
        self.expected.states.update((item.id, state) for item in items)


@pytest.fixture
def bench(settings: Settings, shelf: Shelf) -> Iterator[Bench]:
    bench = Bench(settings.changed("storage", min_free_bytes=0), shelf)
    library = bench.open()
    add(bench, library, shelf.items[:_HELD])
    library._storage.settle()
    bench.close(library)
    yield bench
    if bench.embedder is not None:
        bench.embedder.close()


def add(bench: Bench, library: Library, items: Sequence[Item]) -> None:
    """Add documents; each ends ready, or with an error that says why."""
    bench.expect([item for item in items if bench.expected.states.get(item.id) != "present"], "open")
    for event in library.add([item.path for item in items]):
        if event.stage == "ready" and event.document is not None:
            bench.expected.states[event.document.id] = "present"
        elif event.stage == "failed":
            assert event.error is not None
            check_told(event.error)


def remove(bench: Bench, library: Library, items: Sequence[Item]) -> None:
    for item in items:
        bench.expect([item], "open")
        library.remove(item.id)
        bench.expect([item], "absent")


def check_told(error: LecternError) -> None:
    """An error that a person can read."""
    assert len(str(error)) > 10, repr(error)
    assert "Errno" not in str(error), repr(error)


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done while the disk fails, and what is made ready before that."""

    run: Callable[[Bench, Library], None]
    prepare: Callable[[Bench, Library], None] = lambda bench, library: None


def _add_two(bench: Bench, library: Library) -> None:
    add(bench, library, bench.shelf.items[_HELD : _HELD + 2])


def _remove_two(bench: Bench, library: Library) -> None:
    remove(bench, library, bench.shelf.items[_HELD : _HELD + 2])


def _remove_one(bench: Bench, library: Library) -> None:
    remove(bench, library, [bench.shelf.items[0]])


def _add_one(bench: Bench, library: Library) -> None:
    add(bench, library, [bench.shelf.items[0]])


def _back_up(bench: Bench, library: Library) -> None:
    path = bench.settings.data_dir / "backup"
    try:
        library.backup(path, replace=True)
    finally:
        if path.exists():  # its name is given to a whole one alone
            Archive(path).close()


def _damage(bench: Bench, library: Library) -> None:
    """Put a damaged dump into the place of a sound one, which is mapped."""
    path = bench.settings.data_dir / "dumps" / f"{bench.shelf.items[1].id}.dump"
    other = path.with_suffix(".other")
    other.write_bytes(path.read_bytes()[:-7])
    other.replace(path)


def _repair(bench: Bench, library: Library) -> None:
    for finding in library.repair().findings:
        assert finding.message


def _abandon(bench: Bench, library: Library) -> None:
    library._storage.abandon_successor()


def _reembed(bench: Bench, library: Library) -> None:
    profile = library._storage.documents.profile()
    assert profile is not None
    precision = "bf16" if profile.precision == "float32" else "float32"
    for _ in library.reembed(EmbeddingSettings(precision=precision)):
        pass


OPERATIONS = {
    "adding": Operation(_add_two, _remove_two),
    "removing": Operation(_remove_one, _add_one),
    "backing up": Operation(_back_up),
    "repairing": Operation(_repair, _damage),
    "embedding anew": Operation(_reembed, _abandon),
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
    assert nth > 1 or not ALL, "no file was touched"


def strike(bench: Bench, operation: Operation, nth: int, mode: Mode) -> str:
    """Do the operation on a disk that fails; the library answers then and after. Returns what failed."""
    library = bench.open()
    try:
        operation.prepare(bench, library)
        library._storage.settle()
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
    finally:
        bench.close(library)
    return disk.failed


def answers(bench: Bench, library: Library) -> None:
    """The library is searched as ever."""
    held = {document.id for document in library.documents()}
    known = bench.expected.ids("present")
    for item in bench.shelf.items[:_HELD]:
        if item.id in known:
            assert search_fault(library, item, 0, held) == ""


def reopen(bench: Bench, tally: Tally) -> list[str]:
    """Open the library once more. Returns what is lost or disagrees."""
    library = bench.open()
    try:
        verdict = judge(library, bench.shelf, bench.expected)
    finally:
        bench.close(library)
    bench.expected = Expected(
        {item.id: "absent" for item in bench.shelf.items} | dict.fromkeys(verdict.held, "present")
    )
    return tally.judge(verdict.lost, verdict.disagreeing) + [f"left behind: {path}" for path in leftovers(bench)]


def leftovers(bench: Bench) -> list[Path]:
    return list(bench.settings.data_dir.rglob(f".*{WORK_SUFFIX}"))
