"""Reliability diagrams: bins, the error, and what is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rag_core.domain import Question, Result
from rag_core.evaluation.measuring.calibration import calibration

NEAR = pytest.approx


def result(confidence: float | None, correct: float | None, abstained: bool | None = False, error: str = "") -> Result:
    return Result(
        Question("1", "?"), abstained=abstained, confidence=confidence, metrics={"correct": correct}, error=error
    )


def test_nothing() -> None:
    found = calibration([])
    assert (found.error, found.count) == (0.0, 0)
    assert [(one.low, one.high) for one in found.bins] == [(i / 10, (i + 1) / 10) for i in range(10)]
    assert {(one.count, one.confidence, one.accuracy) for one in found.bins} == {(0, 0.0, 0.0)}


def test_bins_and_error() -> None:
    found = calibration([result(0.72, 1), result(0.78, 0), result(0.05, 0), result(1.0, 1)])
    assert [one.count for one in found.bins] == [1, 0, 0, 0, 0, 0, 0, 2, 0, 1]
    assert (found.bins[7].confidence, found.bins[7].accuracy) == NEAR((0.75, 0.5))
    assert found.error == NEAR((2 * 0.25 + 0.05 + 0.0) / 4)
    assert found.count == 4


def test_an_abstention_is_sure_of_there_being_no_answer() -> None:
    found = calibration([result(0.1, 1, abstained=True)])
    assert found.bins[9].count == 1
    assert (found.bins[9].confidence, found.error) == NEAR((0.9, 0.1))


@pytest.mark.parametrize(
    ("confidence", "place"), [(0.0, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.999, 9), (1.0, 9), (1.2, 9)]
)
def test_edges(confidence: float, place: int) -> None:
    assert [one.count for one in calibration([result(confidence, 1)]).bins].index(1) == place
    assert calibration([result(1 - confidence, 1, abstained=True)]).bins[place].count == 1


@pytest.mark.parametrize(
    "left_out",
    [
        result(None, 1),
        result(0.5, None),
        result(0.5, 1, abstained=None),
        result(0.5, 1, error="no model"),
        result(math.nan, 1),
        result(0.5, math.nan),
        Result(Question("1", "?"), abstained=False, confidence=0.5),
    ],
)
def test_what_is_left_out(left_out: Result) -> None:
    assert calibration([left_out]) == calibration([])
    assert calibration([left_out, result(0.5, 1)]).count == 1


def test_true_probabilities_have_a_small_error() -> None:
    random = np.random.default_rng(0)
    sure = random.random(20_000)
    assert calibration([result(float(p), float(random.random() < p)) for p in sure]).error < 0.02
    assert calibration([result(float(p), float(random.random() < p**2)) for p in sure]).error > 0.1
