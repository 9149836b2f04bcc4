"""One suite for every backend: the exact scores, computed in float64, judge it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from accelerator.backends.base import Backend
from accelerator.backends.cpu import CpuBackend
from tests.accelerator.conftest import MakeDump, unit_rows

BACKENDS: dict[str, Callable[[], Backend]] = {"cpu": CpuBackend}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]()


@pytest.mark.parametrize("rows", [1, 3, 97, 256, 16385])
def test_scores_are_inner_products(backend: Backend, rows: int) -> None:
    block, query = unit_rows(rows, 384), unit_rows(1, 384, seed=7)[0]
    scores = backend.scores(block, query)
    assert scores.shape == (rows,)
    assert scores.dtype == np.float32
    exact = block.astype(np.float64) @ query.astype(np.float64)
    np.testing.assert_allclose(scores, exact, atol=384 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("version", [1, 2])
def test_mapped_rows(backend: Backend, make_dump: MakeDump, version: int) -> None:
    dump, query = make_dump(97, version=version), unit_rows(1, 48, seed=7)[0]
    np.testing.assert_allclose(backend.scores(dump.vectors, query), dump.vectors @ query, atol=1e-5)
