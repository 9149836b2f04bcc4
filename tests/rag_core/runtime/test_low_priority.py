"""Calls that another process carries out: behind everything else, and ended at once when nobody waits any longer."""

from __future__ import annotations

import operator
import os
import threading
import time
from contextlib import nullcontext

import pytest

from rag_core.runtime.low_priority import LowPriorityProcess, ProcessEnded, call_once
from rag_core.runtime.precedence import PRECEDENCE


@pytest.mark.usefixtures("fresh_processes")
def test_calls_go_to_a_process_of_low_priority() -> None:
    process = LowPriorityProcess()
    first = process(os.getpid)
    assert first != os.getpid()
    assert process(os.nice, 0) == min(19, os.nice(0) + 10)
    with pytest.raises(ZeroDivisionError):
        process(operator.truediv, 1, 0)
    assert process(os.getpid) == first
    process.rest()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    process.close()


def test_closing_ends_a_call() -> None:
    process = LowPriorityProcess()
    threading.Timer(0.2, process.close).start()
    for function, argument in ((time.sleep, 60), (os.nice, 0)):
        with pytest.raises(ProcessEnded):
            process(function, argument)


def test_it_stands_still_while_there_is_a_question() -> None:
    process = LowPriorityProcess()
    process(sum, (1, 2))
    alone, beside = (_ended_s(process, asked) for asked in (False, True))
    # It works in a fifth of each second: what takes longer than that waits for the next at least once.
    assert beside > alone + 0.5
    process.close()


def _ended_s(process: LowPriorityProcess, asked: bool) -> float:
    began = time.monotonic()
    with PRECEDENCE.question() if asked else nullcontext():
        for _ in range(10):
            process(sum, range(2_000_000))
    return time.monotonic() - began


def test_a_call_beyond_its_limit_of_time_ends_the_process() -> None:
    process = LowPriorityProcess(timeout_s=0.3)
    with pytest.raises(ProcessEnded):
        process(time.sleep, 60)
    assert process(os.nice, 0) >= 0
    process.close()


@pytest.mark.usefixtures("fresh_processes")
def test_one_call_has_a_process_of_usual_priority() -> None:
    assert call_once(os.nice, 0, timeout_s=60) == os.nice(0)
    with pytest.raises(ZeroDivisionError):
        call_once(operator.truediv, 1, 0, timeout_s=60)
    with pytest.raises(ProcessEnded, match="last words"):
        call_once(os.system, "echo 'last words' >&2; kill -9 $PPID", timeout_s=60)
