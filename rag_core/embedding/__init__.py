"""Texts to vectors."""

from rag_core.embedding.base import Embedder
from rag_core.embedding.opening import open_embedder, open_profile
from rag_core.embedding.reader import Reader, open_reader
from rag_core.embedding.source import PACKAGED

__all__ = ["PACKAGED", "Embedder", "Reader", "open_embedder", "open_profile", "open_reader"]
