"""Intervals and tests: against all sign flips tried by hand, known formulas, and their own promises."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.evaluation.measuring.statistics import MOST_ENUMERATED, holm, intervals, paired_columns
from tests.rag_core.evaluation.one_metric import estimate, paired

NEAR = pytest.approx
SHARES = st.lists(st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.1, 0.2, 0.30000000000000004]), min_size=1, max_size=9)


def by_hand(differences: list[float]) -> float:
    far = abs(sum(differences)) - 1e-9
    flips = list(itertools.product((1, -1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(f, differences, strict=True))) >= far for f in flips) / len(flips)


@settings(max_examples=100, deadline=None)
@given(SHARES)
def test_few_differences_are_tested_exactly(values: list[float]) -> None:
    zeros = [0.0] * len(values)
    assert paired(zeros, values)[3] == NEAR(by_hand(values), abs=1e-12)
    assert paired(values, zeros)[3] == NEAR(by_hand(values), abs=1e-12)


def test_drawn_flips_come_near_the_exact_test() -> None:
    differences = np.random.default_rng(5).normal(0.4, 1, MOST_ENUMERATED + 1)
    p = paired([0.0] * len(differences), differences.tolist())[3]
    assert p == NEAR(by_hand(differences.tolist()), abs=0.02)
    assert 0 < p < 1


def test_p_is_never_0_and_two_sided() -> None:
    lows, highs = [0.0] * 80, [1.0] * 80
    assert paired(lows, highs)[3] == paired(highs, lows)[3] == NEAR(1 / 10_001)


def test_equal_questions_do_not_change_p() -> None:
    changed, equal = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0], [0.0] * 200
    few = paired([0.0] * 7, changed)
    many = paired([0.0] * 207, changed + equal)
    assert few[3] == many[3] == NEAR(16 / 128)
    assert many[0] == NEAR(5 / 207)


def test_nothing_to_compare() -> None:
    assert paired([], []) == (0.0, 0.0, 0.0, 1.0)
    none = estimate([])
    assert (none.mean, none.low, none.high, none.count) == (0.0, 0.0, 0.0, 0)


@pytest.mark.parametrize("values", [[0.7], [0.1] * 30, [1.0] * 3, [0.0] * 400, [1 / 3] * 7])
def test_equal_values_have_no_width(values: list[float]) -> None:
    found = estimate(values)
    assert (found.mean, found.low, found.high) == NEAR((values[0],) * 3, abs=1e-12)
    assert found.low <= found.mean <= found.high
    assert found.count == len(values)
    assert paired(values, values) == (0.0, 0.0, 0.0, 1.0)


def test_an_interval_of_shares_is_near_the_binomial_one() -> None:
    found = estimate([1.0] * 70 + [0.0] * 30)
    assert found.mean == 0.7
    assert (found.low, found.high) == NEAR((0.7 - 1.96 * 0.0458, 0.7 + 1.96 * 0.0458), abs=0.011)


def test_95_percent_intervals_hold_the_mean_that_often() -> None:
    random = np.random.default_rng(0)
    _, low, high = intervals((random.random((80, 1000)) < 0.6).astype(np.float64))
    assert 0.92 <= ((low <= 0.6) & (high >= 0.6)).mean() <= 0.98


def test_a_test_at_5_percent_calls_5_percent_by_chance() -> None:
    random = np.random.default_rng(1)
    p = paired_columns(random.exponential(size=(40, 1000)) - random.exponential(size=(40, 1000))).p
    assert 0.03 <= (p < 0.05).mean() <= 0.07
    assert 0.4 <= (p < 0.5).mean() <= 0.6


def test_the_same_seed_gives_the_same_numbers() -> None:
    values = np.random.default_rng(2).random(50).tolist()
    assert estimate(values) == estimate(values, seed=0)
    assert estimate(values) != estimate(values, seed=1)
    assert paired(values, values[::-1], 3) == paired(values, values[::-1], 3)


def test_columns_together_equal_columns_alone() -> None:
    random = np.random.default_rng(3)
    a, b = random.random((60, 4)), random.random((60, 4))
    found = paired_columns(b - a)
    for i in range(4):
        alone = paired(a[:, i].tolist(), b[:, i].tolist())
        assert (found.difference[i], found.low[i], found.high[i], found.p[i]) == NEAR(alone, abs=1e-12)
        assert [column[i] for column in intervals(a)] == NEAR(
            [estimate(a[:, i].tolist()).mean, estimate(a[:, i].tolist()).low, estimate(a[:, i].tolist()).high]
        )


def test_many_questions_need_little_memory() -> None:
    values = np.random.default_rng(4).random(20_000).tolist()
    tracemalloc.start()
    found = estimate(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    assert found.high - found.low == NEAR(2 * 1.96 * 0.2887 / 20_000**0.5, rel=0.15)


def test_holm() -> None:
    assert holm([]) == []
    assert holm([0.04]) == [0.04]
    assert holm([0.01, 0.04, 0.03, 0.005]) == NEAR([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.02, 0.02, 0.02]) == NEAR([0.06] * 3)
