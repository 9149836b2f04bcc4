"""A graph of the vectors outside this process, which servers that share a database have in common.

It follows in the background, so that adding waits for no graph. Each server follows the log, and passes over what
another one has put there. An engine is a subclass that says where its rows are and finds among them.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import TupleRow

from accelerator.faults import reach
from rag_core.domain import Finding
from rag_core.storage.indexes.base import DerivedIndex, IndexContext, IndexUnavailable
from rag_core.storage.indexes.comparison import Comparison, first_cosine
from rag_core.storage.indexes.dense import Ref
from rag_core.storage.postgres.changes import queue
from rag_core.storage.postgres.contents import IndexedDocument

_log = logging.getLogger(__name__)
_SPARED = 1 / 8  # of the chunks that are much alike an approximate graph may lead past a few
# Any number that no other program is likely to use.
_WRITING = 0x4C65637A
Connection = psycopg.Connection[TupleRow]
Row = tuple[str, int, NDArray[np.float32]]


class GraphIndex(DerivedIndex):
    """Rows of document, index and vector with a graph over them."""

    serves = "dense"
    lull_s = 2.0
    reads_vectors = True
    most_dimensions: ClassVar[int]
    """Of the vectors that it takes."""

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self._database = surroundings.database
        self._is_prepared = False

    @abstractmethod
    def _dimensions(self) -> int | None:
        """Of the vectors that it was made for; None where there is nothing yet."""

    @abstractmethod
    def _counts(self) -> Mapping[str, int]:
        """How many rows it has of each document."""

    @abstractmethod
    def _vectors(self, refs: Sequence[Ref]) -> dict[Ref, NDArray[np.float32]]:
        """The vectors that it has of some chunks."""

    @abstractmethod
    def _held(self, connection: Connection, documents: Sequence[IndexedDocument]) -> set[str]:
        """Those that it holds as they are."""

    @abstractmethod
    def _insert(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Take rows of documents that it has none of."""

    @abstractmethod
    def _delete(self, connection: Connection, ids: Sequence[str]) -> None:
        """Let go of the rows of documents."""

    @abstractmethod
    def _make(self, connection: Connection, dimensions: int | None) -> None:
        """Let go of everything, and begin for vectors of so many dimensions."""

    def prepare(self) -> None:
        """Begin anew where it is not there, is of other vectors, or has not the chunks that it took."""
        profile = self._documents.profile()
        if profile is None or (self._is_prepared and self._dimensions() == profile.dimensions):
            return
        if profile.dimensions > self.most_dimensions:
            raise IndexUnavailable(f"{self.label} takes vectors of at most {self.most_dimensions} dimensions.")
        with self.turn:
            if self._dimensions() != profile.dimensions:
                self.rebuild("there is none for these vectors yet")
            elif self.count() < self._documents.followed(self.name)[0]:
                self.rebuild("chunks were missing")
            self._is_prepared = True

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Take documents' vectors in the place of those that it has of them. Raises StoreUnavailable."""
        with self._writing() as connection:
            held = self._held(connection, documents) if self._database.is_shared else set()
            wanted = [document for document in documents if document.id not in held]
            self._delete(connection, [document.id for document in wanted])
            self._insert(
                connection,
                [
                    (document.id, chunk.index, vector)
                    for document in wanted
                    for chunk, vector in zip(document.chunks, document.vectors, strict=True)
                ],
            )
        reach("graph.put")

    def remove(self, ids: Sequence[str]) -> None:
        """Let documents go. Raises StoreUnavailable."""
        if self._dimensions() is not None:
            with self._writing() as connection:
                self._delete(connection, ids)

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Compare chunks and vectors, all of them or a sample's, and ask with chunks' own vectors."""
        try:
            yield from self._verified(comparison)
        except IndexUnavailable as error:
            yield comparison.finding(self.label, "", f"It cannot be used: {error}", repairable=False, help=error.help)

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Take the documents of findings again, or all of them anew where it is as a whole that it is wrong."""
        ids = {finding.document_id for finding in findings}
        try:
            if "" in ids:
                self.rebuild(next(finding.message for finding in findings if not finding.document_id))
                return True
            with self.turn:
                known = self._documents.ready(ids).keys()
                self._log.queue([self.name], known)
                self.remove(sorted(ids - known))
        except IndexUnavailable as error:
            _log.warning("%s cannot be repaired: %s", self.label, error)
        return False

    def rebuild(self, reason: str) -> None:
        """Begin anew, empty. Raises StoreUnavailable."""
        profile = self._documents.profile()
        with self.turn:
            _log.warning("%s is made anew: %s", self.label, reason)
            with self._database.transaction() as connection:
                queue(connection, None, [self.name])  # every server's: it is all of theirs
            reach("rebuild.graph_queued")
            with self._writing() as connection:
                self._make(connection, profile.dimensions if profile else None)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction of the one server that writes to it."""
        with self._database.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_WRITING,))
            yield connection

    def _verified(self, comparison: Comparison) -> Iterator[Finding]:
        if self._dimensions() is None:
            yield comparison.finding(self.label, "", "There is none yet.")
            return
        waiting = self._log.waiting_ids(self.name)
        wrong = set(waiting)
        for document_id, message in self._differing(comparison, waiting):
            wrong.add(document_id)
            yield comparison.finding(self.label, document_id, message)
        if not wrong:
            yield from comparison.queries(self.label, self._nearest, spared=_SPARED)

    def _differing(self, comparison: Comparison, waiting: Collection[str]) -> Iterator[tuple[str, str]]:
        """Documents whose rows are not their chunks, and those that are gone, each with what is wrong."""
        held = self._counts()
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
            refs = [(rows.document_id, index) for index in rows.indexes]
            kept = self._vectors(refs)
            if any(
                ref not in kept or (kept[ref] != vector).any() for ref, vector in zip(refs, rows.vectors, strict=True)
            ):
                yield rows.document_id, "A vector of the document is another."

    def _nearest(self, query: NDArray[np.float32]) -> float:
        refs, vectors = self.dense.find(query[np.newaxis], 1, None)[0] if self.dense else ([], np.empty(0))
        return first_cosine(query, [(*refs[0], vectors[0])] if refs else [])
