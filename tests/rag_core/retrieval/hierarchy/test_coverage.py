"""Candidates drawn from many clusters."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.retrieval.hierarchy.coverage import NO_CLUSTER, spread


def order(scores: list[float], clusters: list[int], cost: float = 0.3) -> list[int]:
    given = spread(np.array(scores, dtype=np.float32), np.array(clusters), cost)
    return np.argsort(-given, kind="stable").tolist()


def test_the_next_of_a_cluster_pays_for_the_first() -> None:
    assert order([1.0, 0.9, 0.85, 0.5], [7, 7, 8, 8]) == [0, 2, 1, 3]


def test_what_is_much_better_stays_before_other_clusters() -> None:
    assert order([1.0, 0.9, 0.3, 0.0], [7, 7, 8, 8]) == [0, 1, 2, 3]


def test_the_best_stays_the_best() -> None:
    chance = np.random.default_rng(0)
    for _ in range(20):
        scores = np.sort(chance.random(40))[::-1].astype(np.float32)
        assert spread(scores, chance.integers(0, 5, 40)).argmax() == 0


def test_chunks_of_no_cluster_pay_nothing() -> None:
    scores = np.array([1.0, 0.9, 0.8], dtype=np.float32)
    assert spread(scores, np.full(3, NO_CLUSTER)).tolist() == scores.tolist()


def test_no_cost_changes_nothing() -> None:
    assert order([1.0, 0.9, 0.8], [1, 1, 1], cost=0) == [0, 1, 2]


@pytest.mark.parametrize("count", [0, 1])
def test_few_candidates(count: int) -> None:
    assert spread(np.ones(count, dtype=np.float32), np.zeros(count, dtype=np.intp)).tolist() == [1.0] * count


def test_the_scale_of_the_scores_is_of_no_matter() -> None:
    scores = np.linspace(1, 0, 30, dtype=np.float32)
    clusters = np.arange(30) % 3
    assert np.argsort(-spread(scores, clusters)).tolist() == np.argsort(-spread(40 * scores - 7, clusters)).tolist()
