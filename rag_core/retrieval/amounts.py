"""What the amounts of passages are in, where their documents say so further up: at the head of a statement, say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_core.domain import AmountNote, Document, Hit
from rag_core.storage.postgres.passages import Passages
from rag_core.text.amounts import NAMES_SCALE, amount_notes

if TYPE_CHECKING:
    from rag_core.retrieval.indexes import Indexes

_MOST = 10_000  # documents that are remembered


class AmountNotes:
    """The notes of documents, each document's read once. Thread-safe."""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages
        self._known: dict[tuple[str, int], tuple[AmountNote, ...]] = {}

    def of(self, document: Document) -> Sequence[AmountNote]:
        """Those of a document, in order. Raises StoreUnavailable."""
        key = (document.id, document.to_recognise)  # its other pages stay as they are
        found = self._known.get(key)
        if found is None:
            pages = self._passages.pages_with(document.id, NAMES_SCALE)
            found = tuple(amount_notes(pages, document.sections, marked=document.marks_headings))
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = found
        return found


def with_amounts(hits: Sequence[Hit], indexes: Indexes) -> tuple[Hit, ...]:
    """Hits with the notes that may hold for them. Raises StoreUnavailable."""
    return tuple(replace(hit, amounts=_holding(hit, indexes.amounts(hit.document))) for hit in hits)


def _holding(hit: Hit, notes: Sequence[AmountNote]) -> tuple[AmountNote, ...]:
    """Those that begin before a hit ends and still hold where it begins."""
    return tuple(
        note
        for note in notes
        if (note.page, note.start) < (hit.page, hit.end) and (note.until is None or (hit.page, hit.start) < note.until)
    )
