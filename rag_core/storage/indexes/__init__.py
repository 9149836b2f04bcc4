"""What is derived from PostgreSQL and can be rebuilt from it: vector dumps, Chroma, the lexical index."""

from rag_core.storage.indexes.base import DerivedIndex
from rag_core.storage.indexes.chroma_index import ChromaIndex
from rag_core.storage.indexes.dump_index import DumpIndex
from rag_core.storage.indexes.lexical import LexicalIndex

INDEXES: tuple[type[DerivedIndex], ...] = (DumpIndex, ChromaIndex, LexicalIndex)
"""Every derived index of a library."""

__all__ = ["INDEXES", "ChromaIndex", "DerivedIndex", "DumpIndex", "LexicalIndex"]
