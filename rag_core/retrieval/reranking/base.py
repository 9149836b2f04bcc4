"""A re-ranker scores the first candidates once more, by what it takes too long to ask of every chunk.

A new one is a file here with a subclass of Reranker, and its name in RERANKERS of `rag_core.retrieval.reranking`:

    RERANKERS: dict[str, type[Reranker]] = {reranker.name: reranker for reranker in (MyReranker,)}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rag_core.retrieval.candidates import Candidates
from rag_core.retrieval.query import Query


class Reranker(ABC):
    """Scores candidates. `most` of them at most are given."""

    name: ClassVar[str]
    most: ClassVar[int]

    @abstractmethod
    def scores(self, query: Query, candidates: Candidates) -> NDArray[np.float32]:
        """A score for each candidate, float32 (n,): greater is better."""
