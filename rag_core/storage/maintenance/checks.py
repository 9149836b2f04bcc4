"""Compares every store with PostgreSQL: originals and tables here, each index by its own `verify`. Writes nothing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Finding, Profile
from rag_core.storage.indexes.comparison import LOST, Comparison, first_cosine
from rag_core.storage.postgres.truth import Facts, Truth
from rag_core.storage.storage import Storage

# A file comes a moment before its document's row: younger ones are on their way.
_SETTLED_S = 60.0
_TEXT_BYTES = 2**20
_ADD_AGAIN = "Add the same file again: its bytes are taken for this document."


class Checks:
    """All comparisons over one reading of the documents' rows."""

    def __init__(self, storage: Storage, truth: Truth, documents: dict[str, Facts], deep: bool) -> None:
        self._storage = storage
        self._truth = truth
        self._profile = storage.documents.profile()
        nothing = Profile("", "", "", 0, "", "")
        self._comparison = Comparison(truth, storage.documents, documents, self._profile or nothing, deep=deep)

    def run(self) -> Iterator[Finding]:
        """Every store after the other, PostgreSQL first: what it has lost itself is not held against the indexes."""
        yield from self._files()
        if self._profile is not None:
            yield from self._tables(self._profile)
            yield from self._comparison.queries("PostgreSQL", self._nearest, lost=True)
            for index in self._storage.indexes:
                yield from index.verify(self._comparison)

    # Files

    def _files(self) -> Iterator[Finding]:
        held = self._storage.files.listing()
        documents = self._comparison.facts
        for document in documents.values():
            if document.state == "removing":
                continue
            size = held.get(document.id, (None, 0.0))[0]
            fault = self._file_fault(document, size)
            if fault:
                yield self._comparison.finding("Files", document.id, fault, repairable=False, help=_ADD_AGAIN)
        for document_id, (_, written) in held.items():
            if document_id not in documents and time.time() - written > _SETTLED_S:
                message = "An original file is left of a document that is gone."
                yield self._comparison.finding("Files", document_id, message)

    def _file_fault(self, document: Facts, size: int | None) -> str:
        if size is None:
            return "The original file is missing."
        if size != document.byte_size:
            return f"The original file has {max(size, 0)} bytes instead of {document.byte_size}."
        return "" if not self._comparison.deep else self._content_fault(document)

    def _content_fault(self, document: Facts) -> str:
        digest = hashlib.sha256()
        try:
            with self._storage.files.open(document.id) as file:
                while part := file.read(_TEXT_BYTES):
                    digest.update(part)
        except OSError as error:
            return f"The original file cannot be read: {error.strerror or error}."
        return "" if digest.hexdigest() == document.sha256 else "The original file's bytes have changed."

    # PostgreSQL

    def _tables(self, profile: Profile) -> Iterator[Finding]:
        comparison = self._comparison
        for ids in self._truth.batches(comparison.ready()):
            for document_id, *counts in self._truth.counted(ids, profile.dimensions):
                fault = _table_fault(comparison.facts[document_id], profile.id, *counts)
                if fault:
                    comparison.unsound.add(document_id)
                    yield comparison.finding("PostgreSQL", document_id, fault, repairable=False, help=LOST)
            for document_id in self._truth.mistaken(ids) if comparison.deep else ():
                fault = "A chunk's text is not the one that its MD5 was taken of."
                yield comparison.finding("PostgreSQL", document_id, fault, repairable=False, help=LOST)

    def _nearest(self, query: NDArray[np.float32]) -> float:
        return first_cosine(query, self._storage.documents.vectors.nearest(query, 1))


def _table_fault(document: Facts, profile: str, pages: int, chunks: int, wrong: int) -> str:
    if document.profile != profile:
        return "Its vectors were made by another embedding model."
    if pages != document.page_count:
        return f"It has {pages} pages instead of {document.page_count}."
    if chunks != document.chunk_count:
        return f"It has {chunks} chunks instead of {document.chunk_count}."
    return f"{wrong} chunks have a wrong index, page, MD5 or width." if wrong else ""
