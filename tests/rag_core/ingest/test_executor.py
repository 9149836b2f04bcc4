"""Executors and leases: what is carried through a stage together, who waits, and who has a document."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from rag_core.domain import Document
from rag_core.ingest.executor import Executor
from rag_core.ingest.leases import Leases
from rag_core.ingest.work import Work


def works(*sizes: int) -> list[Work]:
    return [
        Work(str(size), Document(f"{place}", "", "text/plain", size, "pending")) for place, size in enumerate(sizes)
    ]


def executor(act: Callable[[list[Work]], None], room: float = 1000, **wanted: Any) -> Executor:
    return Executor(act, weigh=lambda work: work.document.byte_size, batch=10, room=room, broken=lambda: None, **wanted)


def test_what_waits_is_carried_together_in_order() -> None:
    begun, go_on = threading.Event(), threading.Event()
    batches: list[list[str]] = []

    def act(batch: list[Work]) -> None:
        batches.append([work.source for work in batch])
        begun.set()
        go_on.wait(10)

    with executor(act) as stage:
        stage.put(works(1))
        assert begun.wait(10)
        stage.put(works(4, 5))
        stage.put(works(1, 30, 2, 8, 3))
        stage.put([])
        go_on.set()
    assert batches == [["1"], ["4", "5", "1"], ["30"], ["2", "8"], ["3"]]


def test_who_puts_waits_for_room() -> None:
    taken, go_on = threading.Semaphore(0), threading.Semaphore(0)

    def act(batch: list[Work]) -> None:
        taken.release()
        go_on.acquire()

    with executor(act, room=10) as stage:
        stage.put(works(10))
        assert taken.acquire(timeout=10)
        stage.put(works(10))  # waits in the queue, which is full then
        third = threading.Thread(target=stage.put, args=(works(1),))
        third.start()
        third.join(0.2)
        assert third.is_alive()
        go_on.release()
        third.join(10)
        assert not third.is_alive()
        go_on.release(2)


def test_one_that_hangs_holds_up_no_other() -> None:
    hanging, others = threading.Event(), threading.Semaphore(0)

    def act(batch: list[Work]) -> None:
        if batch[0].source == "11":
            hanging.wait(10)
        else:
            others.release()

    with executor(act, workers=2) as stage:
        stage.put(works(11, 12, 13, 14))
        assert all(others.acquire(timeout=10) for _ in range(3))
        hanging.set()


def test_what_is_no_fault_of_an_item_is_raised_at_the_end() -> None:
    told: list[int] = []

    def act(batch: list[Work]) -> None:
        raise ZeroDivisionError

    with (
        pytest.raises(ZeroDivisionError),
        Executor(act, weigh=lambda _: 1, batch=1, room=1, broken=lambda: told.append(1)) as stage,
    ):
        for _ in range(3):
            stage.put(works(1))
    assert told == [1, 1, 1]


def test_a_document_is_leased_once() -> None:
    leases, first, second = Leases(), object(), object()
    assert leases.take("a", first)
    assert not leases.take("a", second)
    assert not leases.take("a", first)
    assert (leases.holds("a", first), leases.holds("a", second), leases.holds("b", first)) == (True, False, False)
    leases.release(second, "a")
    assert not leases.wait("a", 0)
    waiting = threading.Thread(target=leases.wait, args=("a", 10))
    waiting.start()
    leases.release(first, "a")
    waiting.join(5)
    assert not waiting.is_alive()
    assert leases.wait("a", 0)
    assert leases.take("a", second)


def test_all_that_one_has_is_let_go() -> None:
    leases, first, second = Leases(), object(), object()
    assert all(leases.take(key, first) for key in "ab")
    assert leases.take("c", second)
    leases.release(first)
    assert leases.take("a", second)
    assert not leases.take("c", first)
