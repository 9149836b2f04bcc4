"""Cards, titles and tags of documents in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import DocumentCard, Page, ParsedDocument, Section
from rag_core.storage.postgres.changes import queue
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.rows import card_row

# What a card is made of: the first pages, and so many characters of one.
_PAGES = 8
_PAGE_CHARS = 20_000
# What a document is called: by its user, by its card, by itself, by its first name.
_TITLE = """coalesce(title_by_user, card ->> 'title', nullif(title_read, ''),
    (SELECT name FROM sources WHERE document_id = documents.id ORDER BY added_at, name LIMIT 1), title)"""


@dataclass(frozen=True, slots=True)
class Carded:
    """A document whose card is to be made, as far as a card needs it; its pages have no boxes. `names`: its sources."""

    document_id: str
    parsed: ParsedDocument
    names: tuple[str, ...]


class CardStore:
    """Reads and writes what documents are called. `forget` is told of every document that was changed."""

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget
        self.titled_in: Sequence[str] = ()
        """The names of the indexes that hold documents' titles."""

    @retried
    def rename(self, document_id: str, title: str | None) -> bool:
        """Call a document so; None gives its found title back. Returns whether there is such a document."""
        with self._database.transaction() as connection:
            found = connection.execute(
                "UPDATE documents SET title_by_user = %s WHERE id = %s AND state <> 'removing' RETURNING id",
                (title and storable(title), storable(document_id)),
            ).fetchone()
            self._retitle(connection, [storable(document_id)])
        self._forget(document_id)
        return found is not None

    @retried
    def tag(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> None:
        """Put tags on documents and take others off. A tag that their owner has in letters of another case keeps its
        spelling."""
        ids = [storable(document_id) for document_id in ids]
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM document_tags WHERE document_id = ANY(%s)"
                " AND lower(tag) IN (SELECT lower(unnest(%s::text[])))",
                (ids, [storable(tag) for tag in remove]),
            )
            connection.execute(
                "INSERT INTO document_tags (document_id, tag)"
                " SELECT d.id, coalesce(known.tag, new.tag)"
                " FROM documents d CROSS JOIN unnest(%s::text[]) AS new (tag)"
                " LEFT JOIN LATERAL (SELECT min(tag) AS tag FROM (SELECT tag FROM document_tags JOIN documents o"
                " ON o.id = document_id WHERE o.owner = d.owner UNION ALL SELECT name FROM collections"
                " WHERE removed_at IS NULL AND owner = d.owner) t WHERE lower(tag) = lower(new.tag)) known"
                " ON true"
                " WHERE d.id = ANY(%s) AND d.state <> 'removing' ON CONFLICT DO NOTHING",
                ([storable(tag) for tag in add], ids),
            )
        self._forget(*ids)

    def tags(self) -> list[tuple[str, int]]:
        """Every tag with how many documents have it, in alphabetical order."""
        rows = self._database.rows(
            "SELECT tag, count(*) FROM document_tags t JOIN documents d ON d.id = t.document_id"
            " WHERE d.state <> 'removing' GROUP BY tag ORDER BY lower(tag), tag"
        )
        return [(row[0], row[1]) for row in rows]

    @retried
    def without(self, version: int, limit: int) -> list[Carded]:
        """Up to `limit` ready documents that have no card of this version."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT id, media_type, title_read, authors, year, language, sections, card ->> 'modified',"
                " ARRAY(SELECT name FROM sources WHERE document_id = documents.id GROUP BY name"
                " ORDER BY min(added_at), name)"
                " FROM documents WHERE state = 'ready' AND card_version < %s ORDER BY id LIMIT %s",
                (version, limit),
            ).fetchall()
            pages = connection.execute(
                "SELECT document_id, number, left(text, %s) FROM pages WHERE document_id = ANY(%s) AND number <= %s"
                " ORDER BY document_id, number",
                (_PAGE_CHARS, [row[0] for row in rows], _PAGES),
            ).fetchall()
        found: dict[str, list[Page]] = {row[0]: [] for row in rows}
        for document_id, number, text in pages:
            found[document_id].append(Page(number, text))
        return [
            Carded(
                row[0],
                ParsedDocument(
                    media_type=row[1], pages=tuple(found[row[0]]), title=row[2], authors=row[3], year=row[4],
                    language=row[5], sections=tuple(Section(*section) for section in row[6]), modified=row[7] or "",
                ),
                tuple(row[8]),
            )
            for row in rows
        ]  # fmt: skip

    @retried
    def put(self, cards: Mapping[str, DocumentCard], version: int) -> None:
        """Give documents their cards, unless they have newer ones."""
        with self._database.transaction() as connection, connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE documents SET card = %s, card_version = %s WHERE id = %s AND card_version < %s",
                [(Jsonb(card_row(card)), version, key, version) for key, card in cards.items()],
            )
            self._retitle(connection, list(cards))
        self._forget(*cards)

    def _retitle(self, connection: Connection[TupleRow], ids: Sequence[str]) -> None:
        """Write what documents are called now, and have the indexes that hold titles take those that changed."""
        rows = connection.execute(
            f"UPDATE documents SET title = {_TITLE} WHERE id = ANY(%s) AND title <> {_TITLE} RETURNING id".encode(),
            (list(ids),),
        ).fetchall()
        if rows:
            queue(connection, None, self.titled_in, [row[0] for row in rows])
