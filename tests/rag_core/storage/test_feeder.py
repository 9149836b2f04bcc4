"""Feeders: woken to work, patient while more comes, at once where somebody waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rag_core import Library
from rag_core.storage.indexes.background_loop import BackgroundLoop
from tests.until import until

_LONG_S = 60.0


@contextmanager
def patient(lull_s: float, longest_s: float = _LONG_S) -> Iterator[tuple[BackgroundLoop, threading.Semaphore]]:
    """A feeder, and how often it worked."""
    worked = threading.Semaphore(0)
    feeder = BackgroundLoop("It is tried", worked.release, first_s=_LONG_S, lull_s=lull_s, longest_s=longest_s)
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


def test_what_nobody_foresaw_ends_no_feeder_and_is_told_until_it_goes_well() -> None:
    tried, well = threading.Semaphore(0), threading.Event()

    def work() -> None:
        tried.release()
        if not well.is_set():
            raise ZeroDivisionError("nobody foresaw this")

    feeder = BackgroundLoop("It is tried", work, first_s=_LONG_S)
    try:
        for _ in range(2):  # it goes on after the first time
            feeder.wake()
            assert tried.acquire(timeout=_LONG_S)
            until(lambda: "ZeroDivisionError" in feeder.fault)
        assert feeder.fault.startswith("It is tried later: Something inside Lectern failed")
        well.set()
        feeder.wake()
        until(lambda: feeder.fault == "")
    finally:
        feeder.stop()


def test_a_fault_in_the_background_is_among_the_librarys_notes(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("no such device")

    other = library.storage.background("It is tried", fail)
    monkeypatch.setattr(library.storage.removals, "sweep", fail)
    try:
        other.wake()
        library.storage.wake(hurry=True)
        until(lambda: len([note for note in library.maintenance.notes() if "later: " in note]) == 2)
        assert {note.partition(" later")[0] for note in library.maintenance.status().notes if "later: " in note} == {
            "It is tried", "The library is kept up"
        }  # fmt: skip
        monkeypatch.undo()
        library.storage.wake(hurry=True)
        until(lambda: not any("kept up later" in note for note in library.maintenance.notes()))
    finally:
        other.stop()
