"""The vector dumps as a derived index: the one that answers need."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from accelerator.dump import Dump
from accelerator.errors import DumpError
from accelerator.faults import reach
from accelerator.scanner import Mode
from rag_core.domain import Finding
from rag_core.errors import StoreCorrupt
from rag_core.storage.indexes.base import DerivedIndex, IndexContext, IndexUnavailable
from rag_core.storage.indexes.comparison import Comparison
from rag_core.storage.indexes.dense import DenseIndex, Ref, Vectors, Within
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.truth import Rows

_log = logging.getLogger(__name__)


class DumpSearch(DenseIndex):
    """The scanner over memory-mapped dumps: exact, and the default. Position binds: row i is chunk i.

    rewrite: writes a document's dump anew, where one says otherwise; it is not answered from.
    """

    name = "dumps"
    label = "the dumps"
    exact = True

    def __init__(self, store: DumpStore, rewrite: Callable[[str], None] | None = None) -> None:
        self._store = store
        self._rewrite = rewrite

    def find(
        self, queries: Vectors, k: int, within: Within | None, scan: Mode = "auto"
    ) -> list[tuple[list[Ref], Vectors]]:
        """See the base class; many queries go through the rows in one pass."""
        selection = within.selection if within is not None else None
        if len(queries) == 1:
            found = [self._store.search(queries[0], k, scan, selection)]
        else:
            found = self._store.search_many(queries, k, scan, selection)
        return [([(match.key, match.row) for match in matches], vectors) for matches, vectors in found]

    def vectors(self, refs: Sequence[Ref]) -> Vectors:
        """See the base class."""
        return self._store.vectors_at(refs)

    def check(self, ref: Ref, md5: str) -> None:
        """See the base class."""
        if self._rewrite is not None and self._store.md5(*ref) != md5:
            self._rewrite(ref[0])
            raise StoreCorrupt(f"The dump of {ref[0]} did not fit its texts and was written anew.")


class DumpIndex(DerivedIndex):
    """Writes a document's dump, and searches it once the document is ready."""

    name = "dumps"
    label = "Dumps"
    folders = ("dumps", "segments")
    needed = True
    reads_vectors = True
    serves = "dense"

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self.store = DumpStore(*(surroundings.folder / name for name in self.folders))
        self.dense = DumpSearch(self.store, self.rewrite)

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Write dumps, synced together.

        Raises StoreUnavailable, StoreCorrupt for a document without chunks, IndexUnavailable for vectors of a model
        that another server has put in the place of this one's.
        """
        profile = self._documents.profile()
        if profile is not None and not self.store.can_take(profile):
            raise IndexUnavailable(
                "Another server has re-embedded the library: start this one again, which then takes the new vectors."
            )
        for document in documents:
            if not document.chunks:
                raise StoreCorrupt(f"The document {document.id} has no chunks in PostgreSQL.")
        self.store.write_many({document.id: (document.vectors, document.md5) for document in documents})

    def acknowledged(self, ids: Sequence[str]) -> None:
        """Search documents from now on."""
        for document_id in ids:
            self.store.show(document_id)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove dumps, and rows of segments. Raises StoreUnavailable."""
        for document_id in ids:
            self.store.remove(document_id)
            reach("removal.dump")
        self.store.tombstone(ids)

    def count(self) -> int:
        """How many rows are searched."""
        return self.store.rows()

    def rebuild(self, reason: str) -> None:
        """Write every dump anew; the present ones are searched meanwhile. Raises StoreUnavailable."""
        _log.warning("Every dump file is written anew: %s", reason)
        with self.turn:
            self._take_all()

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Compare every dump with the texts' MD5 sums, vectors of a sample or all, segments, and what is found."""
        yield from self._leftovers(comparison)
        yield from self._files(comparison)
        for fault in self.store.damaged_segments():
            yield comparison.finding(self.label, "", f"A segment is damaged: {fault}")
        yield from comparison.queries(self.label, self._nearest)

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Write dumps anew from PostgreSQL, and search dumps in the place of damaged segments."""
        for finding in findings:
            try:
                if finding.document_id:
                    self.rewrite(finding.document_id)
                else:
                    self.store.repair_segments()
            except StoreCorrupt as error:
                _log.warning("A dump cannot be repaired: %s", error)
        return False

    def rewrite(self, document_id: str) -> None:
        """Write a ready document's dump anew and search it; any other's is removed.

        Raises StoreUnavailable, or StoreCorrupt where PostgreSQL itself has no chunks for it.
        """
        with self.turn:
            document = self._documents.get(document_id)
            if document is not None and document.state == "ready":
                self.store.rewrite(document_id, self._documents.vectors.of)
            elif document is None or document.state != "stored":
                self.store.remove(document_id)

    def note(self) -> str | None:
        """What happened to the compute backend."""
        return self.store.note() or None

    def describe(self) -> str:
        """What searches the dumps."""
        return self.store.describe()

    def _leftovers(self, comparison: Comparison) -> Iterator[Finding]:
        known = comparison.facts.keys()
        for document_id in self.store.held() - known:
            yield comparison.finding(self.label, document_id, "A dump file is left of a document that is gone.")
        for document_id in self.store.searched() - known:
            yield comparison.finding(self.label, document_id, "A document that is gone is still searched.")

    def _files(self, comparison: Comparison) -> Iterator[Finding]:
        with self.turn:  # held from a document's acknowledgement until it is searched
            searched = self.store.searched()
        sample = {} if comparison.deep else {rows.document_id: rows for rows in comparison.sample()}
        for ids in comparison.truth.batches(comparison.ready()):
            for rows in comparison.truth.rows(ids, vectors=comparison.deep):
                fault = self._fault(rows, sample.get(rows.document_id, rows))
                if not fault and rows.document_id not in searched:
                    fault = "The dump is not searched."
                if fault:
                    yield comparison.finding(self.label, rows.document_id, fault)

    def _fault(self, rows: Rows, sample: Rows) -> str:
        try:
            dump = self.store.open(rows.document_id)
            dump.verify()
        except StoreCorrupt as error:
            return str(error)
        except DumpError as error:
            return f"The dump file {str(error).removeprefix(f'{dump.path} ')}."
        return _hashes_fault(dump, rows) or _vectors_fault(dump, sample)

    def _nearest(self, query: NDArray[np.float32]) -> float:
        try:
            found, _ = self.store.search(query, 1)
        except StoreCorrupt:  # its document went in this moment
            return 1.0
        return found[0].score if found else 0.0


def _hashes_fault(dump: Dump, rows: Rows) -> str:
    """How a dump differs from a document's texts, row for row."""
    if len(dump) != len(rows.hashes):
        return f"The dump has {len(dump)} rows instead of {len(rows.hashes)}."
    if dump.hashes.shape != rows.hashes.shape:
        return "The dump holds another kind of hash."
    wrong = np.flatnonzero((dump.hashes != rows.hashes).any(axis=1))
    return f"Row {wrong[0] + 1} of the dump is of another text than chunk {wrong[0] + 1}." if len(wrong) else ""


def _vectors_fault(dump: Dump, rows: Rows) -> str:
    if rows.vectors is None:
        return ""
    wrong = np.flatnonzero((dump.vectors[rows.indexes] != rows.vectors).any(axis=1))
    number = rows.indexes[wrong[0]] + 1 if len(wrong) else 0
    return f"Row {number} of the dump is not the vector of chunk {number}." if number else ""
