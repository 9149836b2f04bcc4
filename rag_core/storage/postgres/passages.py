"""What a search reads of its candidates, of any number of them in one statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.domain import Box
from rag_core.storage.postgres.database import Database

_CARD_CHARS = 1_500
# The generation too: a document that is read again may begin with another page.
_DIGEST = "hashtextextended(concat_ws(' ', id, generation, title), 0)"


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A chunk as a search needs it. `boxes` is the JSON text of its boxes, which few candidates' are read of.

    `pieces` are the vectors of its pieces as `pieces_of` reads them, None where it has none.
    """

    document_id: str
    index: int
    page: int
    page_label: str
    section: str
    start: int
    end: int
    boxes: str
    text: str
    md5: str
    pieces: bytes | None = None
    corrected: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class CardRow:
    """What a document's name can be known by. `first_page` is the beginning of its first page."""

    document_id: str
    title: str
    authors: str
    sources: tuple[str, ...]
    first_page: str
    pages: int
    chunks: int
    language: str


class Passages:
    """Reads what searches need: candidates, and what documents are called. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(self, refs: Sequence[tuple[str, int]]) -> dict[tuple[str, int], PassageRow]:
        """Chunks of ready documents by document and index. Raises StoreUnavailable."""
        rows = self._database.rows(
            "SELECT c.document_id, c.index, c.page, p.label, c.section, c.span_start, c.span_end, c.boxes::text,"
            " c.text, c.md5, c.pieces, c.corrected, c.hidden"
            " FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
            " JOIN chunks c USING (document_id, index)"
            " JOIN documents d ON d.id = c.document_id AND d.state = 'ready'"
            " JOIN pages p ON p.document_id = c.document_id AND p.number = c.page",
            ([ref[0] for ref in refs], [ref[1] for ref in refs]),
            binary=True,
        )
        return {(row[0], row[1]): PassageRow(*row) for row in rows}

    def pages_with(self, document_id: str, pattern: str) -> dict[int, str]:
        """The texts of a document's pages in which a regular expression matches, in any case, by their numbers."""
        query = "SELECT number, text FROM pages WHERE document_id = %s AND text ~* %s"
        return dict(self._database.rows(query, (document_id, pattern)))

    def snapshot(self) -> str:
        """Which transactions are seen: while it stays the same, nothing at all has changed."""
        row = self._database.row("SELECT pg_current_snapshot()::text")
        return row[0] if row else ""

    def counts(self, index: str) -> tuple[int, int, int, bool, str]:
        """Ready documents, their chunks, a sum that differs when documents come, go or get another title, whether an
        index has any document to follow yet, and the snapshot that all this is of.
        """
        row = self._database.row(
            f"SELECT count(*), coalesce(sum(chunk_count), 0)::bigint, coalesce(bit_xor({_DIGEST}), 0),"
            " EXISTS (SELECT FROM index_waiting WHERE server = %s AND index_name = %s), pg_current_snapshot()::text"
            " FROM documents WHERE state = 'ready'".encode(),
            (self._database.server, index),
        )
        return row or (0, 0, 0, False, "")

    def card_digests(self) -> dict[str, int]:
        """What each ready document adds to that sum."""
        rows = self._database.rows(f"SELECT id, {_DIGEST} FROM documents WHERE state = 'ready'".encode())
        return {row[0]: row[1] for row in rows}

    def cards(self, ids: Sequence[str]) -> list[CardRow]:
        """What some documents are called."""
        rows = self._database.rows(
            "SELECT d.id, d.title, d.authors, ARRAY(SELECT DISTINCT name FROM sources WHERE document_id = d.id),"
            " coalesce(left(p.text, %s), ''), d.page_count, d.chunk_count,"
            " coalesce(nullif(d.card ->> 'language', ''), 'en') FROM documents d"
            " LEFT JOIN pages p ON p.document_id = d.id AND p.number = 1 WHERE d.id = ANY(%s)",
            (_CARD_CHARS, list(ids)),
        )
        return [CardRow(row[0], row[1], row[2], tuple(row[3]), *row[4:]) for row in rows]


def boxes_of(row: PassageRow) -> tuple[Box, ...]:
    """The boxes of a chunk's lines."""
    return tuple(Box(*box) for box in json.loads(row.boxes))
