"""A question to hits: candidates by cosine, then maximal marginal relevance."""

from rag_core.retrieval.retriever import Retrieval, search

__all__ = ["Retrieval", "search"]
