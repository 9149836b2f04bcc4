"""Indexes of the library's documents in other chunks that are tried, in memory and in dumps of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from accelerator.scanner import Mode
from rag_core.domain import Chunk, Scope
from rag_core.retrieval.indexes import Indexes
from rag_core.retrieval.rankers import Sources
from rag_core.retrieval.rankers.base import LexicalSearch
from rag_core.retrieval.scope import documents_within, narrowed
from rag_core.retrieval.section_scope import chunks_named
from rag_core.storage import Storage
from rag_core.storage.indexes.dense import Ref, Within
from rag_core.storage.indexes.dump_index import DumpSearch
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.postgres.passages import PassageRow


class TriedIndexes(Indexes):
    """Chunks of the library's documents that are kept in dumps of their own; of documents they tell what those tell."""

    def __init__(
        self,
        storage: Storage,
        dumps: DumpStore,
        lexical: LexicalSearch,
        chunks: Mapping[str, Sequence[Chunk]],
        labels: Mapping[tuple[str, int], str],
        pieces: Mapping[str, Sequence[bytes | None]],
    ) -> None:
        super().__init__(storage)
        self._dumps = dumps
        self._lexical = lexical
        self._chunks = chunks
        self._labels = labels
        self._pieces = pieces

    def sources(self, wanted: str, scan: str, notes: list[str]) -> Iterator[Sources]:
        """Their dumps alone."""
        if wanted not in ("auto", "dumps"):
            notes.append(f"Other chunks are searched in dumps, not by {wanted}.")
        yield Sources(DumpSearch(self._dumps), self._lexical, scan=cast(Mode, scan))

    def within(self, scope: Scope) -> Within | None:
        """The chunks that a scope leaves; None for all. Raises StoreUnavailable."""
        if not scope:
            return None
        documents = documents_within(self._storage.database, scope).keys() & self._chunks.keys()
        if not scope.sections:
            return narrowed({document_id: range(len(self._chunks[document_id])) for document_id in documents})
        return narrowed({
            key: chunks_named(document, scope.sections, spans_of(self._chunks[key]))
            for key, document in self.documents(documents).items()
        })  # fmt: skip

    def rows(self, refs: Sequence[Ref]) -> Mapping[Ref, PassageRow]:
        """Texts and places of those chunks that there are."""
        there = (ref for ref in refs if 0 <= ref[1] < len(self._chunks[ref[0]]))
        return {ref: self._row(self._chunks[ref[0]][ref[1]]) for ref in there}

    def holds(self, term: str, among: Collection[str] | None = None) -> bool:
        """Whether any of these chunks holds a term."""
        return self._lexical.holds(term, among)

    def holding(self, terms: Sequence[str], among: Collection[str]) -> list[Ref]:
        """Those of these chunks that hold each of some terms."""
        return self._lexical.holding(terms, among)

    def unknown(self, words: Sequence[Collection[str]]) -> list[bool]:
        """No word: these chunks are some of the library's."""
        return [False] * len(words)

    def like(self, term: str, among: Collection[str] | None = None) -> list[str]:
        """None: how a word is spelt is not looked for among these."""
        return []

    def size(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        return len(self._chunks), sum(map(len, self._chunks.values()))

    def _row(self, chunk: Chunk) -> PassageRow:
        return PassageRow(
            chunk.document_id, chunk.index, chunk.page, self._labels[chunk.document_id, chunk.page], chunk.section,
            chunk.start, chunk.end, "[]", chunk.text, chunk.md5, self._pieces[chunk.document_id][chunk.index],
        )  # fmt: skip


def spans_of(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    """Page, begin and end of chunks, int64 (chunks, 3)."""
    return np.array([(chunk.page, chunk.start, chunk.end) for chunk in chunks], np.int64).reshape(-1, 3)
