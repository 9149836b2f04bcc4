"""What runs in a process that is to be killed: it opens a library, judges it, and then adds, removes and searches."""

from __future__ import annotations

import faulthandler
import os
import random
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import chromadb  # noqa: F401  here and not in every child
import pytest

from accelerator.faults import VARIABLE
from rag_core import Library, Settings
from tests import forking
from tests.faults.journal import Expected, Journal, State, read_journal
from tests.faults.judge import Verdict, judge
from tests.faults.shelf import Item, Shelf

_WRITERS = 2
_KEPT = 24
_STUCK_S = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What a process works on, and with what draw of chance."""

    data_dir: Path
    shelf: Path
    journal: Path
    seed: int
    database_url: str | None = None
    fault: str | None = None
    scenario: str = ""
    work_s: float = 0.0

    def settings(self) -> Settings:
        settings = Settings(_env_file=None, data_dir=self.data_dir, database_url=self.database_url)
        # With every index that a library can have.
        return settings.changed("storage", min_free_bytes=0).changed("retrieval", index="hnsw")


@dataclass(frozen=True, slots=True)
class Said:
    """What a process says: its verdict on the library as it found it, or what went wrong."""

    verdict: Verdict | None = None
    error: str = ""


def child(target: Callable[[Plan, Connection], None], plan: Plan, pipe: Connection) -> None:
    """The main function of every child process."""
    faulthandler.dump_traceback_later(_STUCK_S)
    os.environ.pop("DATABASE_URL", None)
    if forking.wanted():
        forking.install(pytest.MonkeyPatch())
    if plan.fault is not None:
        os.environ[VARIABLE] = plan.fault
    try:
        target(plan, pipe)
    except BaseException:
        pipe.send(Said(error=traceback.format_exc()))
        raise


def live(plan: Plan, pipe: Connection) -> None:
    """Open, judge, work for a while (mostly until killed), close."""
    shelf = Shelf.load(plan.shelf)
    expected = read_journal(plan.journal)
    journal = Journal(plan.journal)
    with Library.open(plan.settings()) as library:
        verdict = judge(library, shelf, expected, plan.seed)
        pipe.send(Said(verdict))
        journal.write(judged=verdict.held)
        if plan.work_s:
            Work(library, shelf, journal, verdict.held, plan.seed).run(plan.work_s)


class Work:
    """Writers that add and remove documents, each its own, and one who searches amid all that."""

    def __init__(self, library: Library, shelf: Shelf, journal: Journal, held: Sequence[str], seed: int) -> None:
        self._library = library
        self._shelf = shelf
        self._journal = journal
        self._seed = seed
        self._expected = Expected({item.id: "present" if item.id in held else "absent" for item in shelf.items})
        self._changes = dict.fromkeys(self._expected.states, 0)
        self._lock = threading.Lock()
        self._ends = 0.0

    def run(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        tasks: list[Callable[[], None]] = [self._search, *(self._writer(number) for number in range(_WRITERS))]
        threads = [threading.Thread(target=self._guarded, args=(task,), daemon=True) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _guarded(self, task: Callable[[], None]) -> None:
        try:
            task()
        except Exception:  # noqa: BLE001  whatever it is, the journal tells of it
            self._journal.write(wrong=traceback.format_exc())

    def _writer(self, number: int) -> Callable[[], None]:
        draw = random.Random(self._seed * 10 + number)
        own = [item for place, item in enumerate(self._shelf.items) if place % _WRITERS == number]

        def write() -> None:
            while time.monotonic() < self._ends:
                held = [item for item in own if self._expected.states[item.id] == "present"]
                if held and draw.random() < (0.25 if len(held) < _KEPT // _WRITERS else 0.75):
                    self._remove(draw.choice(held))
                else:
                    self._add(draw.sample(own, draw.choice([1, 1, 2, 5])))

        return write

    def _add(self, items: list[Item]) -> None:
        ids = [item.id for item in items]
        if not all(self._expected.states[key] == "present" for key in ids):
            self._journal.will("add", [key for key in ids if self._expected.states[key] != "present"])
            self._note([key for key in ids if self._expected.states[key] != "present"], "open")
        for event in self._library.add([item.path for item in items]):
            if event.stage == "ready" and event.document is not None:
                self._journal.did("add", event.document.id)
                self._note([event.document.id], "present")
                if event.document.state != "ready":
                    self._journal.write(wrong=f"{event.source} was told as ready and is {event.document.state}")
            elif event.stage in ("failed", "cancelled"):
                self._journal.write(wrong=f"{event.source} was not added: {event.error or event.note}")

    def _remove(self, item: Item) -> None:
        self._journal.will("remove", [item.id])
        self._note([item.id], "open")
        self._library.remove(item.id)
        self._journal.did("remove", item.id)
        self._note([item.id], "absent")

    def _note(self, ids: Sequence[str], state: State) -> None:
        with self._lock:
            for key in ids:
                self._expected.states[key] = state
                self._changes[key] += 1

    def _search(self) -> None:
        draw = random.Random(self._seed)
        while time.monotonic() < self._ends:
            item = draw.choice(self._shelf.items)
            with self._lock:
                before, states = dict(self._changes), dict(self._expected.states)
            text = draw.choice(item.texts)
            hits = self._library.search(text, k=5)
            with self._lock:  # what changed meanwhile may be found or not
                still = {key: states[key] for key, change in before.items() if change == self._changes[key]}
            ghosts = [hit.document.id for hit in hits if still.get(hit.document.id) == "absent"]
            if ghosts:
                self._journal.write(wrong=f"amid the work a search returned {ghosts}, removed before")
            elif still.get(item.id) == "present" and (not hits or hits[0].text != text):
                self._journal.write(wrong=f"amid the work a search did not find {item.path} ({item.id}) first")
