"""From ranked candidates to the hits: the best, or by maximal marginal relevance; of each side of a comparison some."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accelerator.mmr import maximal_marginal_relevance
from rag_core.domain import QuestionKind
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.query import Query
from rag_core.storage.indexes.dense import all_unit

_MORE: dict[QuestionKind, float] = {"list": 1.5, "comparison": 1.5, "summary": 2.0}
# So many times the hits are looked through for passages of each side.
_DEEPER = 4


def wanted(kind: QuestionKind, k: int) -> int:
    """How many passages a question of a kind is answered from, where a fact takes k."""
    return round(k * _MORE.get(kind, 1.0))


def picked(query: Query, candidates: Candidates, k: int, mmr_lambda: float | None) -> list[int]:
    """Places of k hits among the candidates, in order. mmr_lambda: None for the best."""
    if not query.sides:
        return _order(query, candidates, k, mmr_lambda)
    return _in_turn(candidates, _order(query, candidates, _DEEPER * k, mmr_lambda), query.sides)[:k]


def _order(query: Query, candidates: Candidates, k: int, mmr_lambda: float | None) -> list[int]:
    if mmr_lambda is None or candidates.vectors is None:
        return list(range(min(k, len(candidates))))
    vector = query.vector if query.vector is not None else np.zeros(candidates.vectors.shape[1], np.float32)
    return maximal_marginal_relevance(
        vector, candidates.vectors, k, mmr_lambda, unit=all_unit(candidates.vectors), relevance=candidates.score
    )


def _in_turn(candidates: Candidates, order: list[int], sides: Sequence[frozenset[str]]) -> list[int]:
    """An order in which each side's best have their turn among the first; others keep their rank."""
    seen = [0] * len(sides)
    keys: list[tuple[int, int]] = []
    for rank, place in enumerate(order):
        side = next((number for number, side in enumerate(sides) if candidates.refs[place][0] in side), None)
        keys.append((rank if side is None else seen[side], rank))
        if side is not None:
            seen[side] += 1
    return [order[rank] for _, rank in sorted(keys)]
