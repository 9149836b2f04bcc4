"""The library's documents in other chunks than its own, for the evaluation to try a way of cutting.

They are embedded from the stored pages into dumps of their own below the library's folder, one for each document and
its pieces beside it, so that whoever is stopped goes on where it was, and a second run finds them ready. What lies
within a chunk that the user left out is left out of them too; texts corrected by hand are there as they were read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from accelerator.errors import DumpError
from rag_core.chunking import chunk_document
from rag_core.domain import Chunk, ChunkEdit, Document, Page, ParsedDocument, Scope
from rag_core.embedding import Embedder
from rag_core.errors import LecternError, LimitExceeded
from rag_core.retrieval import Pipeline, Rerankers, Retrieval
from rag_core.retrieval.memory_lexical import MemoryLexical
from rag_core.retrieval.tried_indexes import TriedIndexes, spans_of
from rag_core.services.kept_pieces import KeptPieces
from rag_core.services.search import NO_SCOPE, Spans, search_pipeline
from rag_core.settings import ChunkingSettings, RetrievalSettings
from rag_core.storage import Storage
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.pieces import kept_form
from rag_core.text.context import context_of, embedded_text

FOLDER = "evaluation"
# Chunkings that stay on the disk for good; another is embedded again when it is tried again.
_KEPT = 4
_IN_USE_S = 24 * 3600


class TriedChunks:
    """The library's documents in other chunks, whose vectors are kept in `folder`."""

    def __init__(
        self,
        storage: Storage,
        embedder: Embedder,
        chunking: ChunkingSettings,
        min_free_bytes: int,
        rerankers: Rerankers | None = None,
    ) -> None:
        self._storage = storage
        self._embedder = embedder
        self._chunking = chunking
        self._min_free_bytes = min_free_bytes
        self._documents: dict[str, Document] = {}
        self._chunks: dict[str, list[Chunk]] = {}
        self._labels: dict[tuple[str, int], str] = {}
        self._lexical = MemoryLexical()
        name = f"{embedder.profile.id} {chunking.key}"
        self.folder = storage.folder / FOLDER / hashlib.sha256(name.encode()).hexdigest()[:16]
        self._dumps = DumpStore(self.folder)
        self._dumps.use(embedder.profile)
        self._kept = KeptPieces(self.folder)
        self._pieces: dict[str, Sequence[bytes | None]] = {}
        tried = TriedIndexes(storage, self._dumps, self._lexical, self._chunks, self._labels, self._pieces)
        self._pipeline = Pipeline(tried, rerankers)

    def prepare(self, stopped: Callable[[], bool]) -> Iterator[tuple[int, int]]:
        """Chunk and embed the documents that are not yet, telling documents done and in all.

        Raises Cancelled, LimitExceeded (the disk), ModelUnavailable, StoreUnavailable.
        """
        documents = self._storage.documents
        self._documents = documents.some(list(documents.ready_ids()))
        for number, document in enumerate(self._documents.values(), start=1):
            if documents.ready({document.id}):  # or it was removed since
                self._add(document, stopped)
            yield number, len(self._documents)
        for document_id in self._dumps.held() - set(documents.ready_ids()):
            self._dumps.remove(document_id)
            self._kept.remove(document_id)
        _keep_newest(self.folder)

    def search(self, questions: Sequence[str], settings: RetrievalSettings, scope: Scope = NO_SCOPE) -> list[Retrieval]:
        """The hits for each question. Raises ModelUnavailable, StoreUnavailable."""
        return search_pipeline(self._pipeline, self._embedder, questions, settings, scope)

    def spans(self, ids: Sequence[str]) -> Spans:
        """Page, begin and end of every chunk of some documents, int64 (chunks, 3) by document."""
        return {
            document_id: spans_of(chunks)
            for document_id in ids
            if (chunks := self._chunks.get(document_id)) is not None
        }

    def _add(self, document: Document, stopped: Callable[[], bool]) -> None:
        pages = self._storage.documents.pages(document.id)
        cut = chunk_document(
            document.id, _parsed(document, pages), self._chunking, self._embedder.count_tokens, self._embedder.encode
        )
        left_out = [edit for edit in self._storage.documents.edits.of(document.id) if edit.left_out and edit.in_place]
        kept = (chunk for chunk in cut if not any(_is_within(chunk, edit) for edit in left_out))
        chunks = [replace(chunk, index=index) for index, chunk in enumerate(kept)]
        self._chunks[document.id] = chunks
        self._labels.update(((document.id, page.number), page.label) for page in pages)
        pieces = self._kept.read(document.id, len(chunks)) if self._fits(document.id, chunks) else None
        if pieces is None:
            if shutil.disk_usage(self.folder).free < self._min_free_bytes:
                raise LimitExceeded("The disk is nearly full: other chunks cannot be tried.", help="Make room on it.")
            contexts = [context_of(document.found_title, chunk.section) for chunk in chunks]
            texts = [embedded_text(chunk.text, chunk.index) for chunk in chunks]
            vectors, found = self._embedder.encode_with_pieces(texts, contexts, cancelled=stopped)
            pieces = [kept_form(rows) for rows in found]
            self._kept.write(document.id, found)
            self._dumps.write(document.id, vectors, [chunk.md5 for chunk in chunks])
        self._pieces[document.id] = pieces
        self._dumps.show(document.id)
        held = ((chunk.index, chunk.section, chunk.text) for chunk in chunks)
        self._lexical.add(document.id, document.title, document.main_language, held)

    def _fits(self, document_id: str, chunks: Sequence[Chunk]) -> bool:
        """Whether a dump of an earlier run holds these very chunks."""
        if document_id not in self._dumps.held():
            return False
        try:
            dump = self._dumps.open(document_id)
            dump.verify()
        except (LecternError, DumpError):
            return False
        return [bytes(row).hex() for row in dump.hashes] == [chunk.md5 for chunk in chunks]


def _is_within(chunk: Chunk, edit: ChunkEdit) -> bool:
    return chunk.page == edit.page and edit.start <= chunk.start and chunk.end <= edit.end


def _parsed(document: Document, pages: Sequence[Page]) -> ParsedDocument:
    return ParsedDocument(
        media_type=document.media_type, pages=tuple(pages), title=document.found_title, sections=document.sections
    )


def forget(storage: Storage, document_id: str) -> None:
    """Remove what was embedded of a removed document to try other chunkings."""
    for folder in (storage.folder / FOLDER).glob("*/"):
        DumpStore(folder).remove(document_id)
        KeptPieces(folder).remove(document_id)


def _keep_newest(folder: Path) -> None:
    """Remove the chunkings that were not tried for longest, save those of today: another run may be at them."""
    os.utime(folder)
    tried = sorted(((path.stat().st_mtime, path) for path in folder.parent.iterdir()), reverse=True)
    for moment, path in tried[_KEPT:]:
        if moment < time.time() - _IN_USE_S:
            shutil.rmtree(path, ignore_errors=True)
