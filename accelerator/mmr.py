"""Maximal marginal relevance: hits that are near the question and not near each other.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries",
SIGIR 1998. The greatest similarity to the chosen set is kept and updated with each choice, so that a choice costs one
matrix-vector product; the picks equal those of langchain_core's `maximal_marginal_relevance`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def maximal_marginal_relevance(query: ArrayLike, candidates: ArrayLike, k: int, lambda_mult: float = 0.5) -> list[int]:
    """Indices of at most `k` candidates in the order chosen.

    query: (d,), candidates: (n, d), of any length and float type; a zero vector is like nothing. lambda_mult: 1 is
    relevance alone, 0 diversity alone. Ties go to the earlier candidate. Raises ValueError for shapes that do not fit.
    """
    rows = np.asarray(candidates, dtype=np.float64)
    wanted = min(k, len(rows))
    if wanted <= 0:
        return []
    rows = _unit(rows)
    relevance = rows @ _unit(np.asarray(query, dtype=np.float64))
    chosen = [int(np.argmax(relevance))]
    nearest = rows @ rows[chosen[0]]
    while len(chosen) < wanted:
        gains = lambda_mult * relevance - (1 - lambda_mult) * nearest
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        np.maximum(nearest, rows @ rows[chosen[-1]], out=nearest)
    return chosen


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = np.zeros_like(vectors)
    np.divide(vectors, lengths, out=units, where=lengths > 0)
    return units
