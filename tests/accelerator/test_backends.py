"""One suite for every backend that can run: the exact scores, computed in float64, judge it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from accelerator.backends.base import Backend, Block
from accelerator.backends.cpu import CpuBackend
from accelerator.backends.torch import TorchBackend
from accelerator.quantise import quantise
from tests.accelerator.conftest import unit_rows
from tests.conftest import PROJECT

BACKENDS: dict[str, Callable[[], Backend]] = {
    "cpu": CpuBackend,
    "cpu, two threads": lambda: CpuBackend(2),
    "torch on the CPU": lambda: TorchBackend("cpu"),
}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]()


def block_of(rows: np.ndarray, width: int) -> Block:
    head, tail = quantise(rows[:, :width]), quantise(rows[:, width:])
    return Block(f"{rows.shape}", head.codes, tail.codes, head.scales, tail.scales)


def held(block: Block) -> np.ndarray:
    """The rows as the block has them, float64."""
    head = block.head.astype(np.float64) * block.head_scales[:, None]
    return np.hstack((head, block.tail.astype(np.float64) * block.tail_scales[:, None]))


@pytest.mark.parametrize(("dimensions", "width"), [(384, 192), (48, 24), (17, 17)], ids=["384", "48", "no tail"])
@pytest.mark.parametrize("rows", [1, 3, 97, 256, 16385])
def test_scores_are_inner_products_within_the_error(backend: Backend, rows: int, dimensions: int, width: int) -> None:
    block, queries = block_of(unit_rows(rows, dimensions), width), unit_rows(3, dimensions, seed=7)
    scores, errors = backend.scores(block, queries)
    assert scores.shape == (3, rows)
    assert scores.dtype == errors.dtype == np.float32
    off = np.abs(scores - queries.astype(np.float64) @ held(block).T).max(axis=1)
    assert (off <= errors + 1e-6).all()
    assert (errors < 0.05).all()


def test_one_query_is_scored_as_among_many(backend: Backend) -> None:
    block, queries = block_of(unit_rows(300, 64), 32), unit_rows(40, 64, seed=3)
    together, _ = backend.scores(block, queries)
    for number in (0, 17, 39):
        alone, _ = backend.scores(block, queries[number : number + 1])
        np.testing.assert_allclose(alone[0], together[number], atol=1e-6)


def test_a_query_of_zeros_in_the_head_scores_by_the_tail(backend: Backend) -> None:
    block, query = block_of(unit_rows(50, 64), 32), unit_rows(1, 64, seed=2)
    query[:, :32] = 0
    scores, errors = backend.scores(block, query)
    assert np.abs(scores - query @ held(block).T).max() <= errors[0] + 1e-6


def test_forgetting_what_is_not_known_is_no_error(backend: Backend) -> None:
    backend.forget("nothing")


def test_threads_of_the_processor_sleep_between_scans() -> None:
    code = """
import time
import numpy as np
from accelerator.products import inner

rows = np.ones((20_000, 384), np.float32)
inner(rows, rows[0], 2)
began, used = time.perf_counter(), time.process_time()
for _ in range(20):
    inner(rows, rows[0], 2)
    time.sleep(0.02)
print((time.process_time() - used) / (time.perf_counter() - began))
"""
    told = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert float(told.stdout) < 0.25, "they turned for 8 of each 20 ms"
