"""A search of the library as it is: words put right, vectors made, then the pipeline of retrieval."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import psycopg
from numpy.typing import NDArray

from rag_core.domain import Scope
from rag_core.embedding import Embedder
from rag_core.embedding.processor import usable_cores
from rag_core.errors import LecternError, StoreUnavailable
from rag_core.retrieval import Indexes, Pipeline, Query, Rerankers, Retrieval
from rag_core.retrieval.acronyms import written_out
from rag_core.retrieval.contents import Contents
from rag_core.retrieval.hierarchy.rewriting import Rewritten, Write, rewritten
from rag_core.retrieval.hierarchy.search import Focus
from rag_core.retrieval.indexes import told_of
from rag_core.retrieval.neighbours import with_texts_beside
from rag_core.retrieval.spelling import corrected
from rag_core.retrieval.tables import TableCache
from rag_core.retrieval.understanding import is_asking, looked_for, understand
from rag_core.settings import RetrievalSettings
from rag_core.storage import Storage
from rag_core.text.languages import language_of
from rag_core.text.terms import terms
from rag_core.text.tokens import tokens

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
        self._indexes = Indexes(storage, self._rewriter(write))
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
                    found = search_pipeline(self._pipeline, self._embedder(), questions, settings, scope)
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


def search_pipeline(
    pipeline: Pipeline, embedder: Embedder, questions: Sequence[str], settings: RetrievalSettings, scope: Scope
) -> list[Retrieval]:
    """The hits for each question in a pipeline's indexes, all with one scope."""
    indexes = pipeline.indexes
    vectors, embed_ms = embed_questions(embedder, [looked_for(text, understand(text)) for text in questions])
    within = indexes.within(scope)
    seen = told_of(scope, within)
    meant, languages = indexes.meant(questions, seen), indexes.languages()

    def holds(term: str) -> bool:
        return indexes.holds(term, seen)

    queries = [
        Query.of(text, vector, scope, within, documents, languages, holds, embedder.languages)
        for text, vector, documents in zip(questions, vectors, meant, strict=True)
    ]
    return pipeline.search(queries, settings, embed_ms=embed_ms)


def embed_questions(embedder: Embedder, questions: Sequence[str]) -> tuple[NDArray[np.float32], float]:
    """The vectors of questions, float32 (n, d), and the milliseconds that one of them took."""
    started = time.perf_counter()
    if len(questions) == 1:
        vectors = embedder.encode_query(questions[0])[np.newaxis]
    else:
        vectors = embedder.encode_queries(questions)
    return vectors, (time.perf_counter() - started) * 1000 / max(1, len(questions))
