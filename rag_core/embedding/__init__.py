"""Texts to vectors."""

from rag_core.embedding.base import Embedder
from rag_core.embedding.opening import open_embedder, open_profile
from rag_core.embedding.source import PACKAGED

__all__ = ["PACKAGED", "Embedder", "open_embedder", "open_profile"]
