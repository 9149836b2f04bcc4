"""A thread's work read as a generator."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from rag_core.answering.streaming import Worker
from tests.conftest import PROJECT

Emit = Callable[[int], None]
Stopping = Callable[[], bool]


def never() -> bool:
    return False


def test_events_in_order() -> None:
    def work(emit: Emit, stopping: Stopping) -> None:
        for number in range(100):
            emit(number)

    with Worker(work) as worker:
        assert list(worker.events(never)) == list(range(100))


def test_a_failure_comes_after_the_events() -> None:
    def work(emit: Emit, stopping: Stopping) -> None:
        emit(1)
        raise KeyError("gone")

    read = []
    with Worker(work) as worker, pytest.raises(KeyError, match="gone"):
        for event in worker.events(never):
            read.append(event)
    assert read == [1]


def test_leaving_stops_the_work() -> None:
    ended = threading.Event()

    def work(emit: Emit, stopping: Stopping) -> None:
        while not stopping():
            emit(1)
            time.sleep(0.01)
        ended.set()

    with Worker(work) as worker:
        assert next(worker.events(never)) == 1
    assert ended.is_set()


def test_a_stop_does_not_wait_for_silent_work() -> None:
    release = threading.Event()
    began = time.perf_counter()
    with Worker(lambda emit, stopping: release.wait(10) and None) as worker:
        assert list(worker.events(lambda: time.perf_counter() - began > 0.1)) == []
        assert time.perf_counter() - began < 1
        release.set()


def test_a_process_ends_after_its_work() -> None:
    """A model's native code that ends when Python has gone would abort the process."""
    program = """
import time
from rag_core.answering.streaming import Worker
with Worker(lambda emit, stopping: (time.sleep(1), print("ended"))) as worker:
    raise SystemExit(3)
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (3, "ended\n")
