"""What a configuration is tested on: the library as it is, or its documents in other chunks.

The second are embedded from the stored pages into dumps of their own below the library's folder, one for each document
and its pieces beside it, so that whoever is stopped goes on where it was, and a second run finds them ready. What lies
within a chunk that the user left out is left out of them too; texts corrected by hand are there as they were read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from accelerator.errors import DumpError
from rag_core.chunking import chunk_document
from rag_core.domain import Chunk, ChunkEdit, Document, Page, ParsedDocument, Scope
from rag_core.embedding import Embedder
from rag_core.embedding.processor import usable_cores
from rag_core.errors import LecternError, LimitExceeded, StoreUnavailable
from rag_core.retrieval import LibraryIndexes, Pipeline, Query, Rerankers, Retrieval
from rag_core.retrieval.acronyms import written_out
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.hierarchy.rewriting import Rewritten, Write, rewritten
from rag_core.retrieval.hierarchy.search import Focus
from rag_core.retrieval.memory_lexical import MemoryLexical
from rag_core.retrieval.neighbours import with_texts_beside
from rag_core.retrieval.other_chunks import OtherChunks, spans_of
from rag_core.retrieval.spelling import corrected
from rag_core.retrieval.tables import TableCache
from rag_core.retrieval.understanding import is_asking, looked_for, understand
from rag_core.services.kept_pieces import KeptPieces
from rag_core.settings import ChunkingSettings, RetrievalSettings
from rag_core.storage import Storage
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.pieces import kept_form
from rag_core.text.context import context_of, embedded_text
from rag_core.text.languages import language_of
from rag_core.text.terms import terms
from rag_core.text.tokens import tokens

FOLDER = "evaluation"
# Chunkings that stay on the disk for good; another is embedded again when it is tried again.
_KEPT = 4
_IN_USE_S = 24 * 3600
_TRIES = 3  # a search amid which the model changes, which it does once in a long while
Spans = dict[str, NDArray[np.int64]]
NO_SCOPE = Scope()
_NEAR = RetrievalSettings(k=50, rerank="none")  # what a question's words may stand for


class SearchService:
    """The library as it is. `write` is the model that writes SCALER's new questions."""

    def __init__(
        self,
        storage: Storage,
        embedder: Callable[[], Embedder],
        rerankers: Rerankers | None = None,
        write: Write = lambda question, summaries: "",
    ) -> None:
        self._storage = storage
        self._embedder = embedder
        self._rerankers = rerankers
        self._indexes = LibraryIndexes(storage, self._rewriter(write))
        self._pipeline = Pipeline(self._indexes, rerankers)
        self._tables = TableCache(storage)
        # More searches at once than cores would each wait for Python's lock: a third fewer are done in the same time.
        self._turns = threading.BoundedSemaphore(usable_cores())

    def written_by(self, write: Write) -> SearchService:
        """The same library, whose new questions another model writes."""
        other = copy(self)
        other._indexes = self._indexes.rewritten_by(self._rewriter(write))
        other._pipeline = Pipeline(other._indexes, self._rerankers)
        return other

    def _rewriter(self, write: Write) -> Callable[[str, Focus], Rewritten]:
        return lambda question, focus: rewritten(question, focus, write, self._embedder().encode_query)

    def prepare(self, stopped: Callable[[], bool]) -> Iterator[tuple[int, int]]:
        """Nothing: it is ready."""
        return iter(())

    def search(self, questions: Sequence[str], settings: RetrievalSettings, scope: Scope = NO_SCOPE) -> list[Retrieval]:
        """The hits for each question, searched in one pass. Raises StoreUnavailable, ModelUnavailable."""
        for _ in range(_TRIES):
            epoch = self._storage.epoch.now()
            try:
                with self._turns:
                    found = searched(self._pipeline, self._embedder(), questions, settings, scope)
            # Where the model changed amid a search, a question's vector does not fit those of the chunks.
            except (LecternError, ValueError, psycopg.DataError):
                if not self._storage.epoch.passed(epoch):
                    raise
            else:
                if not self._storage.epoch.passed(epoch):
                    return found
        raise StoreUnavailable("The library's model is being changed.", help="Ask again in a moment.")

    def with_texts_beside(self, found: Retrieval, scope: Scope) -> Retrieval:
        """What was found in a scope, each hit with the texts before and behind it. Raises StoreUnavailable."""
        return replace(found, hits=with_texts_beside(found.hits, scope, self._indexes))

    def understood(self, question: str, scope: Scope | None = None) -> str:
        """A question with its misspelt words put right by the library's own, and its acronyms written out."""

        def is_word(word: str) -> bool:
            return is_asking(word) or self._embedder().count_tokens([word])[0] == 1

        def near(text: str) -> list[str]:
            try:
                (found,) = self.search([text], _NEAR, scope or NO_SCOPE)
            except StoreUnavailable:  # whoever asks is told by the search itself
                return []
            return [hit.text for hit in found.hits]

        def cosine(one: str, other: str) -> float:
            vectors = self._embedder().encode_first([one, other])
            return float(vectors[0] @ vectors[1])

        languages = self._indexes.languages()
        language = language_of(question, next(iter(languages), "en"), languages)
        seen = self._indexes.seen(scope or NO_SCOPE)
        put_right = corrected(
            question, lambda term: self._indexes.holds(term, seen), lambda term: self._indexes.like(term, seen),
            is_word, language,
        )  # fmt: skip
        return written_out(put_right, near, cosine)

    def unknown(self, question: str) -> list[str]:
        """The words that a question looks for and no document holds, in no language of the documents."""
        wanted = looked_for(question, understand(question))
        languages = self._indexes.languages()
        own = language_of(question, next(iter(languages), "en"), languages)
        words = dict.fromkeys(wanted[token.start : token.end] for token in tokens(wanted))
        forms = {word: {term for one in (own, *languages) for term in terms(word, one)} for word in words}
        asked = [word for word in words if languages and terms(word, own) and not is_asking(word)]
        lacking = self._indexes.unknown([forms[word] for word in asked])
        return [word for word, lacks in zip(asked, lacking, strict=True) if lacks]

    def lacking(self, scope: Scope) -> str:
        """What to say where no document of a scope has a section that it names; "" else. Raises StoreUnavailable."""
        return self._indexes.lacking(scope)

    def contents(self, scope: Scope) -> Contents:
        """Whole documents within a scope."""
        return Contents(self._storage, self._pipeline.indexes, self._tables, scope)

    def spans(self, ids: Sequence[str]) -> Spans:
        """Page, begin and end of every chunk of some documents, int64 (chunks, 3) by document."""
        return self._storage.documents.spans(ids)


