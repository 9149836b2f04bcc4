"""Re-rankers by name."""

from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.reranking.feedback import FeedbackReranker
from rag_core.retrieval.reranking.pieces import PiecesReranker

__all__ = ["AUTOMATIC", "RERANKERS", "Reranker"]

RERANKERS: dict[str, type[Reranker]] = {reranker.name: reranker for reranker in (PiecesReranker, FeedbackReranker)}
AUTOMATIC: tuple[str, ...] = ("pieces", "feedback")
"""Those that a hybrid search asks, in order, unless it is told not to."""
