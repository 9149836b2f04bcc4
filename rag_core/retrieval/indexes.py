"""What a pipeline searches: the library's indexes, or those that an evaluation hands it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import cast

from accelerator.scanner import Mode
from rag_core.domain import AmountNote, Document, Scope
from rag_core.errors import StoreUnavailable
from rag_core.retrieval.amounts import AmountNotes
from rag_core.retrieval.hierarchy.current import CurrentHierarchy
from rag_core.retrieval.hierarchy.rewriting import Rewritten
from rag_core.retrieval.hierarchy.search import Focus
from rag_core.retrieval.identity import Cards, Meant
from rag_core.retrieval.rankers import Sources
from rag_core.retrieval.scope import documents_within, narrowed
from rag_core.retrieval.section_scope import chunks_named, has_section, lacking
from rag_core.storage import Storage
from rag_core.storage.indexes import check_dense
from rag_core.storage.indexes.dense import DenseIndex, Ref, Within
from rag_core.storage.postgres.passages import PassageRow, Passages

_LIKE = 12  # chunks that are looked through for how a word is spelt


def told_of(scope: Scope, within: Within | None) -> Collection[str] | None:
    """The documents that may tell of words and names: those of a sealed scope, None for all. within: what it leaves."""
    return within.rows.keys() if scope.sealed and within is not None else None


class Indexes:
    """The library's indexes of the same chunks, and their texts. Raises StoreUnavailable.

    Those that an evaluation tries are a subclass.
    """

    def __init__(self, storage: Storage, rewrite: Callable[[str, Focus], Rewritten] | None = None) -> None:
        self._storage = storage
        self._rewrite = rewrite
        self._passages = Passages(storage.database)
        self._cards = Cards(self._passages, self._rarities)
        self._hierarchy = CurrentHierarchy(storage.hierarchy)
        self._amounts = AmountNotes(self._passages)

    def rewritten_by(self, rewrite: Callable[[str, Focus], Rewritten]) -> Indexes:
        """The same indexes, with another way to write a question anew."""
        other = copy(self)
        other._rewrite = rewrite
        return other

    def sources(self, wanted: str, scan: str, notes: list[str]) -> Iterator[Sources]:
        """What to ask, one after the other until one can serve: what is wanted, then those that are exact.

        wanted: an index of vectors, or "auto". scan: how thoroughly the dumps are searched. `notes` are told what is
        not asked, and why.
        """
        lexical = self._storage.lexical
        behind = self._cards.counts is not None and self._cards.counts.waiting
        waiting = frozenset(self._storage.log.waiting_ids(lexical.name)) if behind else frozenset()
        for index in self._order(wanted, notes):
            yield Sources(index, lexical, self._hierarchy.get(), waiting, cast(Mode, scan), self._rewrite)

    def within(self, scope: Scope) -> Within | None:
        """The chunks that a scope leaves; None for all."""
        if not scope:
            return None
        counts = documents_within(self._storage.database, scope)
        if scope.sections:
            documents = [one for one in self.documents(counts).values() if has_section(one, scope.sections)]
            spans = self._storage.documents.spans([one.id for one in documents])
            return narrowed({
                one.id: chunks_named(one, scope.sections, spans[one.id]) for one in documents if one.id in spans
            })  # fmt: skip
        return Within(dict.fromkeys(counts), sum(counts.values()))

    def seen(self, scope: Scope) -> Collection[str] | None:
        """See `told_of`."""
        return told_of(scope, self.within(scope)) if scope.sealed else None

    def lacking(self, scope: Scope) -> str:
        """What to say where no document of a scope has a section that it names; "" else."""
        if not scope.sections:
            return ""
        return lacking([*self.documents(documents_within(self._storage.database, scope)).values()], scope.sections)

    def rows(self, refs: Sequence[Ref]) -> Mapping[Ref, PassageRow]:
        """Texts and places of those chunks that there are, by one statement."""
        return self._passages.rows(refs)

    def documents(self, ids: Collection[str]) -> Mapping[str, Document]:
        """Those of some documents that are ready."""
        return self._storage.documents.ready(ids)

    def meant(self, questions: Sequence[str], among: Collection[str] | None = None) -> list[Meant]:
        """The documents that each question means, where some are given as if there were no others."""
        self._cards.refresh()
        return [self._cards.meant(question, among) for question in questions]

    def called(self, question: str, ids: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """The names in a question by which some documents go; as of the last question."""
        return self._cards.called(question, ids)

    def amounts(self, document: Document) -> Sequence[AmountNote]:
        """The notes of a document that say what amounts are in on its pages: read once, and again when pages of it were
        recognised."""
        return self._amounts.of(document)

    def languages(self) -> list[str]:
        """The languages of the documents (ISO 639-1), the commonest first; as of the last question."""
        return self._cards.languages()

    def holds(self, term: str, among: Collection[str] | None = None) -> bool:
        """Whether any chunk of these documents, or of all, holds a term; no where the index of words cannot say."""
        try:
            return self._storage.lexical.holds(term, among)
        except StoreUnavailable:
            return False

    def holding(self, terms: Sequence[str], among: Collection[str]) -> list[Ref]:
        """Chunks of some documents that hold each of some terms; none where no index of words serves."""
        try:
            return self._storage.lexical.holding(terms, among)
        except StoreUnavailable:
            return []

    def like(self, term: str, among: Collection[str] | None = None) -> list[str]:
        """Texts of a few chunks that hold a term spelt much alike; none while documents wait for the index of words."""
        lexical = self._storage.lexical
        try:
            if self._storage.log.waiting_ids(lexical.name):
                return []
            return [row.text for row in self.rows(lexical.like(term, _LIKE, among)).values()]
        except StoreUnavailable:
            return []

    def unknown(self, words: Sequence[Collection[str]]) -> list[bool]:
        """Whether each word, given as its terms, is in no document; no while documents wait for the index of words."""
        lexical = self._storage.lexical
        try:
            if self._storage.log.waiting_ids(lexical.name):
                return [False] * len(words)
            return [not any(map(lexical.knows, forms)) for forms in words]
        except StoreUnavailable:
            return [False] * len(words)

    def size(self) -> tuple[int, int]:
        """How many documents and chunks there are; as of the last question, so that a search asks PostgreSQL once."""
        counts = self._cards.counts or self._cards.refresh()
        return counts.documents, counts.chunks

    def _rarities(self, terms: Sequence[str]) -> Mapping[str, float]:
        try:
            return self._storage.lexical.idf(terms)
        except StoreUnavailable:  # how far words are names is then not known
            return {}

    def _order(self, wanted: str, notes: list[str]) -> list[DenseIndex]:
        exact = [index for index in self._storage.dense.values() if index.exact]
        if wanted == "auto":
            return exact
        check_dense(wanted)
        asked = self._storage.dense.get(wanted)
        if asked is None:
            notes.append(f"This library does not keep {wanted}, which its setting retrieval.index asks for first.")
        elif lacking := asked.lacking():
            notes.append(f"{asked.label} lacks {lacking} documents still; {exact[0].label} answered.")
        else:
            return [asked, *(index for index in exact if index is not asked)]
        return exact
