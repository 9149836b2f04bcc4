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

from accelerator.scanner import Mode
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt
from rag_core.storage import Storage


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer: its place and its vector, float32 (d,). `md5` is its text's where the engine knows."""

    document_id: str
    index: int
    vector: NDArray[np.float32]
    score: float = 0.0


class Engine(ABC):
    """Finds the nearest chunks of a library. `mode` is how thoroughly, for engines that have a choice."""

    name: ClassVar[str]

    def __init__(self, storage: Storage, mode: Mode = "auto") -> None:
        self._storage = storage
        self._mode = mode

    def nearest(self, query: NDArray[np.float32], k: int) -> list[Candidate]:
        """The k nearest chunks, best first; ties by document, then index. query: float32 (d,), not zero.

        Raises StoreCorrupt or StoreUnavailable when this engine cannot answer.
        """
        found = self._find(query, k)
        if not found:
            return []
        unit = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
        rows = np.stack([candidate.vector for candidate in found]).astype(np.float64)
        scores = (rows @ unit) / np.maximum(np.linalg.norm(rows, axis=1), np.finfo(np.float64).tiny)
        scored = [
            Candidate(candidate.document_id, candidate.index, candidate.vector, float(np.float32(score)))
            for candidate, score in zip(found, scores, strict=True)
        ]
        return sorted(scored, key=lambda item: (-item.score, item.document_id, item.index))

    @abstractmethod
    def _find(self, query: NDArray[np.float32], k: int) -> Sequence[Candidate]:
        """The k nearest chunks in any order, without scores."""


class DumpsEngine(Engine):
    """The scanner over memory-mapped dumps: exact, and the default."""

    name = "dumps"

    def _find(self, query: NDArray[np.float32], k: int) -> Sequence[Candidate]:
        try:
            found = self._storage.dumps.search(query, k, self._mode)
        except KeyError as error:  # a document went between the scan and the reading of its rows
            raise StoreCorrupt(f"The dumps changed while they were searched: {error}") from error
        return [Candidate(match.key, match.row, vector) for match, vector in found]


class PgvectorEngine(Engine):
    """pgvector's exact search inside PostgreSQL: the fallback where dumps cannot serve."""

    name = "pgvector"

    def _find(self, query: NDArray[np.float32], k: int) -> Sequence[Candidate]:
        return [Candidate(*place) for place in self._storage.documents.nearest(query, k)]


class ChromaEngine(Engine):
    """Chroma's HNSW graph: approximate, for comparison or a shared server."""

    name = "chroma"

    def _find(self, query: NDArray[np.float32], k: int) -> Sequence[Candidate]:
        places = self._storage.chroma.nearest(self._profile(), query, k)
        # Chroma's own vectors have been through its arithmetic; PostgreSQL's are those of the dumps, bit for bit.
        return [Candidate(*place) for place in self._storage.documents.vectors_at(places)]

    def _profile(self) -> Profile:
        profile = self._storage.documents.profile()
        if profile is None:
            raise StoreCorrupt("The library has no embedding profile yet.")
        return profile


ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (DumpsEngine, PgvectorEngine, ChromaEngine)}
