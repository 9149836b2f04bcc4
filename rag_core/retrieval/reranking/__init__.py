"""Re-rankers by name."""

from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.reranking.feedback import FeedbackReranker

__all__ = ["AUTOMATIC", "RERANKERS", "Reranker"]

RERANKERS: dict[str, type[Reranker]] = {reranker.name: reranker for reranker in (FeedbackReranker,)}
AUTOMATIC: tuple[str, ...] = ("feedback",)
"""Those that a hybrid search asks, in order, unless it is told not to."""
