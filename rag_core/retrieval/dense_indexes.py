"""Where vectors are looked up: one class for each index, each with two primitives.

Every index returns chunks and vectors; one float64 pass scores them all, so that equal vectors get equal scores
whichever index found them. A new one is a subclass of DenseIndex and its name: in
DENSE_INDEXES below, and in what `RetrievalSettings.index` and the option `--index` of `search` take.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accelerator.scanner import Mode
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt
from rag_core.retrieval.query import Ref
from rag_core.retrieval.scope import Within
from rag_core.storage import Storage
from rag_core.storage.indexes.dumps import DumpStore

Vectors = NDArray[np.float32]
# Lengths that differ from 1 by no more move no pick of MMR that it does not look at again.
_UNIT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Chunks, best first, their vectors, float32 (n, d), and cosines, (n,)."""

    refs: list[Ref]
    vectors: Vectors
    scores: NDArray[np.float32]


class DenseIndex(ABC):
    """Finds the nearest chunks."""

    name: ClassVar[str]

    def nearest(self, queries: Vectors, k: int, within: Within | None = None) -> list[Nearest]:
        """The k nearest chunks of each query, best first; ties by document, then index.

        queries: float32 (m, d), none of them zero. Raises StoreCorrupt or StoreUnavailable when this index cannot
        answer.
        """
        return [
            self._best_first(query, *found) for query, found in zip(queries, self.find(queries, k, within), strict=True)
        ]

    def _best_first(self, query: Vectors, refs: list[Ref], vectors: Vectors) -> Nearest:
        scores = cosines(vectors, query)
        order = sorted(range(len(refs)), key=lambda number: (-scores[number], refs[number]))
        if order != list(range(len(refs))):
            refs, vectors, scores = [refs[number] for number in order], vectors[order], scores[order]
        return Nearest(refs, vectors, scores)

    @abstractmethod
    def find(self, queries: Vectors, k: int, within: Within | None) -> list[tuple[list[Ref], Vectors]]:
        """The k nearest chunks of each query in any order, and their vectors, float32 (n, d)."""

    @abstractmethod
    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        """The vectors of chunks, float32 (n, d); zeros for what is there no longer."""

    def check(self, ref: Ref, md5: str) -> None:  # noqa: B027  not every index binds by position
        """Make sure that a chunk was found by the vector of its own text. Raises StoreCorrupt."""


class DumpsIndex(DenseIndex):
    """The scanner over memory-mapped dumps: exact, and the default."""

    name = "dumps"

    def __init__(self, dumps: DumpStore, scan: Mode) -> None:
        self._dumps = dumps
        self._scan = scan

    def find(self, queries: Vectors, k: int, within: Within | None) -> list[tuple[list[Ref], Vectors]]:
        """See the base class; many queries go through the rows in one pass."""
        selection = within.selection if within is not None else None
        if len(queries) == 1:
            found = [self._dumps.search(queries[0], k, self._scan, selection)]
        else:
            found = self._dumps.search_many(queries, k, self._scan, selection)
        return [([(match.key, match.row) for match in matches], vectors) for matches, vectors in found]

    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        """See the base class."""
        return self._dumps.vectors_at(refs)


class LibraryDumps(DumpsIndex):
    """The library's own dumps, which position binds: row i is chunk i."""

    def __init__(self, storage: Storage, scan: Mode) -> None:
        super().__init__(storage.dumps, scan)
        self._storage = storage

    def check(self, ref: Ref, md5: str) -> None:
        """A dump that says otherwise is written anew and not answered from. Raises StoreCorrupt."""
        if self._dumps.md5(*ref) != md5:
            self._storage.rewrite_dump(ref[0])
            raise StoreCorrupt(f"The dump of {ref[0]} did not fit its texts and was written anew.")


class PgvectorIndex(DenseIndex):
    """pgvector's exact search inside PostgreSQL: the fallback where dumps cannot serve."""

    name = "pgvector"

    def __init__(self, storage: Storage, scan: Mode) -> None:
        self._storage = storage
        self._documents = storage.documents

    def find(self, queries: Vectors, k: int, within: Within | None) -> list[tuple[list[Ref], Vectors]]:
        """See the base class."""
        pairs = within.pairs() if within is not None else None
        return [_stacked(self._documents.nearest(query, k, pairs), len(query)) for query in queries]

    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        """See the base class."""
        held = {(key, index): vector for key, index, vector in self._documents.vectors_at(refs)}
        dimensions = len(next(iter(held.values()))) if held else self._dimensions()
        none = np.zeros(dimensions, dtype=np.float32)
        return np.array([held.get(ref, none) for ref in refs], dtype=np.float32).reshape(-1, dimensions)

    def _dimensions(self) -> int:
        return self._profile().dimensions

    def _profile(self) -> Profile:
        profile = self._documents.profile()
        if profile is None:
            raise StoreCorrupt("The library has no embedding profile yet.")
        return profile


class ChromaDenseIndex(PgvectorIndex):
    """Chroma's HNSW graph: approximate, for comparison or a shared server."""

    name = "chroma"

    def find(self, queries: Vectors, k: int, within: Within | None) -> list[tuple[list[Ref], Vectors]]:
        """See the base class."""
        return [self._find(query, k, within) for query in queries]

    def _find(self, query: Vectors, k: int, within: Within | None) -> tuple[list[Ref], Vectors]:
        only: dict[str, list[str]] = {}
        if within is not None and within.whole:
            only["documents"] = within.documents
        elif within is not None:
            only["rows"] = [f"{key}:{index}" for key, index in zip(*within.pairs(), strict=True)]
        refs = self._storage.chroma.nearest(self._profile(), query, k, **only)
        # Chroma's own vectors have been through its arithmetic; PostgreSQL's are those of the dumps, bit for bit.
        return _stacked(self._documents.vectors_at(refs), len(query))


DENSE_INDEXES: dict[str, type[LibraryDumps | PgvectorIndex]] = {
    index.name: index for index in (LibraryDumps, PgvectorIndex, ChromaDenseIndex)
}


def cosines(vectors: Vectors, query: Vectors) -> NDArray[np.float32]:
    """In float64, row by row alike wherever a row stands, as float32 (n,). A row of zeros has cosine 0."""
    unit = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
    products = np.einsum("nd,d->n", vectors, unit, dtype=np.float64)
    found: NDArray[np.float32] = (products / np.maximum(_lengths(vectors), np.finfo(np.float64).tiny)).astype(
        np.float32
    )
    return found


def all_unit(vectors: Vectors) -> bool:
    """Whether all rows are known to be of unit length."""
    return bool(np.all(np.abs(_lengths(vectors) - 1) <= _UNIT))


def _lengths(vectors: Vectors) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    return lengths


def _stacked(rows: Sequence[tuple[str, int, Vectors]], dimensions: int) -> tuple[list[Ref], Vectors]:
    vectors = np.stack([row[2] for row in rows]) if rows else np.empty((0, dimensions), dtype=np.float32)
    return [(row[0], row[1]) for row in rows], vectors
