"""The fitted numbers, and what finds them."""

from __future__ import annotations

import json

import pytest

from rag_core.retrieval.weights import weights
from tests.benchmarks.fit_weights import FILE, GRID, as_text, best, points, with_point


def test_every_number_that_is_looked_for_stands_in_the_file() -> None:
    present, *others = points(GRID, weights())
    assert with_point(weights(), present) == weights() == json.loads(FILE.read_text())
    assert len({tuple(point.items()) for point in others}) == len(others) >= 26
    with pytest.raises(KeyError):
        list(points({"fusion.gone": (1,)}, weights()))


def test_without_a_grid_there_are_the_present_numbers_alone() -> None:
    assert list(points({}, weights())) == [{}]


def test_a_point_is_written_and_the_rest_stays() -> None:
    written = as_text(with_point(weights(), {"pieces.own": 0.25}))
    changed = json.loads(written)
    assert changed["pieces"]["own"] == 0.25
    assert changed["fusion"] == weights()["fusion"]
    assert as_text(weights()) == FILE.read_text()
    assert weights()["pieces"]["own"] != 0.25


@pytest.mark.parametrize(("objectives", "place"), [([0.5, 0.5], 0), ([0.5, 0.4, 0.6, 0.6], 2)])
def test_equals_leave_the_numbers_as_they_are(objectives: list[float], place: int) -> None:
    assert best(objectives) == place
