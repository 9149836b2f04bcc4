"""Candidates drawn from many documents or clusters, and those of the preferred document first."""

from __future__ import annotations

import numpy as np
import pytest

from rag_core.retrieval.hierarchy.coverage import KINDS, NO_GROUP, Coverage, Known, drawn, spread


def known(documents: list[int], clusters: list[int] | None = None, about: list[float] | None = None) -> Known:
    return Known(
        np.array(documents, dtype=np.intp),
        np.array(clusters if clusters is not None else [NO_GROUP] * len(documents), dtype=np.intp),
        np.array(about if about is not None else [0.0] * len(documents), dtype=np.float32),
    )


def order(scores: list[float], what: Known, coverage: Coverage) -> list[int]:
    given = drawn(np.array(scores, dtype=np.float32), what, coverage)
    return np.argsort(-given, kind="stable").tolist()


def test_the_first_of_each_document_comes_before_the_others() -> None:
    assert order([1.0, 0.95, 0.9, 0.8], known([7, 7, 7, 8]), Coverage(by_document=1.2)) == [0, 3, 1, 2]


def test_what_is_much_better_stays_before_other_documents() -> None:
    assert order([1.0, 0.9, 0.3, 0.0], known([7, 7, 8, 8]), Coverage(by_document=0.3)) == [0, 1, 2, 3]


def test_clusters_pay_each_time() -> None:
    scores = [1.0, 0.99, 0.98, 0.97, 0.0]
    assert order(scores, known([1] * 5, [5, 5, 5, 6, 7]), Coverage(by_cluster=0.05)) == [0, 3, 1, 2, 4]
    left = spread(np.array(scores, dtype=np.float32), np.array([5, 5, 5, 6, 7]), 0.1)
    assert left.tolist() == pytest.approx([1.0, 0.89, 0.78, 0.97, 0.0])


def test_once_is_paid_once() -> None:
    left = spread(np.array([1.0, 0.9, 0.8], dtype=np.float32), np.array([5, 5, 5]), 0.1, once=True)
    assert left.tolist() == pytest.approx([1.0, 0.8, 0.7])


def test_the_document_whose_summary_fits_leads() -> None:
    scores = [1.0, 0.9, 0.8, 0.0]
    assert order(scores, known([1, 2, 2, 3], about=[0.1, 0.6, 0.6, 0.0]), Coverage(lead=0.5)) == [1, 2, 0, 3]
    assert order(scores, known([1, 2, 2, 3], about=[0.4, 0.1, 0.1, 0.0]), Coverage(lead=0.5)) == [0, 1, 2, 3]


def test_the_best_stays_the_best_without_a_lead() -> None:
    chance = np.random.default_rng(0)
    for _ in range(20):
        scores = np.sort(chance.random(40))[::-1].astype(np.float32)
        what = known(chance.integers(0, 5, 40).tolist(), chance.integers(0, 9, 40).tolist())
        assert drawn(scores, what, Coverage(by_document=0.3, by_cluster=0.2)).argmax() == 0


def test_chunks_of_no_cluster_pay_nothing() -> None:
    assert order([1.0, 0.9, 0.8], known([1, 1, 1]), Coverage(by_cluster=5.0)) == [0, 1, 2]


def test_no_price_changes_nothing() -> None:
    assert order([1.0, 0.9, 0.8], known([1, 1, 2], [1, 1, 1]), Coverage()) == [0, 1, 2]


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("coverage", list(KINDS.values()), ids=list(KINDS))
def test_few_candidates(count: int, coverage: Coverage) -> None:
    assert drawn(np.ones(count, dtype=np.float32), known([0] * count), coverage).tolist() == [1.0] * count


@pytest.mark.parametrize("coverage", list(KINDS.values()), ids=list(KINDS))
def test_equal_scores_stay_in_their_order(coverage: Coverage) -> None:
    assert order([0.5] * 4, known([0, 1, 0, 1], [0, 1, 0, 1]), coverage) == [0, 1, 2, 3]


def test_the_scale_of_the_scores_is_of_no_matter() -> None:
    scores = np.linspace(1, 0, 30, dtype=np.float32)
    what = known((np.arange(30) % 3).tolist(), (np.arange(30) % 7).tolist())
    both = Coverage(by_document=0.3, by_cluster=0.1)
    assert np.argsort(-drawn(scores, what, both)).tolist() == np.argsort(-drawn(40 * scores - 7, what, both)).tolist()
