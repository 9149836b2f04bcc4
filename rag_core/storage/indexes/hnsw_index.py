"""pgvector's HNSW graph inside PostgreSQL, for libraries whose setting `retrieval.index` asks for it.

Its vectors are in a table of its own (Malkov and Yashunin 2018, as pgvector builds it).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from accelerator.scanner import Mode
from rag_core.settings import Settings
from rag_core.storage.indexes.base import IndexContext
from rag_core.storage.indexes.dense import Ref, TruthSearch, Vectors, Within, stacked
from rag_core.storage.indexes.graph_index import Connection, GraphIndex, Row
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.documents import DocumentStore

_EF_SEARCH = 200  # candidates that are kept in mind on the way through the graph, 1 to 1,000
# Of some documents those whose chunks it holds as they are.
_HELD = """
    SELECT id FROM unnest(%s::text[]) AS wanted (id) WHERE NOT EXISTS (
        SELECT FROM (SELECT index, vector FROM chunks WHERE document_id = id) c
        FULL JOIN (SELECT index, vector FROM hnsw_chunks WHERE document_id = id) h USING (index)
        WHERE c.vector IS DISTINCT FROM h.vector)
"""
_NEAREST = b"""
    SELECT document_id, index FROM hnsw_chunks
    WHERE %(keys)s::text[] IS NULL OR EXISTS (
        SELECT FROM unnest(%(keys)s::text[], %(indexes)s::int[]) AS w (key, index)
        WHERE w.key = document_id AND w.index IN (hnsw_chunks.index, -1))
    ORDER BY vector <=> %(query)s LIMIT %(k)s
"""


class HnswSearch(TruthSearch):
    """Finds in the graph, and takes the vectors from the chunks."""

    name = "hnsw"
    label = "The HNSW graph"
    exact = False

    def __init__(self, index: HnswIndex, database: Database, documents: DocumentStore) -> None:
        super().__init__(documents)
        self._index = index
        self._database = database

    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: Mode = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        """See the base class."""
        keys, indexes = within.pairs() if within is not None else (None, None)
        found = []
        for query in queries:
            with self._database.transaction() as connection:
                connection.execute(f"SET LOCAL hnsw.ef_search = {min(max(k, _EF_SEARCH), 1000)}".encode())
                connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                rows = connection.execute(_NEAREST, {"keys": keys, "indexes": indexes, "query": query, "k": k})
                refs = [(row[0], row[1]) for row in rows]
            found.append(stacked(self._documents.vectors.at(refs), len(query)))
        return found

    def lacking(self) -> int:
        """See the base class."""
        return self._index.waiting()


class HnswIndex(GraphIndex):
    """The table `hnsw_chunks` with its graph."""

    name = "hnsw"
    label = "HNSW"
    most_dimensions = 2000

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self.dense = HnswSearch(self, surroundings.database, surroundings.documents)

    @classmethod
    def is_kept(cls, settings: Settings) -> bool:
        """Where it is what a search asks by default."""
        return settings.retrieval.index == cls.name

    def count(self) -> int:
        """How many chunks it holds."""
        row = self._database.row("SELECT count(*) FROM hnsw_chunks") if self._dimensions() is not None else None
        return row[0] if row else 0

    def describe(self) -> str:
        """Where it is and what it holds."""
        return f"pgvector's graph of {self.count():,} chunks"

    def _dimensions(self) -> int | None:
        row = self._database.row(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass('hnsw_chunks') AND attname = 'vector'"
        )
        return row[0] if row else None

    def _counts(self) -> dict[str, int]:
        counted = self._database.rows("SELECT document_id, count(*) FROM hnsw_chunks GROUP BY document_id")
        return {row[0]: row[1] for row in counted}

    def _vectors(self, refs: Sequence[Ref]) -> dict[Ref, NDArray[np.float32]]:
        rows = self._database.rows(
            "SELECT document_id, index, vector FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
            " JOIN hnsw_chunks USING (document_id, index)",
            ([ref[0] for ref in refs], [ref[1] for ref in refs]), binary=True,
        )  # fmt: skip
        return {(row[0], row[1]): row[2].to_numpy() for row in rows}

    def _held(self, connection: Connection, documents: Sequence[IndexedDocument]) -> set[str]:
        return {row[0] for row in connection.execute(_HELD, ([document.id for document in documents],))}

    def _insert(self, connection: Connection, rows: Sequence[Row]) -> None:
        connection.cursor().executemany("INSERT INTO hnsw_chunks VALUES (%s, %s, %s)", rows)

    def _delete(self, connection: Connection, ids: Sequence[str]) -> None:
        connection.execute("DELETE FROM hnsw_chunks WHERE document_id = ANY(%s)", (list(ids),))

    def _make(self, connection: Connection, dimensions: int | None) -> None:
        connection.execute("DROP TABLE IF EXISTS hnsw_chunks")
        if dimensions is not None:
            connection.execute(
                "CREATE TABLE hnsw_chunks (document_id text, index int,"
                f" vector vector({dimensions}), PRIMARY KEY (document_id, index))".encode()
            )
            connection.execute("CREATE INDEX ON hnsw_chunks USING hnsw (vector vector_cosine_ops)")
