"""Many threads that add, search and remove, and many processes that want one library."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import AddEvent
from rag_core.embedding import Embedder
from rag_core.errors import LibraryInUse
from tests.faults.children import Child
from tests.faults.claiming import claim
from tests.faults.conftest import ALL
from tests.faults.journal import Expected
from tests.faults.judge import judge
from tests.faults.lending import opened
from tests.faults.shelf import Item, Shelf, make_shelf
from tests.faults.summary import Tally, seed
from tests.faults.worker import Plan

pytestmark = pytest.mark.slow

_THREADS = 8
_DIFFERENT, _EQUAL = 50, 20
_OLD = 10
_RACERS = 6
_STORMS = range(4 if ALL else 1)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Documents to be added at once, and after them those that are there before."""
    return make_shelf(tmp_path_factory.mktemp("many") / "documents", _DIFFERENT + _OLD, 7)


@pytest.fixture
def lively(settings: Settings, model: Embedder) -> Iterator[Library]:
    with opened(settings, model) as library:
        yield library


def test_uploads_from_many_threads_are_all_acknowledged(lively: Library, many: Shelf, tally: Tally) -> None:
    _, equal, last = _upload_all(lively, many)
    assert set(lively.document(equal).sources) == {f"copy-{number}.txt" for number in range(_EQUAL)}
    assert len(lively.documents()) == _DIFFERENT + 1
    _judge(lively, many, {*(item.id for item in many.items[:_DIFFERENT]), equal}, tally, len(last))


def test_uploads_amid_searches_and_removals(lively: Library, many: Shelf, tally: Tally) -> None:
    old = many.items[_DIFFERENT:]
    assert all(event.error is None for event in lively.add([item.path for item in old]))
    ended = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        searching = pool.submit(_search, lively, old[0], ended)
        removing = pool.submit(_remove, lively, [item.id for item in old[1:]])
        _, equal, last = _upload_all(lively, many)
        ended.set()
        assert searching.result() > 0
        removing.result()
    present = {*(item.id for item in many.items[:_DIFFERENT]), equal, old[0].id}
    assert {document.id for document in lively.documents()} == present
    _judge(lively, many, present, tally, len(last) + len(old) - 1)


@pytest.mark.parametrize("number", _STORMS)
def test_the_same_documents_added_and_removed_by_everybody(
    number: int, lively: Library, many: Shelf, tally: Tally
) -> None:
    """Who comes last is left to chance: each document is wholly there or wholly not, in every store."""
    items = many.items[:3]
    steps = 12 if ALL else 5

    def act(worker: int) -> None:
        draw = random.Random(seed() * 1000 + number * 100 + worker)
        for _ in range(steps):
            if draw.random() < 0.4:
                lively.remove(draw.choice(items).id)
            else:
                for event in lively.add([item.path for item in draw.sample(items, 2)]):
                    assert event.error is None

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(act, range(_THREADS)))
    expected = Expected({item.id: "open" for item in items})
    tally.faults += _THREADS * steps
    _assert_sound(lively, many, expected, tally)


def test_a_second_process_is_told_the_owner_and_since_when(
    lively: Library, settings: Settings, many: Shelf, tally: Tally, tmp_path: Path
) -> None:
    began = datetime.now().astimezone().replace(microsecond=0)
    said = _told(_plan(settings, many, tmp_path))
    note = json.loads((settings.data_dir / "owner.json").read_text())
    assert said == f"The library in {settings.data_dir} is open in process {os.getpid()}, started {note['started']}."
    assert abs((datetime.fromisoformat(note["started"]).astimezone() - began).total_seconds()) < 60
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    with pytest.raises(LibraryInUse, match="database"):
        Library.open(elsewhere)
    tally.faults += 2
    assert all(event.error is None for event in lively.add([many.items[0].path]))
    _judge(lively, many, {many.items[0].id}, tally, 0)


