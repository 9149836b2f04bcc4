"""Rounding to 8 bits: the errors it names are no smaller than the true ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelerator.quantise import LONGEST, RoundedVector, quantise, round_queries
from tests.accelerator.conftest import unit_rows


def held(codes: np.ndarray, scales: np.ndarray | float) -> np.ndarray:
    return codes.astype(np.float64) * np.asarray(scales, dtype=np.float64).reshape(-1, 1)


def off_by(rows: np.ndarray, codes: np.ndarray, scales: np.ndarray | float) -> np.ndarray:
    return np.linalg.norm(rows.astype(np.float64) - held(codes, scales), axis=1)


def slack(rows: np.ndarray) -> np.ndarray:
    """What float32 cannot tell: some parts in ten millions of a row, and whatever its squares make nothing of."""
    return 2e-7 * np.linalg.norm(rows.astype(np.float64), axis=1) + 1e-18


def hard_rows(width: int) -> np.ndarray:
    """Rows on the halves between two steps, of one huge coordinate, of zeros and tiny ones."""
    rows = unit_rows(40, width, seed=width)
    rows[1:5] = (np.arange(width) % 127 + 0.5) / 127
    rows[1:5, 0] = 1
    rows[5:9] *= np.float32(1e-3)
    rows[5:9, width // 2] = 1
    rows[9] = 0
    rows[10:14] *= np.float32(1e-30)
    rows[14:16] = np.float32(1e-42)
    rows[20, 1:] = 0
    rows[21] = -np.abs(rows[21])
    return rows


@pytest.mark.parametrize("width", [1, 3, 17, 48, 192, 1536])
def test_errors_bound_what_rounding_changed(width: int) -> None:
    rows = hard_rows(width)
    found = quantise(rows)
    assert (found.codes.dtype, found.scales.dtype, found.errors.dtype) == (np.int8, np.float32, np.float32)
    true = off_by(rows, found.codes, found.scales)
    assert (true <= found.errors + slack(rows)).all()
    assert (found.errors <= true * 1.0001 + slack(rows)).all()
    assert found.codes.min() >= -127


def test_the_greatest_value_of_a_row_is_on_the_last_step() -> None:
    found = quantise(unit_rows(50, 48))
    np.testing.assert_array_equal(np.abs(found.codes).max(axis=1), 127)


def test_rows_of_zeros_and_of_no_width() -> None:
    zeros = quantise(np.zeros((3, 5), dtype=np.float32))
    assert not zeros.codes.any()
    assert not zeros.scales.any()
    assert not zeros.errors.any()
    none = quantise(np.zeros((3, 0), dtype=np.float32))
    assert (none.codes.shape, none.scales.tolist(), none.errors.tolist()) == ((3, 0), [0] * 3, [0] * 3)
    assert quantise(np.zeros((0, 5), dtype=np.float32)).codes.shape == (0, 5)


@pytest.mark.parametrize("width", [1, 3, 48, 192])
def test_one_vector_is_rounded_within_its_error(width: int) -> None:
    for row in hard_rows(width):
        found = RoundedVector.of(row)
        assert found.codes.shape == (1, width)
        assert off_by(row[None], found.codes, found.scale)[0] <= found.error + slack(row[None])[0]
        assert np.linalg.norm(row.astype(np.float64)) <= found.length + 1e-18
        np.testing.assert_array_less(np.abs(found.codes - quantise(row[None]).codes), 2)


def test_a_vector_of_no_width() -> None:
    found = RoundedVector.of(np.empty(0, dtype=np.float32))
    assert (found.codes.shape, found.scale, found.error, found.length) == ((1, 0), 0, 0, 0)


@pytest.mark.parametrize(("dimensions", "width"), [(48, 24), (384, 192), (17, 17), (3072, 1536)])
def test_the_error_of_a_query_bounds_that_of_every_score(dimensions: int, width: int) -> None:
    rows, queries = unit_rows(300, dimensions), unit_rows(20, dimensions, seed=3)
    rows[:20] = queries
    head, tail = quantise(rows[:, :width]), quantise(rows[:, width:])
    block = np.hstack((held(head.codes, head.scales), held(tail.codes, tail.scales)))
    found = round_queries(queries, width)
    rounded = np.hstack((held(found.head.codes, found.head.scales), held(found.tail.codes, found.tail.scales)))
    off = np.abs(rounded @ block.T - queries.astype(np.float64) @ block.T).max(axis=1)
    assert (off <= found.errors + 1e-7).all()
    assert (found.errors < 0.1).all()


@pytest.mark.parametrize("width", [48, 384, 4096])
def test_no_row_of_unit_length_is_longer_than_thought_when_rounded(width: int) -> None:
    """The worst: all but one coordinate are just above half a step, and so are doubled."""
    row = np.full((1, width), 0.5001 / 127)
    row[0, 0] = 1
    row /= np.linalg.norm(row)
    found = quantise(row.astype(np.float32))
    length = np.linalg.norm(held(found.codes, found.scales))
    assert 1 < length <= LONGEST


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_errors_hold_whatever_the_rows(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 12))
    cells = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, 1e-40, -1e-38, 0.5, 127.0])
    row = np.array([data.draw(st.lists(cells, min_size=width, max_size=width))], dtype=np.float32)
    found, single = quantise(row), RoundedVector.of(row[0])
    assert off_by(row, found.codes, found.scales)[0] <= found.errors[0] + slack(row)[0]
    assert off_by(row, single.codes, single.scale)[0] <= single.error + slack(row)[0]
