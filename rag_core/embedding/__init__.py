"""Texts to vectors."""

from rag_core.embedding.base import Embedder
from rag_core.embedding.opening import open_embedder

__all__ = ["Embedder", "open_embedder"]
