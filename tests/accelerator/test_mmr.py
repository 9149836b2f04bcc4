from __future__ import annotations

import numpy as np
import pytest
from langchain_core.vectorstores.utils import maximal_marginal_relevance as langchain_mmr

from accelerator.mmr import maximal_marginal_relevance


@pytest.mark.parametrize("lambda_mult", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("rows", [1, 3, 20, 97, 256])
def test_picks_equal_langchain(rows: int, lambda_mult: float) -> None:
    random = np.random.default_rng(rows)
    candidates, query = random.standard_normal((rows, 384)), random.standard_normal(384)
    expected = langchain_mmr(query, list(candidates), lambda_mult=lambda_mult, k=10)
    assert maximal_marginal_relevance(query, candidates, 10, lambda_mult) == expected


def test_picks_equal_langchain_among_near_neighbours() -> None:
    random = np.random.default_rng(5)
    centres = random.standard_normal((4, 64))
    candidates = centres[random.integers(0, 4, 60)] + 0.05 * random.standard_normal((60, 64))
    expected = langchain_mmr(centres[0], list(candidates), lambda_mult=0.5, k=12)
    assert maximal_marginal_relevance(centres[0], candidates, 12, 0.5) == expected


def test_a_relevance_takes_the_place_of_cosines() -> None:
    candidates = np.array([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0]])
    query = np.array([1.0, 0.0])
    given = np.array([0.2, 0.9, 0.8])
    assert maximal_marginal_relevance(query, candidates, 3, 1.0, relevance=given) == [1, 2, 0]
    assert maximal_marginal_relevance(query, candidates, 2, 0.5, relevance=[0.8, 0.9, 0.3]) == [1, 2]
    assert maximal_marginal_relevance(query, candidates, 3, 0.5, relevance=candidates @ query) == (
        maximal_marginal_relevance(query, candidates, 3, 0.5)
    )
    with pytest.raises(ValueError, match="Relevance"):
        maximal_marginal_relevance(query, candidates, 3, 0.5, relevance=[1.0])


@pytest.mark.parametrize("k", [-1, 0, 1, 5, 9])
def test_k_beyond_what_is_there(k: int) -> None:
    chosen = maximal_marginal_relevance(np.ones(3), np.eye(3), k, 0.5)
    assert len(chosen) == len(set(chosen)) == max(0, min(k, 3))


def test_no_candidates() -> None:
    assert maximal_marginal_relevance(np.ones(3), np.empty((0, 3)), 5, 0.5) == []


def test_duplicates_come_last_and_zero_vectors_are_harmless() -> None:
    candidates = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.6, 0.8]], dtype=np.float32)
    assert maximal_marginal_relevance(np.array([1.0, 0.1], dtype=np.float32), candidates, 4, 0.5)[-1] == 1


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"shape|mismatch|aligned"):
        maximal_marginal_relevance(np.ones(4), np.ones((3, 5)), 2, 0.5)
