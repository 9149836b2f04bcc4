"""Lists of several rankers become one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Scope
from rag_core.retrieval.fusion import fused, scaled
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers import Ranked
from rag_core.retrieval.weights import weights
from rag_core.storage.indexes.dense import DenseIndex, Ref, Within

DENSE_WEIGHT = weights()["fusion"]["dense"]
Vectors = NDArray[np.float32]
ROWS = {("a", 0): [1.0, 0.0], ("a", 1): [0.0, 1.0], ("b", 0): [0.6, 0.8], ("c", 0): [-1.0, 0.0]}
QUERY = Query.of("tea", np.array([2.0, 0.0], np.float32), Scope(), None)


class Held(DenseIndex):
    """Vectors in memory."""

    name = "held"

    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: str = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        return [(list(ROWS), self.vectors(list(ROWS))) for _ in queries]

    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        return np.array([ROWS[ref] for ref in refs], np.float32).reshape(-1, 2)


def ranked(low: float, vectors: bool = False, **scores: float) -> Ranked:
    refs = [(name[0], int(name[1])) for name in scores]
    values = np.array(list(scores.values()), np.float32)
    return Ranked(refs, values, low, Held().vectors(refs) if vectors else None)


def test_scores_are_scaled_between_their_least_in_theory_and_their_greatest() -> None:
    values = scaled(np.array([1.0, 0.0, -1.0, np.nan], np.float32), -1.0)
    assert values.tolist() == [1.0, 0.5, 0.0, 0.0]
    assert scaled(np.array([8.0, 2.0], np.float32), 0.0).tolist() == [1.0, 0.25]
    assert scaled(np.zeros(2, np.float32), 0.0).tolist() == [0.0, 0.0]
    assert scaled(np.full(2, np.nan, np.float32), 0.0).tolist() == [0.0, 0.0]
    assert scaled(np.empty(0, np.float32), 0.0).tolist() == []


def test_one_list_stays_as_it_is() -> None:
    dense = fused(QUERY, {"dense": ranked(-1.0, vectors=True, a0=1.0, b0=0.6)}, Held())
    assert (dense.refs, dense.kind, dense.score.tolist()) == ([("a", 0), ("b", 0)], "cosine", [1.0, np.float32(0.6)])
    lexical = fused(QUERY, {"lexical": ranked(0.0, b0=7.0, c0=2.0)}, Held())
    assert (lexical.refs, lexical.kind, lexical.score.tolist()) == ([("b", 0), ("c", 0)], "bm25", [7.0, 2.0])
    assert np.allclose(lexical.scores["dense"], [0.6, -1.0])


def test_two_lists_are_weighed_and_every_candidate_has_its_cosine() -> None:
    lists = {"dense": ranked(-1.0, vectors=True, a0=1.0, b0=0.6), "lexical": ranked(0.0, a1=4.0, b0=3.0)}
    found = fused(QUERY, lists, Held())
    assert found.kind == "fused"
    at = {ref: place for place, ref in enumerate(found.refs)}
    wanted = {
        ("a", 0): DENSE_WEIGHT,
        ("b", 0): DENSE_WEIGHT * 0.8 + (1 - DENSE_WEIGHT) * 0.75,
        ("a", 1): DENSE_WEIGHT * 0.5 + (1 - DENSE_WEIGHT),
    }
    assert np.allclose([found.score[at[ref]] for ref in wanted], list(wanted.values()))
    assert found.refs == sorted(wanted, key=lambda ref: -wanted[ref])
    assert np.allclose(found.scores["dense"], [ROWS[ref][0] for ref in found.refs])
    assert np.isnan(found.scores["lexical"][at["a", 0]])
    assert found.vectors is not None
    assert found.vectors.tolist() == Held().vectors(found.refs).tolist()


def test_nothing_found_by_words_leaves_the_order_by_meaning() -> None:
    lists = {"dense": ranked(-1.0, vectors=True, a0=1.0, b0=0.6, c0=-1.0), "lexical": ranked(0.0)}
    assert fused(QUERY, lists, Held()).refs == [("a", 0), ("b", 0), ("c", 0)]
    assert fused(QUERY, {"lexical": ranked(0.0)}, Held()).refs == []


def test_equal_scores_go_by_document_and_index() -> None:
    tied = fused(QUERY, {"lexical": ranked(0.0, b0=1.0, a1=1.0, a0=1.0)}, Held())
    assert tied.refs == [("a", 0), ("a", 1), ("b", 0)]
