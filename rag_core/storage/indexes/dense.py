"""Where vectors are looked up: the role that an index serves by giving a `DenseIndex`.

Every one returns chunks and vectors; one float64 pass scores them all, so that equal vectors get equal scores whichever
found them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accelerator.scanner import Mode
from accelerator.selection import Selection
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt
from rag_core.storage.postgres.documents import DocumentStore

Ref = tuple[str, int]
"""A chunk: its document's id and its index there."""
Vectors = NDArray[np.float32]
Rows = Mapping[str, NDArray[np.intp] | None]
# Lengths that differ from 1 by no more move no pick of MMR that it does not look at again.
_UNIT = 1e-6


@dataclass(frozen=True, eq=False)
class Within:
    """The only chunks that are searched: of each document the indexes of its chunks, or None for all of them.

    `chunks` counts them.
    """

    rows: Rows
    chunks: int

    @cached_property
    def selection(self) -> Selection:
        """The same for the scanner."""
        return Selection(self.rows)

    @property
    def documents(self) -> list[str]:
        """The ids of the documents, in order."""
        return sorted(self.rows)

    @property
    def whole(self) -> bool:
        """Whether all chunks of these documents are searched."""
        return all(indexes is None for indexes in self.rows.values())

    def pairs(self) -> tuple[list[str], list[int]]:
        """Ids and indexes side by side; the index -1 stands for all chunks of a document."""
        pairs = [
            (key, int(index))
            for key, indexes in self.rows.items()
            for index in (np.array([-1]) if indexes is None else indexes)
        ]
        return [key for key, _ in pairs], [index for _, index in pairs]

    def __contains__(self, ref: tuple[str, int]) -> bool:
        if ref[0] not in self.rows:
            return False
        indexes = self.rows[ref[0]]
        return indexes is None or bool((indexes == ref[1]).any())


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Chunks, best first, their vectors, float32 (n, d), and cosines, (n,)."""

    refs: list[Ref]
    vectors: Vectors
    scores: NDArray[np.float32]


class DenseIndex(ABC):
    """Finds the nearest chunks. name: what it is asked for by; label: what people know it as."""

    name: ClassVar[str]
    label: ClassVar[str] = ""
    exact: ClassVar[bool] = False
    """Whether it misses nothing: the exact ones are asked one after the other where none was asked for."""

    def nearest(self, queries: Vectors, k: int, within: Within | None = None, scan: Mode = "auto") -> list[Nearest]:
        """The k nearest chunks of each query, best first; ties by document, then index.

        queries: float32 (m, d), none of them zero. scan: how thoroughly, where it can be chosen. Raises StoreCorrupt or
        StoreUnavailable when this index cannot answer.
        """
        found = self.find(queries, k, within, scan)
        return [_best_first(query, *some) for query, some in zip(queries, found, strict=True)]

    @abstractmethod
    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: Mode = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        """The k nearest chunks of each query in any order, and their vectors, float32 (n, d)."""

    @abstractmethod
    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        """The vectors of chunks, float32 (n, d); zeros for what is there no longer."""

    def check(self, ref: Ref, md5: str) -> None:  # noqa: B027  not every index binds by position
        """Make sure that a chunk was found by the vector of its own text. Raises StoreCorrupt."""

    def lacking(self) -> int:
        """How many documents it does not have yet; what it lost is asked for. Raises StoreUnavailable."""
        return 0


class TruthSearch(DenseIndex):
    """pgvector's exact search inside PostgreSQL, which needs no index: the fallback where dumps cannot serve.

    Those that find chunks elsewhere and take the vectors from here are subclasses.
    """

    name = "pgvector"
    label = "PostgreSQL"
    exact = True

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents

    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: Mode = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        """See the base class."""
        pairs = within.pairs() if within is not None else None
        return [stacked(self._documents.vectors.nearest(query, k, pairs), len(query)) for query in queries]

    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        """See the base class."""
        held = {(key, index): vector for key, index, vector in self._documents.vectors.at(refs)}
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


def stacked(rows: Sequence[tuple[str, int, Vectors]], dimensions: int) -> tuple[list[Ref], Vectors]:
    """Document, index and vector of chunks as their places and one matrix, float32 (n, dimensions)."""
    vectors = np.stack([row[2] for row in rows]) if rows else np.empty((0, dimensions), dtype=np.float32)
    return [(row[0], row[1]) for row in rows], vectors


def _best_first(query: Vectors, refs: list[Ref], vectors: Vectors) -> Nearest:
    scores = cosines(vectors, query)
    order = sorted(range(len(refs)), key=lambda number: (-scores[number], refs[number]))
    if order != list(range(len(refs))):
        refs, vectors, scores = [refs[number] for number in order], vectors[order], scores[order]
    return Nearest(refs, vectors, scores)
