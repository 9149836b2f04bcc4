"""Vectors of chunks in PostgreSQL: the truth that derived indexes are made from and fall back to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import StoreCorrupt
from rag_core.storage.postgres.database import Database

_WITHIN = """
    WHERE EXISTS (SELECT FROM unnest(%(keys)s::text[], %(indexes)s::int[]) AS w (key, index)
                  WHERE w.key = c.document_id AND w.index IN (c.index, -1))
"""


class VectorStore:
    """Reads vectors. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, document_id: str) -> tuple[NDArray[np.float32], list[str]]:
        """Vectors, float32 (n, d), and MD5 sums of a document's chunks in order. Raises StoreCorrupt for none."""
        rows = self._database.rows(
            "SELECT vector, md5 FROM chunks WHERE document_id = %s ORDER BY index", (document_id,), binary=True
        )
        if not rows:
            raise StoreCorrupt(f"The document {document_id} has no chunks in PostgreSQL.")
        return np.stack([row[0].to_numpy() for row in rows]).astype(np.float32), [row[1] for row in rows]

    def nearest(
        self, query: NDArray[np.float32], k: int, within: tuple[list[str], list[int]] | None = None
    ) -> list[tuple[str, int, NDArray[np.float32]]]:
        """Exact k nearest chunks by cosine among ready documents: (document id, index, vector).

        within: ids and indexes of the only chunks that are searched, all of a document's for the index -1.
        """
        wanted = "" if within is None else _WITHIN
        keys, indexes = within or ([], [])
        rows = self._database.rows(
            f"SELECT c.document_id, c.index, c.vector FROM chunks c"
            f" JOIN documents d ON d.id = c.document_id AND d.state = 'ready' {wanted}"
            f" ORDER BY c.vector <=> %(query)s, c.document_id, c.index LIMIT %(k)s".encode(),
            {"keys": keys, "indexes": indexes, "query": query, "k": k},
            binary=True,
        )
        return [(row[0], row[1], row[2].to_numpy()) for row in rows]

    def at(self, places: Sequence[tuple[str, int]]) -> list[tuple[str, int, NDArray[np.float32]]]:
        """The vectors of chunks of ready documents: (document id, index, vector), in any order."""
        rows = self._database.rows(
            "SELECT c.document_id, c.index, c.vector"
            " FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
            " JOIN chunks c USING (document_id, index)"
            " JOIN documents d ON d.id = c.document_id AND d.state = 'ready'",
            ([place[0] for place in places], [place[1] for place in places]),
            binary=True,
        )
        return [(row[0], row[1], row[2].to_numpy()) for row in rows]
