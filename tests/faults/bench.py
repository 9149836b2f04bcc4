"""A library that is opened again and again amid faults, in the test's own process, and what must be in it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from accelerator.atomic import WORK_SUFFIX
from rag_core import Library, Settings
from rag_core.embedding import Embedder
from rag_core.errors import LecternError
from tests.faults.journal import Expected, State
from tests.faults.judge import judge, search_fault
from tests.faults.shelf import Item, Shelf
from tests.faults.summary import Tally

HELD = 2
_CATCH_UP_S = 60.0


@dataclass(slots=True)
class Bench:
    """A library that is opened again and again, what must be in it, and its embedding model, which is loaded once."""

    settings: Settings
    shelf: Shelf
    expected: Expected = field(default_factory=Expected)
    embedder: Embedder | None = None

    _library: Library | None = None

    def open(self) -> Library:
        """The library, opened where it is closed."""
        if self._library is None:
            self._library = Library.open(self.settings)
            self._library.embedding.embedder = self.embedder
        return self._library

    def close(self) -> None:
        if self._library is not None:
            library, self._library = self._library, None
            self.embedder, library.embedding.embedder = library.embedding.embedder, None
            library.close()

    def end(self) -> None:
        """Close everything."""
        self.close()
        if self.embedder is not None:
            self.embedder.close()

    def expect(self, items: Sequence[Item], state: State) -> None:
        self.expected.states.update((item.id, state) for item in items)


def add(bench: Bench, library: Library, items: Sequence[Item]) -> int:
    """Add documents; each ends ready, or with an error that says why. Returns how many failed."""
    failed = 0
    bench.expect([item for item in items if bench.expected.states.get(item.id) != "present"], "open")
    for event in library.add([item.path for item in items]):
        if event.stage == "ready" and event.document is not None:
            assert event.document.state == "ready", f"{event.source} is told as ready and is {event.document.state}"
            bench.expected.states[event.document.id] = "present"
        elif event.stage == "failed":
            assert event.error is not None
            check_told(event.error)
            failed += 1
    return failed


def remove(bench: Bench, library: Library, items: Sequence[Item]) -> None:
    for item in items:
        bench.expect([item], "open")
        library.remove(item.id)
        bench.expect([item], "absent")


def check_told(error: LecternError) -> None:
    """An error that a person can read."""
    assert len(str(error)) > 10, repr(error)
    assert "Errno" not in str(error), repr(error)


def answers(bench: Bench, library: Library) -> None:
    """The library is searched as ever."""
    held = {document.id for document in library.documents()}
    known = bench.expected.ids("present")
    for item in bench.shelf.items[:HELD]:
        if item.id in known:
            assert search_fault(library, item, 0, held) == ""


def reopen(bench: Bench, tally: Tally) -> list[str]:
    """Close the library and open it once more. Returns what is lost or disagrees."""
    bench.close()
    verdict = judge(bench.open(), bench.shelf, bench.expected)
    bench.expected = Expected(
        {item.id: "absent" for item in bench.shelf.items} | dict.fromkeys(verdict.held, "present")
    )
    return tally.judge(verdict.lost, verdict.disagreeing) + [f"left behind: {path}" for path in leftovers(bench)]


def leftovers(bench: Bench) -> list[Path]:
    return list(bench.settings.data_dir.rglob(f".*{WORK_SUFFIX}"))


def catch_up(library: Library) -> None:
    """Chroma takes what it could not take on a full disk, without being asked."""
    deadline = time.monotonic() + _CATCH_UP_S
    while library.storage.dense["chroma"].lacking():
        assert time.monotonic() < deadline, library.maintenance.status().indexes["chroma"]
        time.sleep(0.05)
