"""What is derived from PostgreSQL and can be rebuilt from it: vector dumps, Chroma, the lexical index, long tables."""

from rag_core.errors import ConfigurationError
from rag_core.storage.indexes.base import DerivedIndex
from rag_core.storage.indexes.chroma_index import ChromaIndex
from rag_core.storage.indexes.dump_index import DumpIndex
from rag_core.storage.indexes.hnsw_index import HnswIndex
from rag_core.storage.indexes.lexical import LexicalIndex
from rag_core.storage.indexes.milvus_index import MilvusIndex
from rag_core.storage.indexes.table_index import TableIndex

INDEXES: tuple[type[DerivedIndex], ...] = (DumpIndex, ChromaIndex, LexicalIndex, HnswIndex, MilvusIndex, TableIndex)
"""Every derived index that a library can have."""
DENSE = ("dumps", "pgvector", *(kind.name for kind in INDEXES if kind.serves == "dense" and not kind.needed))
"""The names by which vectors are asked for."""


def check_dense(name: str) -> None:
    """Raise ConfigurationError where no index of vectors goes by a name."""
    if name not in ("auto", *DENSE):
        raise ConfigurationError(f"There is no index of vectors called {name}.", help=f"There are: {', '.join(DENSE)}.")


__all__ = ["DENSE", "INDEXES", "ChromaIndex", "DerivedIndex", "DumpIndex", "LexicalIndex", "TableIndex", "check_dense"]
