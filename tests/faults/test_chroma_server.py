"""A Chroma server that is killed amid a batch: nothing is lost, the dumps answer, and it gets the rest later."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings
from rag_core.embedding import Embedder
from rag_core.storage.indexes import chroma
from tests.faults.chroma_server import ChromaServer
from tests.faults.conftest import ALL
from tests.faults.journal import Expected
from tests.faults.judge import judge, search_fault
from tests.faults.lending import opened
from tests.faults.shelf import Shelf
from tests.faults.summary import Tally, seed

pytestmark = pytest.mark.slow

_OLD, _NEW, _REMOVED = 12, 28, 3
_MOMENTS = ["amid 0", "chroma.added"]
if ALL:
    _MOMENTS += ["chroma.adding", "chroma.removed", *(f"amid {number}" for number in range(1, 8))]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path / "served")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def served(settings: Settings, server: ChromaServer, model: Embedder, shelf: Shelf) -> Iterator[Library]:
    """A library whose index is on the server, with the shelf's first documents."""
    with opened(settings.model_copy(update={"chroma_url": server.url}), model) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items[:_OLD]]))
        library.storage.settle()
        assert "behind" not in library.maintenance.status().indexes["chroma"]
        yield library


@pytest.mark.parametrize("moment", _MOMENTS)
def test_a_server_killed_amid_a_batch_gets_the_rest_later(
    moment: str, served: Library, server: ChromaServer, shelf: Shelf, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    struck = _strike_at(moment, server, monkeypatch)
    for item in shelf.items[:_REMOVED]:
        served.remove(item.id)
    for event in served.add([item.path for item in shelf.items[_OLD : _OLD + _NEW]]):
        assert event.error is None
    served.storage.settle()
    assert struck.wait(10)
    monkeypatch.undo()
    tally.faults += 1
    _assert_served_by_dumps(served, shelf)
    assert (
        moment not in ("chroma.adding", "chroma.removed") or "behind" in served.maintenance.status().indexes["chroma"]
    )
    server.start()
    served.storage.settle()
    assert "behind" not in served.maintenance.status().indexes["chroma"]
    _judge(served, shelf, tally)


def test_a_server_that_lost_everything_is_told_of_and_filled_again(
    served: Library, server: ChromaServer, shelf: Shelf, tally: Tally
) -> None:
    for item in shelf.items[:_REMOVED]:
        served.remove(item.id)
    assert all(event.error is None for event in served.add([item.path for item in shelf.items[_OLD:]]))
    served.storage.settle()
    server.kill()
    shutil.rmtree(server.folder)
    server.start()
    tally.faults += 1
    assert any(finding.store == "Chroma" for finding in served.maintenance.verify().findings)
    assert served.maintenance.repair().findings == ()
    _judge(served, shelf, tally)


@pytest.mark.skipif(not ALL, reason="waits for limits of time: set ALL_FAULTS=1")
def test_a_server_that_hangs_keeps_nobody_waiting(
    settings: Settings, server: ChromaServer, model: Embedder, shelf: Shelf, tally: Tally,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(chroma, "_CALL_S", 5.0)
    with opened(settings.model_copy(update={"chroma_url": server.url}), model) as library:
        assert all(event.error is None for event in library.add([item.path for item in shelf.items[:_OLD]]))
        library.storage.settle()
        server.freeze()
        began = time.monotonic()
        for item in shelf.items[:_REMOVED]:
            library.remove(item.id)
        assert all(event.error is None for event in library.add([item.path for item in shelf.items[_OLD:]]))
        assert time.monotonic() - began < 10
        assert library.search(shelf.items[_OLD].texts[0], k=1)[0].text == shelf.items[_OLD].texts[0]
        library.storage.settle()
        _assert_served_by_dumps(library, shelf)
        server.thaw()
        tally.faults += 1
        library.storage.settle()
        _judge(library, shelf, tally)


def _strike_at(moment: str, server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Have the server killed once, at a named point or a moment after a batch was sent to it."""
    struck = threading.Event()
    delay_s = random.Random(f"{seed()} {moment}").uniform(0, 0.08)

    def kill() -> None:
        server.kill()
        struck.set()

    def reach(point: str) -> None:
        if struck.is_set() or timer.is_alive():
            return
        if moment.startswith("amid") and point == "chroma.adding":
            timer.start()
        elif point == moment:
            kill()

    timer = threading.Timer(delay_s, kill)
    monkeypatch.setattr(chroma, "reach", reach)
    return struck


def _assert_served_by_dumps(library: Library, shelf: Shelf) -> None:
    """Every document is there and found, and it is said that Chroma is behind."""
    present = _present(shelf)
    assert {document.id for document in library.documents() if document.state == "ready"} == present
    waiting = library.storage.sync.waiting("chroma").documents
    assert (f"{waiting} document" in library.maintenance.status().indexes["chroma"]) == bool(waiting)
    for engine in ("auto", "chroma"):
        for item in shelf.items[_REMOVED : _REMOVED + 3] + shelf.items[_OLD : _OLD + 3]:
            assert not search_fault(library, item, 0, present, engine)
    findings = library.maintenance.verify().findings
    assert {finding.store for finding in findings} == {"Chroma"}, findings


def _judge(library: Library, shelf: Shelf, tally: Tally) -> None:
    present = _present(shelf)
    expected = Expected({item.id: "present" if item.id in present else "absent" for item in shelf.items})
    verdict = judge(library, shelf, expected, seed())
    wrong = tally.judge(verdict.lost, verdict.disagreeing)
    assert not wrong, "\n".join(wrong)


def _present(shelf: Shelf) -> set[str]:
    return {item.id for item in shelf.items[_REMOVED:]}
