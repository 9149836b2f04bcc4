from __future__ import annotations

import threading

import numpy as np
import pytest

from accelerator.backends.cpu import CpuBackend
from accelerator.halves import Halves


def test_both_are_done_at_once() -> None:
    meeting = threading.Barrier(2, timeout=5)
    assert Halves().both(lambda: meeting.wait() >= 0, lambda: meeting.wait() >= 0) == (True, True)


@pytest.mark.parametrize("side", [0, 1])
def test_what_either_raises_is_raised_and_the_thread_is_free_again(side: int) -> None:
    halves = Halves()
    works = [lambda: 1, lambda: 1]
    works[side] = lambda: 1 // 0
    with pytest.raises(ZeroDivisionError):
        halves.both(*works)
    assert halves.both(lambda: 1, lambda: 2) == (1, 2)


def test_whoever_finds_it_taken_does_both() -> None:
    halves = Halves()
    inner = halves.both(lambda: halves.both(threading.get_ident, threading.get_ident), lambda: (0, 0))[0]
    assert inner == (threading.get_ident(), threading.get_ident())


@pytest.mark.parametrize("count", [0, 1, 4095, 8192, 8193, 30_001])
def test_rows_at_some_places_score_as_in_their_block(count: int) -> None:
    chance = np.random.default_rng(count)
    codes = chance.integers(-127, 128, (20_000, 96), dtype=np.int8)
    query = chance.integers(-127, 128, (1, 96), dtype=np.int8)
    places = chance.integers(0, len(codes), count)
    expected = codes[places].astype(np.int64) @ query[0].astype(np.int64)
    for threads in (1, 2):
        assert (CpuBackend(threads).part_at(codes, places, query) == expected).all()
