"""One comparison of each store with PostgreSQL. Each yields findings; none writes."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from accelerator.dump import Dump
from accelerator.errors import DumpError
from rag_core.domain import Finding, Profile
from rag_core.errors import StoreCorrupt
from rag_core.storage.indexes.chroma import ChromaRows, ChromaUnavailable
from rag_core.storage.indexes.chroma_probe import ProbeStopped
from rag_core.storage.postgres.truth import Facts, Rows, Truth
from rag_core.storage.storage import Storage

# Not always the same ones: what one look misses the next may see.
_RANDOM = random.SystemRandom()
_SAMPLE = 256
_QUERIES = {False: 8, True: 64}
# Chroma's vectors have been through its arithmetic: a bit of float32 may differ.
_CHROMA_WITHIN = 1e-5
_TIE = 1e-4
# Chroma's graph is approximate: among chunks that are much alike it may lead past a few.
_SPARED = 1 / 8
# A file comes a moment before its document's row: younger ones are on their way.
_SETTLED_S = 60.0
_TEXT_BYTES = 2**20

_ADD_AGAIN = "Add the same file again: its bytes are taken for this document."
_LOST = "Remove the document and add its file again, or restore a backup."
_SERVER = "Check CHROMA_URL and the server behind it; search goes on with the dump files."
_SHARED = "Another library may share this Chroma server. Give each library a server of its own."


class Checks:
    """All comparisons over one reading of the documents' rows."""

    def __init__(self, storage: Storage, truth: Truth, documents: dict[str, Facts], deep: bool) -> None:
        self._storage = storage
        self._truth = truth
        self._documents = documents
        self._deep = deep
        self._profile = storage.documents.profile()
        self._unsound: set[str] = set()

    def run(self) -> Iterator[Finding]:
        """Every store after the other, PostgreSQL first: what it has lost itself is not held against the others."""
        yield from self._files()
        yield from self._leftovers()
        if self._profile is not None:
            yield from self._tables(self._profile)
            yield from self._dumps()
            yield from self._segments()
            yield from self._queries("Dumps", self._from_dumps)
            yield from self._queries("PostgreSQL", self._from_postgresql)
            yield from self._chroma(self._profile)

    def _finding(
        self, store: str, document_id: str, message: str, *, repairable: bool = True, help: str = ""
    ) -> Finding:
        known = self._documents.get(document_id)
        return Finding(store, document_id, known.title if known else "", message, repairable, help)

    def _ready(self) -> list[Facts]:
        """Ready documents that PostgreSQL holds whole."""
        return [d for d in self._documents.values() if d.state == "ready" and d.id not in self._unsound]

    # Files and leftovers

    def _files(self) -> Iterator[Finding]:
        held = self._storage.files.held()
        for document in self._documents.values():
            if document.state == "removing":
                continue
            size = held.get(document.id, (None, 0.0))[0]
            fault = self._file_fault(document, size)
            if fault:
                yield self._finding("Files", document.id, fault, repairable=False, help=_ADD_AGAIN)
        for document_id, (_, written) in held.items():
            if document_id not in self._documents and time.time() - written > _SETTLED_S:
                yield self._finding("Files", document_id, "An original file is left of a document that is gone.")

    def _file_fault(self, document: Facts, size: int | None) -> str:
        if size is None:
            return "The original file is missing."
        if size != document.byte_size:
            return f"The original file has {max(size, 0)} bytes instead of {document.byte_size}."
        return "" if not self._deep else self._content_fault(document)

    def _content_fault(self, document: Facts) -> str:
        digest = hashlib.sha256()
        try:
            with self._storage.files.path(document.id).open("rb") as file:
                while part := file.read(_TEXT_BYTES):
                    digest.update(part)
        except OSError as error:
            return f"The original file cannot be read: {error.strerror or error}."
        return "" if digest.hexdigest() == document.sha256 else "The original file's bytes have changed."

    def _leftovers(self) -> Iterator[Finding]:
        for document_id in self._truth.orphans():
            yield self._finding("PostgreSQL", document_id, "The outbox names a document that is gone.")
        known = self._documents.keys()
        for document_id in self._storage.dumps.held() - known:
            yield self._finding("Dumps", document_id, "A dump file is left of a document that is gone.")
        for document_id in self._storage.dumps.searched() - known:
            yield self._finding("Dumps", document_id, "A document that is gone is still searched.")

    # PostgreSQL

    def _tables(self, profile: Profile) -> Iterator[Finding]:
        ready = self._ready()
        for ids in self._truth.batches(ready):
            for document_id, *counts in self._truth.counted(ids, profile.dimensions):
                fault = _table_fault(self._documents[document_id], profile.id, *counts)
                if fault:
                    self._unsound.add(document_id)
                    yield self._finding("PostgreSQL", document_id, fault, repairable=False, help=_LOST)
            for document_id in self._truth.mistaken(ids) if self._deep else ():
                fault = "A chunk's text is not the one that its MD5 was taken of."
                yield self._finding("PostgreSQL", document_id, fault, repairable=False, help=_LOST)

    # Dumps

    def _dumps(self) -> Iterator[Finding]:
        with self._storage.relay.dumps_turn:  # held from a document's receipt until it is searched
            searched = self._storage.dumps.searched()
        sample = {} if self._deep else {rows.document_id: rows for rows in self._sample()}
        for ids in self._truth.batches(self._ready()):
            for rows in self._truth.rows(ids, vectors=self._deep):
                fault = self._dump_fault(rows, sample.get(rows.document_id, rows))
                if not fault and rows.document_id not in searched:
                    fault = "The dump is not searched."
                if fault:
                    yield self._finding("Dumps", rows.document_id, fault)

    def _segments(self) -> Iterator[Finding]:
        for fault in self._storage.dumps.damaged_segments():
            yield self._finding("Dumps", "", f"A segment is damaged: {fault}")

    def _dump_fault(self, rows: Rows, sample: Rows) -> str:
        try:
            dump = self._storage.dumps.open(rows.document_id)
            dump.verify()
        except StoreCorrupt as error:
            return str(error)
        except DumpError as error:
            return f"The dump file {str(error).removeprefix(f'{dump.path} ')}."
        return _hashes_fault(dump, rows) or _vectors_fault(dump, sample)

    def _sample(self) -> Iterator[Rows]:
        """Some chunks with their vectors, others each time."""
        return self._truth.rows_at(self._places(_SAMPLE))

    def _places(self, count: int) -> set[tuple[str, int]]:
        ready = [document for document in self._ready() if document.chunk_count]
        if not ready:
            return set()
        chosen = _RANDOM.choices(ready, [document.chunk_count for document in ready], k=count)
        return {(document.id, _RANDOM.randrange(document.chunk_count)) for document in chosen}

    # Engines

    def _queries(
        self, store: str, best: Callable[[NDArray[np.float32]], float], spared: float = 0.0
    ) -> Iterator[Finding]:
        """Ask with chunks' own vectors: each must come first, or what comes first must equal it.

        Up to a `spared` share of those that do not is no finding.
        """
        places = list(self._places(_QUERIES[self._deep]))
        missed = list(self._missed(store, best, places))
        if len(missed) > spared * len(places):
            yield from missed

    def _missed(
        self, store: str, best: Callable[[NDArray[np.float32]], float], places: Sequence[tuple[str, int]]
    ) -> Iterator[Finding]:
        for document_id, index, vector in self._storage.documents.vectors_at(places):
            length = float(np.linalg.norm(vector))
            if length and not best(vector / length) > 1 - _TIE:
                message = f"A search with the vector of chunk {index + 1} does not find it."
                mendable = store != "PostgreSQL"
                yield self._finding(store, document_id, message, repairable=mendable, help="" if mendable else _LOST)

    def _from_dumps(self, query: NDArray[np.float32]) -> float:
        try:
            found, _ = self._storage.dumps.search(query, 1)
        except StoreCorrupt:  # its document went in this moment
            return 1.0
        return found[0].score if found else 0.0

    def _from_postgresql(self, query: NDArray[np.float32]) -> float:
        return _cosine(query, self._storage.documents.nearest(query, 1))

    def _from_chroma(self, query: NDArray[np.float32]) -> float:
        if self._profile is None:
            return 1.0
        return _cosine(query, self._storage.documents.vectors_at(self._storage.chroma.nearest(self._profile, query, 1)))

    # Chroma

    def _chroma(self, profile: Profile) -> Iterator[Finding]:
        own = self._storage.chroma.folder is not None
        with self._storage.relay.chroma_turn:
            try:
                fault = self._storage.guard.judge(again=self._deep).fault
                if not fault:
                    yield from self._chroma_rows(profile, own)
                    return
            except ProbeStopped:
                return
            except ChromaUnavailable as error:
                fault = str(error)
        help = "" if own else _SERVER
        yield self._finding("Chroma", "", f"The index cannot be used: {fault}", repairable=own, help=help)

    def _chroma_rows(self, profile: Profile, own: bool) -> Iterator[Finding]:
        difference = self._storage.guard.compare({document.id for document in self._ready()})
        for document_id, missing in difference.missing.items():
            yield self._finding("Chroma", document_id, f"{missing} chunks are missing.")
        for document_id, count in difference.strays.items():
            message = f"{count} rows belong to no chunk of the library."
            mendable = own or document_id in self._documents
            yield self._finding(
                "Chroma", document_id or "?", message, repairable=mendable, help="" if mendable else _SHARED
            )
        behind = self._truth.waiting("chroma") | difference.missing.keys()
        yield from self._chroma_content(profile, behind)
        # While rows are missing their own vectors cannot find them.
        if not behind:
            yield from self._queries("Chroma", self._from_chroma, _SPARED)

    def _chroma_content(self, profile: Profile, behind: Collection[str]) -> Iterator[Finding]:
        """Texts and vectors read back: all of them, or those of a sample."""
        if not self._deep:
            yield from self._chroma_faults(profile, [rows for rows in self._sample() if rows.document_id not in behind])
            return
        for ids in self._truth.batches([document for document in self._ready() if document.id not in behind]):
            yield from self._chroma_faults(profile, list(self._truth.rows(ids, vectors=True)))

    def _chroma_faults(self, profile: Profile, batch: list[Rows]) -> Iterator[Finding]:
        wanted = [f"{rows.document_id}:{index}" for rows in batch for index in rows.indexes]
        for rows, held in zip(batch, _parted(self._storage.chroma.rows(profile, wanted), batch), strict=True):
            fault = _chroma_fault(rows, held)
            if fault:
                yield self._finding("Chroma", rows.document_id, fault)


