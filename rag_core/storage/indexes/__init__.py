"""What is derived from PostgreSQL and can be rebuilt from it: vector dumps, Chroma, the lexical index."""

from rag_core.storage.indexes.base import DerivedIndex
from rag_core.storage.indexes.chroma_index import ChromaIndex
from rag_core.storage.indexes.dump_index import DumpIndex

INDEXES: tuple[type[DerivedIndex], ...] = (DumpIndex, ChromaIndex)
"""Every derived index of a library."""

__all__ = ["INDEXES", "ChromaIndex", "DerivedIndex", "DumpIndex"]
