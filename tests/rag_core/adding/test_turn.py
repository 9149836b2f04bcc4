"""Turns and claims: who may go on, and who waits."""

from __future__ import annotations

import threading
import time

from rag_core.adding.claims import Claims
from rag_core.adding.turn import Turn


def begins(work: threading.Thread) -> bool:
    """Whether a thread ends within a moment."""
    work.join(0.2)
    return not work.is_alive()


def test_windows_go_side_by_side_and_one_alone_waits_for_them() -> None:
    turn = Turn()
    turn.enter()
    turn.enter()
    alone = threading.Thread(target=turn.__enter__)
    alone.start()
    turn.leave()
    assert not begins(alone)
    late = threading.Thread(target=turn.enter)  # comes after the one who wants it alone
    late.start()
    assert not begins(late)
    turn.leave()
    assert begins(alone)
    assert not begins(late)
    turn.__exit__()
    assert begins(late)


def test_two_who_want_it_alone_take_turns() -> None:
    turn = Turn()
    inside: list[int] = []

    def alone() -> None:
        with turn:
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.01)
            inside.clear()

    threads = [threading.Thread(target=alone) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turn.enter()
    turn.leave()


def test_a_document_is_claimed_once() -> None:
    claims, first, second = Claims(), object(), object()
    assert claims.take("a", first)
    assert not claims.take("a", second)
    assert not claims.take("a", first)
    assert (claims.holds("a", first), claims.holds("a", second), claims.holds("b", first)) == (True, False, False)
    on_its_way = claims.on_its_way("a")
    assert on_its_way is not None
    claims.release("a", second)
    assert not on_its_way.is_set()
    claims.release("a", first)
    assert on_its_way.is_set()
    assert claims.on_its_way("a") is None
    assert claims.take("a", second)


def test_all_that_one_claimed_is_let_go() -> None:
    claims, first, second = Claims(), object(), object()
    assert claims.take("a", first)
    assert claims.take("b", first)
    assert claims.take("c", second)
    claims.release_all(first)
    assert claims.take("a", second)
    assert not claims.take("c", first)
