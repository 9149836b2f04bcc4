"""Candidates of several rankers to one list.

Convex combination of scores scaled by their least value in theory and their greatest for the question, after Bruch, Gai
and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rag_core.retrieval.candidates import Candidates, Scores, best_first
from rag_core.retrieval.dense_indexes import DenseIndex, cosines
from rag_core.retrieval.query import Query, Ref
from rag_core.retrieval.rankers import RANKERS, Ranked

DENSE_WEIGHT = 0.6


def fused(query: Query, ranked: Mapping[str, Ranked], index: DenseIndex) -> Candidates:
    """The candidates of all rankers, best first. `ranked` has at least one; the list of a single one stays as it is.

    Whatever ranker found a chunk, its cosine is known where the question has a vector.
    """
    if len(ranked) == 1:
        return _single(query, *next(iter(ranked.items())), index)
    refs: list[Ref] = list(dict.fromkeys(ref for some in ranked.values() for ref in some.refs))
    known = _with_cosines(query, refs, {name: _column(refs, some) for name, some in ranked.items()}, ranked, index)
    total = np.zeros(len(refs), dtype=np.float32)
    for name, weight in (("dense", DENSE_WEIGHT), ("lexical", 1 - DENSE_WEIGHT)):
        if name in known.scores:
            total += np.float32(weight) * scaled(known.scores[name], ranked[name].low)
    return known.scored(total, "fused", "fused")


def scaled(scores: Scores, low: float) -> Scores:
    """Scores on 0..1 between their least value in theory and the greatest of these; 0 for NaN, what was not found."""
    high = float(np.nanmax(scores, initial=low))
    if high <= low:
        return np.zeros_like(scores)
    found: Scores = np.nan_to_num((scores - np.float32(low)) / np.float32(high - low), nan=0.0)
    return found


def _single(query: Query, name: str, ranked: Ranked, index: DenseIndex) -> Candidates:
    kind = RANKERS[name].score_kind
    known = _with_cosines(query, ranked.refs, {name: ranked.scores}, {name: ranked}, index)
    order = best_first(known.refs, ranked.scores)
    found = Candidates(known.refs, ranked.scores, kind, known.scores, known.vectors)
    return found.take(order)


def _with_cosines(
    query: Query, refs: list[Ref], scores: dict[str, Scores], ranked: Mapping[str, Ranked], index: DenseIndex
) -> Candidates:
    """Candidates with their vectors and, where the question has one, cosines; unordered yet."""
    at_hand = ranked.get("dense")
    if at_hand is not None and at_hand.vectors is not None and len(at_hand.refs) == len(refs):
        return Candidates(refs, scores["dense"], "cosine", scores, at_hand.vectors)
    if not refs:
        return Candidates(refs, np.empty(0, np.float32), "cosine", scores)
    first = at_hand.vectors if at_hand is not None else None  # the union begins with the dense ranker's own
    known = 0 if first is None else len(first)
    rest = index.vectors(refs[known:])
    vectors = rest if first is None else np.concatenate([first, rest])
    if query.vector is not None:
        scores = {**scores, "dense": cosines(vectors, query.vector)}
    return Candidates(refs, np.zeros(len(refs), np.float32), "cosine", scores, vectors)


def _column(refs: list[Ref], ranked: Ranked) -> Scores:
    held = dict(zip(ranked.refs, ranked.scores.tolist(), strict=True))
    return np.array([held.get(ref, np.nan) for ref in refs], dtype=np.float32)
