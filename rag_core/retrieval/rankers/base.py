"""A ranker gives the best chunks for a question by a score of its own.

A new one is a file here with a subclass of Ranker, and two lines in `rag_core.retrieval.rankers`: its class among those
of RANKERS, and its name in the modes of MODES that ask it:

    ranker.name: ranker for ranker in (DenseRanker, LexicalRanker, ClustersRanker, ScalerRanker, MyRanker)
    "hybrid": ("dense", "lexical", "mine"),

A mode of its own is a name more in `RetrievalSettings.mode`. What it finds is among the candidates then; `reciprocal`
fusion counts its ranks, while `convex` weighs meaning and words alone until `fusion.py` gives its score a weight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from accelerator.scanner import Mode
from rag_core.domain import ScoreKind
from rag_core.retrieval.hierarchy.rewriting import Rewritten
from rag_core.retrieval.hierarchy.search import Focus, Hierarchy
from rag_core.retrieval.query import Query
from rag_core.storage.indexes.dense import DenseIndex, Ref

Vectors = NDArray[np.float32]


class LexicalSearch(Protocol):
    """An index of words."""

    def search(
        self,
        terms: Mapping[frozenset[str], float],
        k: int,
        within: Collection[str] | None = None,
        *,
        phrases: Sequence[Sequence[str]] = (),
        excluded: Sequence[str] = (),
    ) -> list[tuple[str, int, float]]:
        """Document, index and BM25 score of the best k chunks of some documents, of all for None, best first.

        terms: each as the set of its forms, of which the best counts, with its weight. phrases: terms that must stand
        together, each of them. excluded: terms that must not stand there. Raises StoreUnavailable or StoreCorrupt when
        it cannot answer.
        """

    def holds(self, term: str, within: Collection[str] | None = None) -> bool:
        """Whether any chunk, or any of some documents, holds a term."""

    def holding(self, terms: Sequence[str], within: Collection[str]) -> list[tuple[str, int]]:
        """Document and index of the chunks of some documents that hold each of some terms. Raises as `search` does."""

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Each term's inverse document frequency among the chunks. Raises as `search` does."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where rankers look: an index of vectors, and one of words and the two levels where there are such.

    waiting: documents that the index of words has yet to take. scan: how thoroughly vectors are looked through.
    rewrite: makes a new question of one and of what level one found.
    """

    index: DenseIndex
    lexical: LexicalSearch | None = None
    hierarchy: Hierarchy | None = None
    waiting: frozenset[str] = frozenset()
    scan: Mode = "auto"
    rewrite: Callable[[str, Focus], Rewritten] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Candidates of one ranker, best first: chunks and their scores, float32 (n,).

    low: the least score that a chunk can have in theory. vectors: of the chunks, float32 (n, d), where at hand.
    expansion: words that name what the question was moved towards, where it was, or what was asked in its place; note:
    what is worth knowing of that.
    """

    refs: list[Ref]
    scores: NDArray[np.float32]
    low: float
    vectors: Vectors | None = None
    expansion: str = ""
    note: str = ""

    def joined(self, more: Ranked) -> Ranked:
        """With further chunks, scored alike, that it has not yet; best first no longer."""
        held = set(self.refs)
        new = [place for place, ref in enumerate(more.refs) if ref not in held]
        vectors = None
        if self.vectors is not None and more.vectors is not None:
            vectors = np.concatenate([self.vectors, more.vectors[new]])
        scores = np.concatenate([self.scores, more.scores[new]])
        return Ranked([*self.refs, *(more.refs[place] for place in new)], scores, self.low, vectors, self.expansion)


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
