"""The lexical index: BM25 over the terms of every chunk, by tantivy, which is Lucene's design as a library in Rust.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with tantivy's k1 = 1.2 and
b = 0.75. Texts and questions are cut into terms by `rag_core.text`, and tantivy splits them at spaces alone, so that
both are cut alike and numbers and codes stay as they are. Its files are mapped; each commit takes effect whole.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import shutil
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import tantivy

from accelerator.atomic import write_atomically
from accelerator.faults import reach
from rag_core.domain import Finding
from rag_core.runtime.precedence import PRECEDENCE
from rag_core.storage.indexes.base import DerivedIndex, IndexContext, IndexUnavailable
from rag_core.storage.indexes.comparison import Comparison
from rag_core.storage.indexes.lexical_files import STAMP, files_fault, stamp, stamp_fault
from rag_core.storage.indexes.lexical_query import (
    FIELDS,
    Terms,
    alike,
    any_of,
    entry,
    hash_of,
    holding,
    joined,
    of_document,
    places_of,
    schema,
    token,
)  # fmt: skip
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.truth import Rows
from rag_core.text.terms import terms as terms_of

_log = logging.getLogger(__name__)
# The least that tantivy takes for one thread; it is let go of once the index has followed.
_MOST_HELD = 10_000
_HEAP_BYTES = 15_000_000
_OWN_TERMS = 32
# Chunks that are cut into terms before a question may go first: some 50 ms.
_TOGETHER = 64

Found = tuple[str, int, float]
"""Document id, index of the chunk, and BM25 score."""


class LexicalIndex(DerivedIndex):
    """Chunks by their terms, in the folder `lexical`. Searched from any thread, by what it holds at that moment."""

    name = "lexical"
    label = "Lexical index"
    folders = ("lexical",)
    reads_texts = True
    serves = "lexical"
    first_s = 0.0  # a search without words is a poor one

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self._folder = surroundings.folder / "lexical"
        self._index: tantivy.Index | None = None
        self._writer: Any = None
        self._opening = threading.RLock()
        self._judged = False
        self._rebuilt = ""

    # Searching

    def search(
        self, terms: Mapping[frozenset[str], float] | Terms, k: int, within: Collection[str] | None = None, *,
        phrases: Sequence[Terms] = (), required: Terms = (), excluded: Terms = (),
    ) -> list[Found]:  # fmt: skip
        """The k chunks of the highest score, best first: any of `terms`, each with a weight, 1 where none is given.

        A set of terms is one term in several forms, which counts by its best.

        `within` leaves only chunks of these documents. Each of `phrases` must stand there as it is, each of `required`
        anywhere in the chunk, its section or its title, and none of `excluded`. Raises IndexUnavailable.
        """
        weights: Mapping[Any, float] = terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0)
        if k < 1 or not (weights or any(phrases) or required) or (within is not None and not within):
            return []
        with self._guarded():
            query = any_of(weights, within, phrases, required, excluded)
            searcher = self._opened().searcher()
            hits = searcher.search(query, limit=k, count=False).hits
            places = places_of(searcher, [address for _, address in hits])
        return [(*place, float(score)) for place, (score, _) in zip(places, hits, strict=True)]

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Each term's inverse document frequency among the bodies of chunks, as in BM25. Raises IndexUnavailable."""
        with self._guarded():
            searcher = self._opened().searcher()
            chunks = searcher.num_docs
            held = {term: min(searcher.doc_freq("body", token(term)), chunks) for term in terms}
        return {term: math.log(1 + (chunks - n + 0.5) / (n + 0.5)) for term, n in held.items()}

    def like(self, term: str, k: int, within: Collection[str] | None = None) -> list[tuple[str, int]]:
        """At most k chunks whose bodies hold a term that is spelt much alike. Raises IndexUnavailable."""
        with self._guarded():
            searcher = self._opened().searcher()
            hits = searcher.search(alike(term, within), limit=k, count=False).hits
            return places_of(searcher, [address for _, address in hits])

    def holds(self, term: str, within: Collection[str] | None = None) -> bool:
        """Whether the body of any chunk, or of any of some documents, holds a term. Raises IndexUnavailable."""
        with self._guarded():
            searcher = self._opened().searcher()
            if within is None or not searcher.doc_freq("body", token(term)):
                return bool(searcher.doc_freq("body", token(term)))
            return bool(searcher.search(holding(term, within), limit=1, count=False).hits)

    def holding(self, terms: Sequence[str], within: Collection[str]) -> list[tuple[str, int]]:
        """Chunks of some documents that hold each of some terms, they, their section or their title, the best first, at
        most 10,000. Raises IndexUnavailable."""
        return [(document, index) for document, index, _ in self.search(terms, _MOST_HELD, within, required=terms)]

    def knows(self, term: str) -> bool:
        """Whether any chunk holds a term, or its section or title does. Raises IndexUnavailable."""
        with self._guarded():
            searcher = self._opened().searcher()
            return any(searcher.doc_freq(field, token(term)) for field in FIELDS)

    # Following

    def prepare(self) -> None:
        """Open it; begin anew where it is damaged, of other terms, or has not the chunks that it took."""
        with self.turn:
            if self._judged:
                return
            existed = self._folder.exists()
            chunks, waiting = self._documents.followed(self.name)
            fault = self._fault_on_opening()
            held = 0 if fault else self.count()
            if not fault and (held < chunks or (held > chunks and not waiting)):
                fault = f"it holds {held} chunks instead of {chunks}"
            if fault:
                self.rebuild(fault if existed or chunks else "")
            self._judged = True

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Add the chunks of documents in one commit, in the place of those that it has of them."""
        with self._writing() as writer:
            for document in documents:
                writer.delete_documents_by_term("document", document.id)
                title = joined(document.title, document.language)
                for chunk in document.chunks:
                    if chunk.index % _TOGETHER == 0:
                        PRECEDENCE.give_way()
                    writer.add_document(entry(document.id, title, document.language, chunk))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove every chunk of documents in one commit."""
        with self._writing() as writer:
            for document_id in ids:
                writer.delete_documents_by_term("document", document_id)

    def tidy(self) -> None:
        """Finish merging, and let the writer's memory go."""
        with self.turn, self._guarded(writing=True):
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.wait_merging_threads()
                self._opened().reload()

    def count(self) -> int:
        """How many chunks it holds. Raises IndexUnavailable."""
        with self._guarded():
            return int(self._opened().searcher().num_docs)

    def rebuild(self, reason: str) -> None:
        """Remove its files and have every document given to a new one. Raises IndexUnavailable, StoreUnavailable."""
        with self.turn, self._opening:
            if reason:
                _log.warning("The lexical index is rebuilt: %s", reason)
            self._take_all()
            reach("rebuild.lexical_queued")
            self._let_go()
            with _translated():
                if self._folder.is_dir() and not self._folder.is_symlink():
                    shutil.rmtree(self._folder)
                else:
                    self._folder.unlink(missing_ok=True)
                reach("rebuild.lexical_removed")
                self._folder.mkdir(mode=0o700, parents=True)
                tantivy.Index(schema(), str(self._folder))
                write_atomically(self._folder / STAMP, [json.dumps(stamp()).encode()])
            self._judged = True
            self._rebuilt = reason

    # Comparing

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Check its files' checksums, compare the MD5 of every chunk, and ask for some chunks by their own terms."""
        try:
            yield from list(self._findings(comparison))
        except IndexUnavailable as error:
            yield comparison.finding(self.label, "", str(error))

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Take documents again that differ, let go of those that are gone; begin anew where it cannot be used."""
        if not findings:
            return False
        ids = [item.document_id for item in findings]
        with self.turn:
            try:
                if all(ids):
                    known = self._documents.some(ids)
                    self.remove([document_id for document_id in ids if document_id not in known])
                    self._log.queue([self.name], ids)
                    return False
                self.rebuild("; ".join(item.message for item in findings if not item.document_id))
            except IndexUnavailable as error:
                _log.warning("The lexical index cannot be repaired: %s", error)
                return False
            return True

    def note(self) -> str | None:
        """What the user should know of a rebuild."""
        if not self._rebuilt:
            return None
        fault = "The lexical index was damaged or of another version, and"
        if waiting := self.waiting():
            return f"{fault} is being rebuilt: {waiting} documents to go."
        return f"{fault} has been rebuilt."

    def describe(self) -> str:
        """What it is and how much it holds."""
        index = self._index
        return "tantivy, not opened yet" if index is None else f"tantivy, {index.searcher().num_docs} chunks"

    def close(self) -> None:
        """Let writer and files go."""
        with self._opening:
            self._let_go()

    def _findings(self, comparison: Comparison) -> Iterator[Finding]:
        with self.turn, self._guarded():
            if not self._folder.exists() and not self._documents.followed(self.name)[0]:
                return  # it was given nothing yet
            fault = self._fault_on_opening() or files_fault(self._folder)
            if fault:
                yield comparison.finding(self.label, "", f"The index cannot be used: {fault}")
                return
            waiting = self._log.waiting_ids(self.name)
            searcher = self._opened().searcher()
            wrong = set(waiting)
            for ids in comparison.truth.batches([item for item in comparison.ready() if item.id not in waiting]):
                for rows in comparison.truth.rows(ids, vectors=False):
                    if fault := self._rows_fault(searcher, rows):
                        wrong.add(rows.document_id)
                        yield comparison.finding(self.label, rows.document_id, fault)
            for document_id in self._strays(searcher, {*comparison.facts, *waiting}):
                yield comparison.finding(self.label, document_id, "It holds chunks of a document that is gone.")
            yield from self._missed(comparison, wrong)

    def _rows_fault(self, searcher: Any, rows: Rows) -> str:
        query = of_document(rows.document_id)
        addresses = [address for _, address in searcher.search(query, limit=len(rows.indexes) + 1, count=False).hits]
        indexes = searcher.fast_field_values("index", addresses) if addresses else []
        hashes = searcher.fast_field_values("hash", addresses) if addresses else []
        held = dict(zip(indexes, hashes, strict=True))
        if len(addresses) != len(rows.indexes) or held.keys() != set(rows.indexes):
            return f"It holds {len(addresses)} chunks instead of {len(rows.indexes)}."
        wanted = zip(rows.indexes, rows.hashes, strict=True)
        wrong = [index for index, md5 in wanted if held[index] != hash_of(md5.tobytes())]
        return f"The text of chunk {wrong[0] + 1} is another." if wrong else ""

    def _strays(self, searcher: Any, known: Collection[str]) -> Iterator[str]:
        for document_id, _ in searcher.terms_with_prefix("document", ""):
            # Terms of what was removed go with the next merge.
            if document_id not in known and searcher.search(of_document(document_id), limit=1).count:
                yield document_id

    def _missed(self, comparison: Comparison, known: Collection[str]) -> Iterator[Finding]:
        """Chunks of a sample that are not found by their own terms, but for documents that are known as wrong."""
        places = [place for place in comparison.places() if place[0] not in known]
        documents = self._documents.ready({place[0] for place in places})
        for (document_id, index), (chunk, _) in self._documents.chunks_at(places).items():
            language = documents[document_id].main_language if document_id in documents else "en"
            terms = list(dict.fromkeys(terms_of(chunk.text, language)))[:_OWN_TERMS]
            limit = comparison.facts[document_id].chunk_count
            found = self.search((), limit, [document_id], required=terms) if terms else [(document_id, index, 0.0)]
            if (document_id, index) not in {place[:2] for place in found}:
                message = f"A search with the terms of chunk {index + 1} does not find it."
                yield comparison.finding(self.label, document_id, message)

    # Opening

    def _opened(self) -> tantivy.Index:
        """The index. Raises IndexUnavailable where its files cannot be used."""
        index = self._index
        if index is not None:
            return index
        with self._opening:
            if self._index is None:
                fault = stamp_fault(self._folder) or files_fault(self._folder)
                if fault:
                    raise IndexUnavailable(f"The lexical index cannot be used: {fault}.")
                # Given to others only when it is set up: setting up and being searched at once is refused.
                index = tantivy.Index(schema(), str(self._folder))
                index.config_reader("manual")
                index.reload()
                self._index = index
            return self._index

    def _fault_on_opening(self) -> str:
        try:
            with self._guarded():
                self._opened()
        except IndexUnavailable as error:
            return str(error)
        return ""

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Any]:
        """The writer, for one commit."""
        with self.turn, self._guarded(writing=True):
            if self._writer is None:
                self._writer = self._opened().writer(_HEAP_BYTES, 1)
            writer = self._writer
            yield writer
            reach("lexical.uncommitted")
            writer.commit()
            reach("lexical.committed")
            self._opened().reload()

    @contextlib.contextmanager
    def _guarded(self, *, writing: bool = False) -> Iterator[None]:
        """Tantivy's complaints as IndexUnavailable; an index that failed is looked over before it is used again."""
        try:
            with _translated():
                yield
        except IndexUnavailable:
            with self._opening:
                self._index, self._judged = None, False
                if writing:  # a writer that failed takes no more
                    self._writer = None
            raise

    def _let_go(self) -> None:
        self._writer = self._index = None
        self._judged = False


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise IndexUnavailable(f"The lexical index cannot be used: {error}") from error
    except BaseException as error:
        # A panic of Rust code is no Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexUnavailable(f"The lexical index failed: {error}") from error