def _table_fault(document: Facts, profile: str, pages: int, chunks: int, wrong: int) -> str:
    if document.profile != profile:
        return "Its vectors were made by another embedding model."
    if pages != document.page_count:
        return f"It has {pages} pages instead of {document.page_count}."
    if chunks != document.chunk_count or not chunks:
        return f"It has {chunks} chunks instead of {document.chunk_count}."
    return f"{wrong} chunks have a wrong index, page, MD5 or width." if wrong else ""


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


def _parted(held: ChromaRows, batch: list[Rows]) -> Iterator[dict[int, tuple[NDArray[np.float32], str]]]:
    """What Chroma holds for each document of a batch: vector and text by index."""
    parts: dict[str, dict[int, tuple[NDArray[np.float32], str]]] = {rows.document_id: {} for rows in batch}
    for row, vector, text in zip(held.ids, held.vectors, held.texts, strict=True):
        document_id, _, index = row.rpartition(":")
        parts[document_id][int(index)] = (vector, text)
    return iter(parts.values())


def _chroma_fault(rows: Rows, held: dict[int, tuple[NDArray[np.float32], str]]) -> str:
    if rows.vectors is None or len(held) < len(rows.indexes):
        return "Chunks cannot be read back."
    for index, vector, md5 in zip(rows.indexes, rows.vectors, rows.hashes, strict=True):
        kept, text = held[index]
        if not np.allclose(kept, vector, rtol=0, atol=_CHROMA_WITHIN):
            return f"The vector of chunk {index + 1} is another."
        if hashlib.md5(text.encode(), usedforsecurity=False).digest() != md5.tobytes():
            return f"The text of chunk {index + 1} is another."
    return ""


def _cosine(query: NDArray[np.float32], found: Sequence[tuple[str, int, NDArray[np.float32]]]) -> float:
    """The cosine of what was found first. query: float32 (d,) of unit length."""
    if not found:
        return 0.0
    vector = found[0][2]
    return float(query @ vector / max(float(np.linalg.norm(vector)), 1e-12))
