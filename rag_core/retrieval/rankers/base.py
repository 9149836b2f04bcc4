"""A ranker gives the best chunks for a question by a score of its own.

A new one is a file here with a subclass of Ranker, and its name in RANKERS of `rag_core.retrieval.rankers`:

    RANKERS: dict[str, type[Ranker]] = {ranker.name: ranker for ranker in (DenseRanker, LexicalRanker, MyRanker)}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import ScoreKind
from rag_core.retrieval.dense_indexes import DenseIndex
from rag_core.retrieval.hierarchy.search import Hierarchy
from rag_core.retrieval.query import Query, Ref
from rag_core.retrieval.scope import Within

Vectors = NDArray[np.float32]


class LexicalSearch(Protocol):
    """An index of words."""

    def search(self, terms: Sequence[str], k: int, *, within: Within | None = None) -> list[tuple[str, int, float]]:
        """Document, index and BM25 score of the best k chunks, best first.

        Raises StoreUnavailable or StoreCorrupt when it cannot answer.
        """

    def idf(self, terms: Sequence[str]) -> Mapping[str, float]:
        """How rare each term is: its inverse document frequency."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where rankers look: an index of vectors, and one of words and the two levels where there are such."""

    index: DenseIndex
    lexical: LexicalSearch | None = None
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Candidates of one ranker, best first: chunks and their scores, float32 (n,).

    low: the least score that a chunk can have in theory. vectors: of the chunks, float32 (n, d), where at hand.
    """

    refs: list[Ref]
    scores: NDArray[np.float32]
    low: float
    vectors: Vectors | None = None


class Ranker(ABC):
    """Ranks chunks. `score_kind` is the kind of its scores."""

    name: ClassVar[str]
    score_kind: ClassVar[ScoreKind]

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    @classmethod
    def available(cls, sources: Sources) -> bool:
        """Whether there is what it needs."""
        return True

    @abstractmethod
    def rank(self, queries: Sequence[Query], k: int) -> list[Ranked]:
        """The best k chunks for each query, which all have the same scope.

        Raises StoreUnavailable or StoreCorrupt when it cannot answer.
        """
