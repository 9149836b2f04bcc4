"""Maximal marginal relevance: hits that are near the question and not near each other.

Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries",
SIGIR 1998. The greatest similarity to the chosen set is kept and updated with each choice, so that a choice costs one
matrix-vector product over the rows as they are; the picks equal those of langchain_core's `maximal_marginal_relevance`.
What rounding cannot tell apart is told apart in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[Any]
# Gains that differ by less than this many roundings are looked at again.
_ROUNDINGS = 64
# Larger products are shared by BLAS among threads, which wait for each other where another process has a core.
_CELLS = 2**18


def maximal_marginal_relevance(
    query: ArrayLike,
    candidates: ArrayLike,
    k: int,
    lambda_mult: float = 0.5,
    *,
    unit: bool = False,
    relevance: ArrayLike | None = None,
) -> list[int]:
    """Indices of at most `k` candidates in the order chosen.

    query: (d,), candidates: (n, d), of any length; rows of float32 or float64, maybe mapped, are not copied. A zero
    vector is like nothing. lambda_mult: 1 is relevance alone, 0 diversity alone. unit: all are known to be of unit
    length. relevance: (n,), in the place of the cosines with the query. Ties go to the earlier candidate. Raises
    ValueError for shapes that do not fit.
    """
    rows = np.asarray(candidates)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    wanted = min(k, len(rows))
    if wanted <= 0:
        return []
    vector = np.asarray(query, dtype=rows.dtype)
    if rows.ndim != 2 or vector.shape != rows.shape[1:]:
        raise ValueError(f"A query of shape {vector.shape} does not fit candidates of shape {rows.shape}")
    given = None if relevance is None else np.asarray(relevance, dtype=rows.dtype)
    if given is not None and given.shape != rows.shape[:1]:
        raise ValueError(f"Relevance of shape {given.shape} does not fit candidates of shape {rows.shape}")
    return _Choosing(vector, rows, lambda_mult, unit, given).choose(wanted)


class _Choosing:
    """The candidates, how near they are to the query, and to what was chosen so far."""

    def __init__(self, query: Rows, rows: Rows, lambda_mult: float, unit: bool, given: Rows | None) -> None:
        self._query = query
        self._rows = rows
        self._lambda = lambda_mult
        self._given = given
        self._inverse = None if unit else _inverse_lengths(rows)
        self._block = max(1, _CELLS // max(1, rows.shape[1]))
        self._within = _ROUNDINGS * float(np.finfo(rows.dtype).eps)
        self._chosen: list[int] = []

    def choose(self, wanted: int) -> list[int]:
        relevance = self._relevance()
        self._take(relevance)
        relevance *= self._lambda
        relevance[self._chosen[0]] = -np.inf
        nearest = np.full_like(relevance, -np.inf)
        gains = np.empty_like(relevance)
        weights = np.full_like(relevance, 1 - self._lambda)
        if self._inverse is not None:
            weights *= self._inverse
        while len(self._chosen) < wanted:
            last = self._chosen[-1]
            np.maximum(nearest, self._cosines(self._rows[last] * weights[last]), out=nearest)
            np.subtract(relevance, nearest, out=gains)
            self._take(gains)
            relevance[self._chosen[-1]] = -np.inf
        return self._chosen

    def _relevance(self) -> Rows:
        if self._given is not None:
            return self._given.copy()
        length = 1 if self._inverse is None else _inverse_lengths(self._query[None])[0]
        return self._cosines(self._query * length)

    def _take(self, gains: Rows) -> None:
        """Choose the candidate of the greatest gain, the earlier of two that are equal."""
        best = int(gains.argmax())
        close = gains >= gains[best] - self._within
        if np.count_nonzero(close) > 1:
            few = np.flatnonzero(close)
            best = int(few[np.argmax(self._exactly(few))])
        self._chosen.append(best)

    def _exactly(self, few: NDArray[np.intp]) -> Rows:
        """The gains of a few candidates in float64."""
        rows = _unit(self._rows[few])
        exact = (rows * _unit(self._query)).sum(axis=1) if self._given is None else self._given[few]
        relevance = np.asarray(exact, dtype=np.float64)
        if not self._chosen:
            return relevance
        chosen = _unit(self._rows[self._chosen])
        nearest = np.max([(rows * row).sum(axis=1) for row in chosen], axis=0)
        return np.asarray(self._lambda * relevance - (1 - self._lambda) * nearest)

    def _cosines(self, vector: Rows) -> Rows:
        """Of every candidate with a vector, times the vector's length."""
        found = np.empty(len(self._rows), dtype=self._rows.dtype)
        for start in range(0, len(found), self._block):
            np.dot(self._rows[start : start + self._block], vector, out=found[start : start + self._block])
        if self._inverse is not None:
            found *= self._inverse
        return found


def _inverse_lengths(rows: Rows) -> Rows:
    lengths = np.sqrt(np.linalg.vecdot(rows, rows))
    return np.asarray(np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0))


def _unit(vectors: Rows) -> Rows:
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=-1, keepdims=True)
    return np.asarray(np.divide(exact, lengths, out=np.zeros_like(exact), where=lengths > 0))
