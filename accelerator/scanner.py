"""Many dumps, one query, the exact best rows.

A backend scores every row in float32 and so finds candidates: all rows that float32's rounding could have kept out of
the best k. Those few are scored once more in one way for all backends, so that equal vectors get equal scores wherever
they lie, and every backend returns the same hits.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Backend
from accelerator.backends.cpu import CpuBackend
from accelerator.dump import UNIT_TOLERANCE, Dump
from accelerator.errors import DumpMismatch
from accelerator.gathered import Gathered, Part

SMALL_ROWS = 1024
# No product of two vectors of unit length is greater, however it was rounded.
_MOST_OF_UNIT_ROWS = 1.01


@dataclass(frozen=True, slots=True)
class Match:
    """A row of a dump and its cosine with the query (a float32 value)."""

    key: str
    row: int
    score: float


class Scanner:
    """The searchable set of dumps, each under a key. Thread-safe; a search sees what was there when it began.

    Dumps below SMALL_ROWS rows are gathered in one block in memory, so that thousands of short documents are one
    pass; larger ones are scanned from their maps and never copied.
    """

    def __init__(self, dimensions: int, backend: Backend | None = None) -> None:
        self.dimensions = dimensions
        self.backend = backend or CpuBackend()
        self._lock = threading.Lock()
        self._small = Gathered(dimensions)
        self._large: dict[str, Part] = {}

    def add(self, key: str, dump: Dump) -> None:
        """Make a dump searchable, in place of an earlier one of that key. Raises DumpMismatch (other dimensions)."""
        if dump.dimensions != self.dimensions:
            raise DumpMismatch(f"{dump.path} has {dump.dimensions} dimensions, not {self.dimensions}")
        lengths = None if dump.normalised else _lengths(dump.vectors)
        with self._lock:
            self._forget(key)
            if len(dump) < SMALL_ROWS:
                self._small.add(key, dump.vectors, lengths)
            else:
                self._large[key] = Part((key,), dump.vectors, None, lengths)

    def remove(self, key: str) -> None:
        """Forget a dump, at once: no search that ends after this returns its rows. An unknown key is no error."""
        with self._lock:
            self._forget(key)

    def keys(self) -> set[str]:
        """The keys of all dumps, those without rows too."""
        with self._lock:
            return {*self._small.keys(), *self._large}

    def __len__(self) -> int:
        """Rows that a search looks at."""
        with self._lock:
            return len(self._small) + sum(len(part.rows) for part in self._large.values())

    def search(self, query: NDArray[np.float32], k: int, *, keys: Collection[str] | None = None) -> list[Match]:
        """The k rows of the greatest cosine, best first; ties by key, then row. Fewer where there are fewer rows.

        query: float32 (d,), finite, not zero, of any length. keys: search these alone; unknown ones are skipped. A row
        of length zero has cosine 0. Raises ValueError.
        """
        unit = self._unit(query, k)
        while True:
            parts = self._parts(keys)
            matches = _best(self.backend, parts, unit, k)
            with self._lock:
                if all(self._holds(match.key) for match in matches):
                    return matches
            # Something found was removed meanwhile: its place belongs to the next best.

    def vectors(self, matches: Sequence[Match]) -> NDArray[np.float32]:
        """The rows of matches, float32 (n, d), as they stand in their dumps. Raises KeyError for a removed key."""
        rows = np.empty((len(matches), self.dimensions), dtype=np.float32)
        with self._lock:
            for place, match in enumerate(matches):
                rows[place] = self._row(match.key, match.row)
        return rows

    def _unit(self, query: NDArray[np.float32], k: int) -> NDArray[np.float64]:
        vector = np.asarray(query, dtype=np.float64)
        if vector.shape != (self.dimensions,):
            raise ValueError(f"A query has the shape ({self.dimensions},), not {vector.shape}")
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            raise ValueError("A query must be finite and not zero")
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return vector / length

    def _parts(self, keys: Collection[str] | None) -> list[Part]:
        wanted = None if keys is None else frozenset(keys)
        with self._lock:
            large = [part for key, part in self._large.items() if wanted is None or key in wanted]
            small = self._small.part(wanted)
        return [part for part in (small, *large) if len(part.rows)]

    def _row(self, key: str, row: int) -> NDArray[np.float32]:
        part = self._large.get(key)
        if part is None:
            return self._small.row(key, row)
        if not 0 <= row < len(part.rows):
            raise KeyError(f"{key} has no row {row}")
        vector: NDArray[np.float32] = part.rows[row]
        return vector

    def _holds(self, key: str) -> bool:
        return key in self._large or key in self._small

    def _forget(self, key: str) -> None:
        self._small.remove(key)
        self._large.pop(key, None)


def _best(backend: Backend, parts: Sequence[Part], unit: NDArray[np.float64], k: int) -> list[Match]:
    query = unit.astype(np.float32)
    scored = [_scores(backend, part, query) for part in parts]
    # Two float32 inner products of d terms of unit vectors differ from the true ones by less than this.
    slack = 2 * (len(unit) * float(np.finfo(np.float32).eps) + UNIT_TOLERANCE)
    tops = [scores if len(scores) <= k else np.partition(scores, len(scores) - k)[-k:] for scores in scored]
    merged = np.concatenate(tops) if tops else np.empty(0, dtype=np.float32)
    if len(merged) > k:
        merged = np.partition(merged, len(merged) - k)[-k:]
    floor = max(merged.min(initial=np.inf) - slack, -2.0)  # a removed row scores -inf
    matches: list[Match] = []
    for part, scores in zip(parts, scored, strict=True):
        matches += _rescored(part, np.flatnonzero(scores >= floor), unit)
    matches.sort(key=lambda match: (-match.score, match.key, match.row))
    return matches[:k]


def _scores(backend: Backend, part: Part, query: NDArray[np.float32]) -> NDArray[np.float32]:
    scores = backend.scores(part.rows, query)
    most = _MOST_OF_UNIT_ROWS if part.lengths is None else np.finfo(np.float32).max
    if not scores.max(initial=0) <= most:  # a damaged row is never found, and hides no other
        scores = np.where(scores <= most, scores, np.float32(-np.inf))
    if part.lengths is not None:
        scores = np.divide(scores, part.lengths, out=np.zeros_like(scores), where=part.lengths > 0)
    if part.hidden is not None:
        scores = np.where(part.hidden, np.float32(-np.inf), scores)
    return scores


def _rescored(part: Part, places: NDArray[np.intp], unit: NDArray[np.float64]) -> list[Match]:
    rows = part.rows[places].astype(np.float64)
    # Not a matrix product: that sums in an order which depends on where a row lies.
    products = (rows * unit).sum(axis=1)
    lengths = np.sqrt((rows * rows).sum(axis=1))
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0).astype(np.float32)
    return [Match(*part.origin(place), score) for place, score in zip(places.tolist(), cosines.tolist(), strict=True)]


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    squares = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    lengths: NDArray[np.float32] = np.sqrt(squares).astype(np.float32)
    return lengths
