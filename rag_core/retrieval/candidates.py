"""Where candidates come from: one class per engine, each with one primitive.

Every engine returns places and vectors; one float64 pass scores them all, so that equal vectors get equal scores
whichever engine found them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accelerator.ranking import Match
from accelerator.scanner import Mode
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt
from rag_core.storage import Storage

Vectors = NDArray[np.float32]
# Lengths that differ from 1 by no more move no pick of MMR that it does not look at again.
_UNIT = 1e-6
Found = tuple[list[tuple[str, int]], Vectors]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Chunks that may answer, best first: document id and index of each, vectors, float32 (n, d), and cosines, (n,).

    `unit`: all vectors are known to be of unit length.
    """

    places: list[tuple[str, int]]
    vectors: NDArray[np.float32]
    scores: NDArray[np.float32]
    unit: bool = False


class Engine(ABC):
    """Finds the nearest chunks of a library. `mode` is how thoroughly, for engines that have a choice."""

    name: ClassVar[str]

    def __init__(self, storage: Storage, mode: Mode = "auto") -> None:
        self._storage = storage
        self._mode = mode

    def nearest(self, query: NDArray[np.float32], k: int) -> Candidates:
        """The k nearest chunks, best first; ties by document, then index. query: float32 (d,), not zero.

        Raises StoreCorrupt or StoreUnavailable when this engine cannot answer.
        """
        return self._best_first(query, *self._find(query, k))

    def _best_first(self, query: NDArray[np.float32], places: list[tuple[str, int]], vectors: Vectors) -> Candidates:
        scores, unit = _cosines(vectors, query)
        order = sorted(range(len(places)), key=lambda number: (-scores[number], places[number]))
        if order != list(range(len(places))):
            places, vectors, scores = [places[number] for number in order], vectors[order], scores[order]
        return Candidates(places, vectors, scores, unit)

    def nearest_many(self, queries: NDArray[np.float32], k: int) -> list[Candidates]:
        """The same for many queries, float32 (m, d), in one pass where the engine can."""
        return [
            self._best_first(query, *found) for query, found in zip(queries, self._find_many(queries, k), strict=True)
        ]

    def _find_many(self, queries: NDArray[np.float32], k: int) -> list[Found]:
        """For an engine with a better way than one query after the other."""
        return [self._find(query, k) for query in queries]

    @abstractmethod
    def _find(self, query: NDArray[np.float32], k: int) -> Found:
        """Document id and index of the k nearest chunks in any order, and their vectors, float32 (n, d)."""


class DumpsEngine(Engine):
    """The scanner over memory-mapped dumps: exact, and the default."""

    name = "dumps"

    def _find(self, query: NDArray[np.float32], k: int) -> Found:
        matches, vectors = self._storage.dumps.search(query, k, self._mode)
        return [(match.key, match.row) for match in matches], vectors

    def _find_many(self, queries: NDArray[np.float32], k: int) -> list[Found]:
        found = self._storage.dumps.search_many(queries, k, self._mode)
        return [([(match.key, match.row) for match in matches], vectors) for matches, vectors in found]


class PgvectorEngine(Engine):
    """pgvector's exact search inside PostgreSQL: the fallback where dumps cannot serve."""

    name = "pgvector"

    def _find(self, query: NDArray[np.float32], k: int) -> Found:
        return _stacked(self._storage.documents.nearest(query, k), query)


class ChromaEngine(Engine):
    """Chroma's HNSW graph: approximate, for comparison or a shared server."""

    name = "chroma"

    def _find(self, query: NDArray[np.float32], k: int) -> Found:
        places = self._storage.chroma.nearest(self._profile(), query, k)
        # Chroma's own vectors have been through its arithmetic; PostgreSQL's are those of the dumps, bit for bit.
        return _stacked(self._storage.documents.vectors_at(places), query)

    def _profile(self) -> Profile:
        profile = self._storage.documents.profile()
        if profile is None:
            raise StoreCorrupt("The library has no embedding profile yet.")
        return profile


def candidates(matches: Sequence[Match], vectors: Vectors) -> Candidates:
    """Matches of the scanner, best first, with their vectors, float32 (n, d)."""
    scores = np.array([match.score for match in matches], dtype=np.float32)
    return Candidates([(match.key, match.row) for match in matches], vectors, scores)


ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (DumpsEngine, PgvectorEngine, ChromaEngine)}


def _stacked(rows: Sequence[tuple[str, int, NDArray[np.float32]]], query: NDArray[np.float32]) -> Found:
    vectors = np.stack([row[2] for row in rows]) if rows else np.empty((0, len(query)), dtype=np.float32)
    return [(row[0], row[1]) for row in rows], vectors


def _cosines(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> tuple[NDArray[np.float32], bool]:
    """In float64, row by row alike wherever a row stands, as float32 (n,), and whether all rows are of unit length.

    A row of zeros has cosine 0.
    """
    unit = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
    products = np.einsum("nd,d->n", vectors, unit, dtype=np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    cosines: NDArray[np.float32] = (products / np.maximum(lengths, np.finfo(np.float64).tiny)).astype(np.float32)
    return cosines, bool(np.all(np.abs(lengths - 1) <= _UNIT))
