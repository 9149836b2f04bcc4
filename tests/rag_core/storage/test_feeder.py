"""Feeders: woken to work, patient while more comes, at once where somebody waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rag_core.storage.indexes.feeder import Feeder

_LONG_S = 60.0


@contextmanager
def patient(lull_s: float, longest_s: float = _LONG_S) -> Iterator[tuple[Feeder, threading.Semaphore]]:
    """A feeder, and how often it worked."""
    worked = threading.Semaphore(0)
    feeder = Feeder("It is tried", worked.release, first_s=_LONG_S, lull_s=lull_s, longest_s=longest_s)
    try:
        yield feeder, worked
    finally:
        feeder.stop()


def test_what_comes_close_together_is_worked_on_once() -> None:
    with patient(0.5) as (feeder, worked):
        for _ in range(5):
            feeder.wake()
        assert worked.acquire(timeout=_LONG_S)
        assert not worked.acquire(timeout=0.1)


def test_nobody_who_waits_waits_for_a_lull() -> None:
    with patient(_LONG_S) as (feeder, worked):
        feeder.wake()
        assert not worked.acquire(timeout=0.1)
        feeder.wake(hurry=True)
        assert worked.acquire(timeout=_LONG_S / 2)


def test_without_any_lull_it_works_in_the_end() -> None:
    with patient(_LONG_S, longest_s=0.2) as (feeder, worked):
        feeder.wake()
        assert worked.acquire(timeout=_LONG_S / 2)


def test_who_stops_it_waits_for_no_lull() -> None:
    began = time.monotonic()
    with patient(_LONG_S) as (feeder, _):
        feeder.wake()
    assert time.monotonic() - began < _LONG_S / 4
