"""Pages that wait for text recognition, and what was read of them, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.storage.postgres.database import Database, storable
from rag_core.storage.postgres.rows import Stored, clean

Content = Mapping[str, Any]
"""A page as the reading writes it."""


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """A page to recognise, of a document that is ready."""

    document_id: str
    title: str
    media_type: str
    number: int


@dataclass(frozen=True, slots=True)
class Recognition:
    """How far a document is: pages that wait, pages read or failed that are not in place yet, and those that are."""

    waiting: int
    new: int
    in_place: int


class RecognitionStore:
    """The table. `forget` is told of every document of which something was read. Raises StoreUnavailable."""

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    def waiting(self, document_id: str) -> list[WaitingPage]:
        """The pages of a ready document that are to be recognised, in their order."""
        rows = self._database.rows(
            "SELECT d.id, d.title, d.media_type, r.number FROM recognised_pages r JOIN documents d"
            " ON d.id = r.document_id WHERE d.id = %s AND d.state = 'ready' AND NOT r.in_place"
            " AND r.state = 'waiting' ORDER BY r.number",
            (document_id,),
        )
        return [WaitingPage(*row) for row in rows]

    def put(self, document_id: str, number: int, content: Content) -> None:
        """Keep what was read of a page that waits. One of a document that was removed meanwhile is forgotten."""
        recogniser, certainty, turned = content["recognition"]
        self._database.execute(
            "UPDATE recognised_pages SET state = 'read', recogniser = %s, certainty = %s, turned = %s, content = %s"
            " WHERE document_id = %s AND number = %s AND state = 'waiting'",
            (recogniser, certainty, turned, Jsonb(clean(content)), document_id, number),
        )
        self._forget(document_id)

    def fail(self, document_id: str, number: int, error: str) -> None:
        """Note that a page cannot be recognised, and why."""
        self._database.execute(
            "UPDATE recognised_pages SET state = 'failed', error = %s"
            " WHERE document_id = %s AND number = %s AND state = 'waiting'",
            (storable(error), document_id, number),
        )
        self._forget(document_id)

    def retry(self, document_id: str) -> None:
        """Have the pages of a document wait once more that could not be recognised."""
        self._database.execute(
            "UPDATE recognised_pages SET state = 'waiting', in_place = false, error = NULL"
            " WHERE document_id = %s AND state = 'failed'",
            (storable(document_id),),
        )
        self._forget(document_id)

    def of(self, document_id: str) -> dict[int, Content]:
        """What was read of a document's pages, in place or not, by number; of one that failed, its error alone."""
        rows = self._database.rows(
            "SELECT number, content, error FROM recognised_pages WHERE document_id = %s AND state <> 'waiting'",
            (storable(document_id),),
        )
        return {row[0]: row[1] if row[1] is not None else {"error": row[2]} for row in rows}

    def read(self, document_id: str, number: int) -> Content | None:
        """What was read of a page that has text of its own, too."""
        row = self._database.row(
            "SELECT content FROM recognised_pages WHERE document_id = %s AND number = %s AND state = 'read'",
            (storable(document_id), number),
        )
        return row[0] if row else None

    def shown(self, document_id: str, number: int) -> Content | None:
        """What was read of a page, where it is the page's text now."""
        row = self._database.row(
            "SELECT r.content FROM recognised_pages r JOIN pages p USING (document_id, number)"
            " WHERE document_id = %s AND number = %s AND r.in_place AND r.state = 'read'"
            " AND r.content ->> 'text' = p.text",
            (storable(document_id), number),
        )
        return row[0] if row else None

    def progress(self, document_id: str | None = None) -> dict[str, Recognition]:
        """The ready documents, or this one, with pages that wait, or were read and are not in place yet, by id: the one
        that came first is the first."""
        rows = self._database.rows(
            "SELECT r.document_id, count(*) FILTER (WHERE NOT r.in_place AND r.state = 'waiting'),"
            " count(*) FILTER (WHERE NOT r.in_place AND r.state <> 'waiting'), count(*) FILTER (WHERE r.in_place)"
            " FROM recognised_pages r JOIN documents d ON d.id = r.document_id AND d.state = 'ready'"
            " WHERE r.document_id IN (SELECT document_id FROM recognised_pages WHERE NOT in_place"
            " AND (%s::text IS NULL OR document_id = %s))"
            " GROUP BY r.document_id ORDER BY min(d.added_at), r.document_id",
            (document_id, document_id),
        )
        return {row[0]: Recognition(*row[1:]) for row in rows}

    def give_up(self, document_id: str) -> None:
        """Leave a document without what was read of it: it cannot be put in place."""
        self._database.execute(
            "UPDATE recognised_pages SET in_place = true WHERE document_id = %s AND state <> 'waiting'",
            (document_id,),
        )
        self._forget(document_id)


def note_recognition(connection: Connection[TupleRow], batch: Sequence[Stored]) -> None:
    """Note, as documents are written, which of their pages wait, and that what was read of all others is in place."""
    waiting = [(item.document_id, number) for item in batch for number in item.parsed.to_recognise]
    columns = [[row[0] for row in waiting], [row[1] for row in waiting]]
    connection.execute(
        "UPDATE recognised_pages r SET in_place = true WHERE document_id = ANY(%s) AND NOT in_place"
        " AND state <> 'waiting' AND NOT EXISTS (SELECT FROM unnest(%s::text[], %s::int[]) AS w (document_id, number)"
        " WHERE w.document_id = r.document_id AND w.number = r.number)",
        ([item.document_id for item in batch], *columns),
    )
    if waiting:
        connection.execute(
            "INSERT INTO recognised_pages (document_id, number) SELECT * FROM unnest(%s::text[], %s::int[])"
            " ON CONFLICT DO NOTHING",
            columns,
        )
