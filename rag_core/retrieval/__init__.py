"""A question to hits: candidates by cosine, then maximal marginal relevance."""

from rag_core.retrieval.retriever import Retrieval, diverse, search, search_many

__all__ = ["Retrieval", "diverse", "search", "search_many"]
