"""Re-rankers by name, and which of them a search asks."""

from rag_core.retrieval.reranking.base import Reranker
from rag_core.retrieval.reranking.choosing import AUTOMATIC, RERANKERS, Rerankers

__all__ = ["AUTOMATIC", "RERANKERS", "Reranker", "Rerankers"]