def test_of_many_processes_one_has_the_library(settings: Settings, many: Shelf, tally: Tally, tmp_path: Path) -> None:
    plan = replace(_plan(settings, many, tmp_path), work_s=60.0)
    for _ in range(5 if ALL else 2):
        racers = [Child(claim, plan) for _ in range(_RACERS)]
        try:
            said = [racer.hear() for racer in racers]
            assert all(said)
            owners = [word.verdict.held[0] for word in said if word and word.verdict]
            assert len(owners) == 1
            refused = [word.error for word in said if word and word.error]
            assert len(refused) == _RACERS - 1
            assert all(f"is open in process {owners[0]}, started" in error for error in [*refused, _told(plan)])
        finally:
            for racer in racers:
                racer.kill()
        tally.faults += _RACERS + 1
    with Library.open(settings) as library:  # a killed owner has let go
        assert library.documents() == []


def _upload_all(library: Library, many: Shelf) -> tuple[list[str], str, dict[str, AddEvent]]:
    """Different and equal uploads from all threads, in calls of one or several.

    Returns the sources, the id of the equal ones and the last event of each source. All were acknowledged.
    """
    draw = random.Random(seed())
    copy = "Everybody brings this very text, under a name of their own."
    uploads = [Upload(Path(item.path).name, Path(item.path).read_bytes()) for item in many.items[:_DIFFERENT]]
    uploads += [Upload(f"copy-{number}.txt", copy.encode()) for number in range(_EQUAL)]
    draw.shuffle(uploads)
    hands = [uploads[number::_THREADS] for number in range(_THREADS)]
    last: dict[str, AddEvent] = {}

    def add(number: int) -> None:
        step = 1 if number % 2 else len(hands[number])
        for first in range(0, len(hands[number]), step):
            for event in library.add(hands[number][first : first + step]):
                last[event.source] = event

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(add, range(_THREADS)))
    assert {event.stage for event in last.values()} == {"ready"}
    assert len(last) == _DIFFERENT + _EQUAL
    by_name = {Path(item.path).name: item.id for item in many.items}
    ids = {source: event.document.id for source, event in last.items() if event.document is not None}
    assert all(ids[name] == key for name, key in by_name.items() if name in ids)
    (equal,) = {key for source, key in ids.items() if source.startswith("copy-")}
    return list(last), equal, last


def _search(library: Library, item: Item, ended: threading.Event) -> int:
    """Ask for a document that stays, until told; it comes first every time. Returns how often that was."""
    answers = 0
    while not ended.is_set():
        ready = {document.id for document in library.documents()} | {item.id}
        hits = library.search(item.texts[0], k=5)
        assert hits[0].text == item.texts[0]
        assert all(hit.document.id in ready or hit.document.state == "ready" for hit in hits)
        answers += 1
    return answers


def _remove(library: Library, ids: Sequence[str]) -> None:
    for key in ids:
        library.remove(key)
        assert key not in {document.id for document in library.documents()}


def _judge(library: Library, many: Shelf, present: set[str], tally: Tally, faults: int) -> None:
    known = {item.id for item in many.items}
    extra = tuple(Item(key, key, tuple(chunk.text for chunk in library.chunks(key))) for key in sorted(present - known))
    expected = Expected({item.id: "present" if item.id in present else "absent" for item in (*many.items, *extra)})
    tally.faults += faults
    _assert_sound(library, Shelf((*many.items, *extra), many.file), expected, tally)


def _assert_sound(library: Library, shelf: Shelf, expected: Expected, tally: Tally) -> None:
    verdict = judge(library, shelf, expected, seed())
    wrong = tally.judge(verdict.lost, verdict.disagreeing)
    assert not wrong, "\n".join(wrong)


def _plan(settings: Settings, shelf: Shelf, folder: Path) -> Plan:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    return Plan(settings.data_dir, shelf.file, folder / "journal", seed(), url)


def _told(plan: Plan) -> str:
    """What a process that comes too late is told."""
    late = Child(claim, plan)
    said = late.hear()
    late.kill()
    assert said is not None
    return said.error