class Rechunked:
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
        others = OtherChunks(storage, self._dumps, self._lexical, self._chunks, self._labels, self._pieces)
        self._pipeline = Pipeline(others, rerankers)

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
        return searched(self._pipeline, self._embedder, questions, settings, scope)

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


def searched(
    pipeline: Pipeline, embedder: Embedder, questions: Sequence[str], settings: RetrievalSettings, scope: Scope
) -> list[Retrieval]:
    """The hits for each question in a pipeline's indexes, all with one scope."""
    indexes = pipeline.indexes
    vectors, embed_ms = embedded(embedder, [looked_for(text, understand(text)) for text in questions])
    within, seen = indexes.within(scope), indexes.seen(scope)
    meant, languages = indexes.meant(questions, seen), indexes.languages()

    def holds(term: str) -> bool:
        return indexes.holds(term, seen)

    queries = [
        Query.of(text, vector, scope, within, documents, languages, holds, embedder.languages)
        for text, vector, documents in zip(questions, vectors, meant, strict=True)
    ]
    return pipeline.search(queries, settings, embed_ms=embed_ms)


def embedded(embedder: Embedder, questions: Sequence[str]) -> tuple[NDArray[np.float32], float]:
    """The vectors of questions, float32 (n, d), and the milliseconds that one of them took."""
    started = time.perf_counter()
    if len(questions) == 1:
        vectors = embedder.encode_query(questions[0])[np.newaxis]
    else:
        vectors = embedder.encode_queries(questions)
    return vectors, (time.perf_counter() - started) * 1000 / max(1, len(questions))


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
