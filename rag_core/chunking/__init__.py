"""Chunking: pages to chunks."""

from rag_core.chunking.chunk import chunk_document

__all__ = ["chunk_document"]
