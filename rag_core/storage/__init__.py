"""Where the library is kept: PostgreSQL is the truth, Chroma and the dump files are made from it."""

from rag_core.storage.documents import Stored
from rag_core.storage.storage import Storage

__all__ = ["Storage", "Stored"]
