"""A re-ranker scores the first candidates once more, by what it takes too long to ask of every chunk.

A new one is a file here with a subclass of Reranker, and two lines in `choosing.py`: its class among those of
RERANKERS, and its name in AUTOMATIC, where it has its turn; what it says takes the place of the score before:

    reranker.name: reranker for reranker in (PiecesReranker, FeedbackReranker, RowsReranker, MyReranker)
    AUTOMATIC: tuple[str, ...] = ("pieces", "feedback", "rows", "mine")
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from rag_core.retrieval.candidates import Candidates, Scores
from rag_core.retrieval.query import Query


class Reranker(ABC):
    """Scores candidates, whose texts and documents are known."""

    name: ClassVar[str]

    @abstractmethod
    def scores(self, query: Query, candidates: Candidates) -> Scores | None:
        """A score for each candidate, float32 (n,): greater is better. None to leave them as they are."""
