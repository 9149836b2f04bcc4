"""pgvector's HNSW graph inside PostgreSQL, for libraries whose setting `retrieval.index` asks for it.

Its vectors are in a table of its own, so that adding waits for no graph: it follows in the background like the others
(Malkov and Yashunin 2018, as pgvector builds it). Servers that share a database have one: each follows the log, and
passes over what another one has put there.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import TupleRow

from accelerator.faults import reach
from accelerator.scanner import Mode
from rag_core.domain import Finding
from rag_core.settings import Settings
from rag_core.storage.indexes.base import DerivedIndex, IndexContext, IndexUnavailable
from rag_core.storage.indexes.comparison import Comparison, first_cosine
from rag_core.storage.indexes.dense import Ref, TruthSearch, Vectors, Within, stacked
from rag_core.storage.postgres.changes import queue
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.database import Database
from rag_core.storage.postgres.documents import DocumentStore

_log = logging.getLogger(__name__)
_MOST_DIMENSIONS = 2000  # that pgvector takes into a graph
_EF_SEARCH = 200  # candidates that are kept in mind on the way through the graph, 1 to 1,000
_SPARED = 1 / 8  # of the chunks that are much alike an approximate graph may lead past a few
# Any number that no other program is likely to use.
_WRITING = 0x4C65637A
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


class HnswIndex(DerivedIndex):
    """The table `hnsw_chunks` with its graph."""

    name = "hnsw"
    label = "HNSW"
    serves = "dense"
    lull_s = 2.0
    reads_vectors = True

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self._database = surroundings.database
        self.dense = HnswSearch(self, surroundings.database, surroundings.documents)
        self._is_prepared = False

    @classmethod
    def is_kept(cls, settings: Settings) -> bool:
        """Where it is what a search asks by default."""
        return settings.retrieval.index == cls.name

    def prepare(self) -> None:
        """Begin anew where the table is not there, is of other vectors, or has not the chunks that it took."""
        profile = self._documents.profile()
        if profile is None or (self._is_prepared and self._dimensions() == profile.dimensions):
            return
        if profile.dimensions > _MOST_DIMENSIONS:
            raise IndexUnavailable(f"pgvector takes vectors of at most {_MOST_DIMENSIONS} dimensions into a graph.")
        with self.turn:
            if self._dimensions() != profile.dimensions:
                self.rebuild("there is no table for these vectors yet")
            elif self.count() < self._documents.followed(self.name)[0]:
                self.rebuild("chunks were missing")
            self._is_prepared = True

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Take documents' vectors in the place of those that it has of them. Raises StoreUnavailable."""
        with self._writing() as connection:
            ids = [document.id for document in documents]
            held = {row[0] for row in connection.execute(_HELD, (ids,))} if self._database.is_shared else set()
            rows = [
                (document.id, chunk.index, vector)
                for document in documents
                if document.id not in held
                for chunk, vector in zip(document.chunks, document.vectors, strict=True)
            ]
            _delete(connection, [key for key in ids if key not in held])
            connection.cursor().executemany("INSERT INTO hnsw_chunks VALUES (%s, %s, %s)", rows)
        reach("hnsw.put")

    def remove(self, ids: Sequence[str]) -> None:
        """Let documents go. Raises StoreUnavailable."""
        if self._dimensions() is not None:
            with self._writing() as connection:
                _delete(connection, ids)

    def count(self) -> int:
        """How many chunks it holds."""
        row = self._database.row("SELECT count(*) FROM hnsw_chunks") if self._dimensions() is not None else None
        return row[0] if row else 0

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Compare chunks and vectors, all of them or a sample's, and ask with chunks' own vectors."""
        if self._dimensions() is None:
            yield comparison.finding(self.label, "", "There is no table yet.")
            return
        waiting = self._log.waiting_ids(self.name)
        wrong = set(waiting)
        for document_id, message in self._differing(comparison, waiting):
            wrong.add(document_id)
            yield comparison.finding(self.label, document_id, message)
        if not wrong:
            yield from comparison.queries(self.label, self._nearest, spared=_SPARED)

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Take the documents of findings again, or all of them anew where it is as a whole that it is wrong."""
        ids = {finding.document_id for finding in findings}
        if "" in ids:
            self.rebuild(next(finding.message for finding in findings if not finding.document_id))
            return True
        with self.turn:
            known = self._documents.ready(ids).keys()
            self._log.queue([self.name], known)
            self.remove(sorted(ids - known))
        return False

    def rebuild(self, reason: str) -> None:
        """Begin anew, empty. Raises StoreUnavailable."""
        profile = self._documents.profile()
        with self.turn:
            _log.warning("The HNSW graph is made anew: %s", reason)
            with self._database.transaction() as connection:
                queue(connection, None, [self.name])  # every server's: it is all of theirs
            reach("rebuild.hnsw_queued")
            with self._writing() as connection:
                connection.execute("DROP TABLE IF EXISTS hnsw_chunks")
                if profile is not None:
                    connection.execute(
                        "CREATE TABLE hnsw_chunks (document_id text, index int,"
                        f" vector vector({profile.dimensions}), PRIMARY KEY (document_id, index))".encode()
                    )
                    connection.execute("CREATE INDEX ON hnsw_chunks USING hnsw (vector vector_cosine_ops)")

    @contextmanager
    def _writing(self) -> Iterator[psycopg.Connection[TupleRow]]:
        """A transaction of the one server that writes to it."""
        with self._database.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_WRITING,))
            yield connection

    def describe(self) -> str:
        """Where it is and what it holds."""
        return f"pgvector's graph of {self.count():,} chunks"

    def _dimensions(self) -> int | None:
        """Of the vectors that its table takes; None where there is none."""
        row = self._database.row(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass('hnsw_chunks') AND attname = 'vector'"
        )
        return row[0] if row else None

    def _differing(self, comparison: Comparison, waiting: Collection[str]) -> Iterator[tuple[str, str]]:
        """Documents whose rows are not their chunks, and those that are gone, each with what is wrong."""
        counted = self._database.rows("SELECT document_id, count(*) FROM hnsw_chunks GROUP BY document_id")
        held: dict[str, int] = {row[0]: row[1] for row in counted}
        for document_id in sorted(held.keys() - comparison.facts.keys() - set(waiting)):
            yield document_id, "It holds chunks of a document that is gone."
        ready = [item for item in comparison.ready() if item.id not in waiting]
        fewer = {item.id for item in ready if held.get(item.id, 0) != item.chunk_count}
        yield from ((document_id, "It does not hold the document's chunks.") for document_id in sorted(fewer))
        among = (
            comparison.truth.rows([item.id for item in ready], vectors=True) if comparison.deep else comparison.sample()
        )
        for rows in among:
            if rows.document_id in fewer or rows.document_id in waiting or rows.vectors is None:
                continue
            kept = self._vectors(rows.document_id, rows.indexes)
            if kept.shape != rows.vectors.shape or (kept != rows.vectors).any():
                yield rows.document_id, "A vector of the document is another."

    def _vectors(self, document_id: str, indexes: Sequence[int]) -> NDArray[np.float32]:
        rows = self._database.rows(
            "SELECT vector FROM hnsw_chunks WHERE document_id = %s AND index = ANY(%s) ORDER BY index",
            (document_id, list(indexes)), binary=True,
        )  # fmt: skip
        return np.stack([row[0].to_numpy() for row in rows]) if rows else np.empty((0, 0), np.float32)

    def _nearest(self, query: NDArray[np.float32]) -> float:
        refs, vectors = self.dense.find(query[np.newaxis], 1, None)[0] if self.dense else ([], np.empty(0))
        return first_cosine(query, [(*refs[0], vectors[0])] if refs else [])


def _delete(connection: psycopg.Connection[TupleRow], ids: Sequence[str]) -> None:
    connection.execute("DELETE FROM hnsw_chunks WHERE document_id = ANY(%s)", (list(ids),))
