"""From ranked candidates to the hits: the best, or by maximal marginal relevance; of each side of a comparison some."""

from __future__ import annotations

import numpy as np

from accelerator.mmr import maximal_marginal_relevance
from rag_core.domain import QuestionKind
from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.dense_indexes import all_unit
from rag_core.retrieval.query import Query

_MORE: dict[QuestionKind, float] = {"list": 1.5, "comparison": 1.5, "summary": 2.0}
# A document is a side of a comparison when it is meant nearly as surely as the surest.
_SIDE, _SIDES = 0.75, 4


def wanted(kind: QuestionKind, k: int) -> int:
    """How many passages a question of a kind is answered from, where a fact takes k."""
    return round(k * _MORE.get(kind, 1.0))


def picked(query: Query, candidates: Candidates, k: int, mmr_lambda: float | None) -> list[int]:
    """Places of k hits among the candidates, in order. mmr_lambda: None for the best."""
    order = _order(query, candidates, k, mmr_lambda)
    sides = _sides(query)
    return _of_each(candidates, order, sides, k) if len(sides) > 1 else order


def _order(query: Query, candidates: Candidates, k: int, mmr_lambda: float | None) -> list[int]:
    if mmr_lambda is None or candidates.vectors is None:
        return list(range(min(k, len(candidates))))
    by_cosine = candidates.kind == "cosine" and query.vector is not None
    vector = query.vector if query.vector is not None else np.zeros(candidates.vectors.shape[1], np.float32)
    return maximal_marginal_relevance(
        vector / max(float(np.linalg.norm(vector)), 1e-30), candidates.vectors, k, mmr_lambda,
        unit=all_unit(candidates.vectors), relevance=None if by_cosine else candidates.score,
    )  # fmt: skip


def _sides(query: Query) -> list[str]:
    """The documents that a comparison compares."""
    if query.understood.kind != "comparison":
        return []
    surest = max(query.understood.documents.values(), default=0.0)
    return [key for key, surely in query.understood.documents.items() if surely >= _SIDE * surest][:_SIDES]


def _of_each(candidates: Candidates, order: list[int], sides: list[str], k: int) -> list[int]:
    """The order with room made for each side's best, where a side has too few among the k."""
    least = max(1, k // (len(sides) + 1))
    kept: list[int] = []
    for side in sides:
        own = [place for place, (key, _) in enumerate(candidates.refs) if key == side]
        chosen = [place for place in order if place in own]
        kept += [*chosen, *(place for place in own if place not in chosen)][:least]
    rest = [place for place in order if place not in kept]
    chosen = [*kept, *rest][:k]
    return [*(place for place in order if place in chosen), *(place for place in sorted(chosen) if place not in order)]
