"""Calls that another process carries out: behind everything else, and ended at once when nobody waits any longer."""

from __future__ import annotations

import operator
import os
import threading
import time

import pytest

from rag_core.services.aside import Aside, AsideEnded


def test_calls_go_to_a_process_of_low_priority() -> None:
    aside = Aside()
    first = aside(os.getpid)
    assert first != os.getpid()
    assert aside(os.nice, 0) == min(19, os.nice(0) + 10)
    with pytest.raises(ZeroDivisionError):
        aside(operator.truediv, 1, 0)
    assert aside(os.getpid) == first
    aside.rest()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    aside.close()


def test_closing_ends_a_call() -> None:
    aside = Aside()
    threading.Timer(0.2, aside.close).start()
    for function, argument in ((time.sleep, 60), (os.nice, 0)):
        with pytest.raises(AsideEnded):
            aside(function, argument)
