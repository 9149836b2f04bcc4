"""Re-rankers by name."""

from rag_core.retrieval.reranking.base import Reranker

__all__ = ["RERANKERS", "Reranker"]

RERANKERS: dict[str, type[Reranker]] = {}
