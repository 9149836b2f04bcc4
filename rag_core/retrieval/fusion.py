"""Candidates of several rankers to one list, in one of two ways.

`convex`: scores between their least value in theory and their greatest for the question, weighed; after Bruch, Gai and
Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 2023. `reciprocal`: ranks alone; Cormack,
Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009. To both is added how surely a question means a candidate's
document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rag_core.retrieval.candidates import Candidates, Scores, best_first
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers import RANKERS, Ranked
from rag_core.retrieval.weights import weights
from rag_core.storage.indexes.dense import DenseIndex, Ref, cosines


def fused(query: Query, ranked: Mapping[str, Ranked], index: DenseIndex, how: str = "convex") -> Candidates:
    """The candidates of all rankers, best first. `ranked` has at least one; the list of a single one stays as it is.

    Whatever ranker found a chunk, its cosine is known where the question has a vector.
    """
    if len(ranked) == 1:
        return _single(query, *next(iter(ranked.items())), index)
    refs: list[Ref] = list(dict.fromkeys(ref for some in ranked.values() for ref in some.refs))
    columns = {name: _column(refs, some) for name, some in ranked.items()}
    known = _with_cosines(query, refs, columns, ranked.get("dense"), index)
    low = {name: some.low for name, some in ranked.items()}
    meant = identity(query, refs)
    score = FUSIONS[how](query, known.scores, low) + meant
    return known.told("document", np.where(meant > 0, meant, np.float32(np.nan))).scored(score, "fused", "fused")


def convex(query: Query, scores: Mapping[str, Scores], low: Mapping[str, float]) -> Scores:
    """The weighed sum of scaled scores, float32 (n,), on 0..1; vectors say little of a foreign question.

    One weight serves the other questions: what the re-rankers make of the candidates hardly depends on it. The best of
    .2 to .95 for each of 578 questions would lift the mean of their measures by .006.
    """
    dense = np.float32(weights()["fusion"]["foreign" if query.foreign else "dense"])
    return dense * scaled(scores["dense"], low["dense"]) + (1 - dense) * scaled(scores["lexical"], low["lexical"])


def reciprocal(query: Query, scores: Mapping[str, Scores], low: Mapping[str, float]) -> Scores:
    """The sum of 1 / (k + rank) over the rankers that found a candidate, float32 (n,), scaled to at most 1."""
    constant = weights()["fusion"]["reciprocal_k"]
    total = np.zeros(len(next(iter(scores.values()))), dtype=np.float32)
    for values in scores.values():
        ranks = np.empty(len(values))
        ranks[np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")] = np.arange(1, len(values) + 1)
        total += np.where(np.isnan(values), 0, 1 / (constant + ranks)).astype(np.float32)
    return total * np.float32((constant + 1) / len(scores))


FUSIONS: dict[str, Callable[[Query, Mapping[str, Scores], Mapping[str, float]], Scores]] = {
    "convex": convex,
    "reciprocal": reciprocal,
}


def scaled(scores: Scores, low: float) -> Scores:
    """Scores on 0..1 between their least value in theory and the greatest of these; 0 for NaN, what was not found."""
    high = float(np.nanmax(scores, initial=low))
    if high <= low:
        return np.zeros_like(scores)
    found: Scores = np.nan_to_num((scores - np.float32(low)) / np.float32(high - low), nan=0.0)
    return np.maximum(found, 0)


def identity(query: Query, refs: list[Ref]) -> Scores:
    """What a candidate gains by its document, float32 (n,)."""
    weight = weights()["fusion"]["identity"]
    meant = query.understood.documents
    return np.array([weight * meant.get(document_id, 0.0) for document_id, _ in refs], dtype=np.float32)


def _single(query: Query, name: str, ranked: Ranked, index: DenseIndex) -> Candidates:
    known = _with_cosines(query, ranked.refs, {name: ranked.scores}, ranked if name == "dense" else None, index)
    found = Candidates(known.refs, ranked.scores, RANKERS[name].score_kind, known.scores, known.vectors)
    return found.take(best_first(known.refs, ranked.scores))


def _with_cosines(
    query: Query, refs: list[Ref], scores: dict[str, Scores], dense: Ranked | None, index: DenseIndex
) -> Candidates:
    """Candidates with their vectors and, where the question has one, cosines; unordered yet."""
    if not refs:
        return Candidates(refs, np.empty(0, np.float32), "cosine", scores)
    at_hand = dense.vectors if dense is not None else None  # `refs` begin with the dense ranker's own
    known = 0 if at_hand is None else len(at_hand)
    if known == len(refs) and at_hand is not None:
        return Candidates(refs, scores["dense"], "cosine", scores, at_hand)
    rest = index.vectors(refs[known:])
    vectors = rest if at_hand is None else np.concatenate([at_hand, rest])
    if query.vector is not None:
        scores = {**scores, "dense": cosines(vectors, query.vector)}
    return Candidates(refs, np.zeros(len(refs), np.float32), "cosine", scores, vectors)


def _column(refs: list[Ref], ranked: Ranked) -> Scores:
    held = dict(zip(ranked.refs, ranked.scores.tolist(), strict=True))
    return np.array([held.get(ref, np.nan) for ref in refs], dtype=np.float32)
