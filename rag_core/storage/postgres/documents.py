"""Documents, pages and chunks in PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import TupleRow, dict_row

from accelerator.faults import reach
from rag_core.domain import (
    Box,
    Chunk,
    Document,
    DocumentCard,
    DocumentFilter,
    Figure,
    HiddenText,
    Page,
    Profile,
    Section,
)
from rag_core.errors import LecternError
from rag_core.storage.postgres.cards import CardStore
from rag_core.storage.postgres.changes import append
from rag_core.storage.postgres.chunkings import Chunkings
from rag_core.storage.postgres.collections import CollectionStore
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.edits import EditStore, keep_edits
from rag_core.storage.postgres.jobs import check_leases
from rag_core.storage.postgres.listing import Lists
from rag_core.storage.postgres.people import PeopleStore
from rag_core.storage.postgres.recognition import RecognitionStore, note_recognition
from rag_core.storage.postgres.removing import RemovalStore
from rag_core.storage.postgres.rows import (
    AUTHORS,
    CHUNK,
    YEAR,
    Accepted,
    Stored,
    check_profile,
    copy_chunks,
    copy_pages,
    insert_pending,
    mark_stored,
    withdraw,
)
from rag_core.storage.postgres.servers import GONE_S
from rag_core.storage.postgres.table_readings import TableReadingStore, inherit_readings
from rag_core.storage.postgres.vectors import VectorStore

_PAGES_TOGETHER = 50
_DOCUMENT = f"""
    SELECT id, title, media_type, byte_size, state, page_count, chunk_count, {AUTHORS} AS authors, {YEAR} AS year,
           language, sections, notes || table_notes AS notes, error, help, added_at, card,
           (SELECT count(*) FROM recognised_pages WHERE document_id = documents.id AND NOT in_place) AS to_recognise,
           ARRAY(SELECT tag FROM document_tags WHERE document_id = documents.id ORDER BY lower(tag)) AS tags,
           ARRAY(SELECT name FROM sources WHERE document_id = documents.id GROUP BY name
                 ORDER BY min(added_at), name) AS sources, state = 'failed' AND is_lasting AS is_lasting
    FROM documents
"""
_ABANDONED = """
    WHERE state IN ('pending', 'stored') AND NOT EXISTS (
        SELECT FROM jobs j WHERE j.document_id = documents.id AND j.state IN ('waiting', 'running'))
    AND (server = ANY(%s) OR (server NOT IN ('', %s) AND NOT EXISTS (
        SELECT FROM servers s WHERE s.id = documents.server AND s.seen_at > now() - make_interval(secs => %s))))
    ORDER BY added_at, id
"""


class DocumentStore:
    """Reads and writes documents. Ready ones are remembered, since every hit carries its document."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ready: dict[str, Document] = {}
        self._changes = 0
        self._lock = threading.Lock()
        self._lists = Lists(database)
        self.chunkings = Chunkings(database)
        self.cards = CardStore(database, self._forget)
        self.collections = CollectionStore(database, self._forget)
        self.recognition = RecognitionStore(database, self._forget)
        self.edits = EditStore(database, self._forget)
        self.people = PeopleStore(database, self._forget)
        self.removals = RemovalStore(database, self._forget)
        self.table_readings = TableReadingStore(database, self._forget)
        self.vectors = VectorStore(database)

    @retried
    def accept(self, window: Sequence[Accepted]) -> None:
        """Note sources of documents, in one transaction; those that are new, or failed before, are pending then.

        One that is still being removed begins anew: each index lets go of the old chunks before it takes the new ones.
        """
        ids = [item.document_id for item in window]
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM documents WHERE id = ANY(%s) AND state = 'removing'", (ids,))
            insert_pending(connection, window, self._database.server)
            reach("accept.uncommitted")
        reach("accept.committed")
        self._forget(*ids)

    def retry(self, document_id: str) -> None:
        """Make a failed document pending again; one in another state stays as it is."""
        self._update(document_id, "failed", "state = 'pending', error = NULL, help = ''")

    def fail(self, document_id: str, error: LecternError) -> None:
        """Mark a pending document as failed, with the reason, what to do, and whether that lasts; one in another state
        stays as it is."""
        self._update(
            document_id, "pending", "state = 'failed', error = %s, help = %s, is_lasting = %s",
            storable(str(error)), storable(error.help), error.lasts,
        )  # fmt: skip

    def keep_password(self, document_id: str, password: str) -> None:
        """Keep the password that opened a document: its page pictures need it."""
        self._update(document_id, "pending", "password = %s", storable(password))

    def password(self, document_id: str) -> str | None:
        """The password that opened a document, if it needed one."""
        row = self._database.row("SELECT password FROM documents WHERE id = %s", (storable(document_id),))
        return row[0] if row else None

    @retried
    def commit(self, batch: Sequence[Stored], profile: Profile, leases: Mapping[str, int] | None = None) -> None:
        """Write documents whole, with the changes that the indexes follow, in one transaction.

        A document that was removed meanwhile is left out. What one replaces is found until the indexes have followed.
        Raises LeaseLost where another process has taken one of the jobs that it is done for, StoreUnavailable where the
        library's vectors are another profile's by now.
        """
        with self._database.transaction() as connection:
            check_leases(connection, leases or {})
            check_profile(connection, profile)
            connection.execute(
                "INSERT INTO embedding_profiles (id, name, revision, dimensions, pooling, precision)"
                " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (profile.id, profile.name, profile.revision, profile.dimensions, profile.pooling, profile.precision),
            )
            replaced = withdraw(connection, [item.document_id for item in batch if item.replaces])
            batch = mark_stored(connection, keep_edits(connection, batch, profile), profile)
            inherit_readings(connection, [item.document_id for item in batch])
            copy_pages(connection, batch)
            copy_chunks(connection, batch)
            note_recognition(connection, batch)
            append(connection, "remove", replaced)
            append(connection, "put", [item.document_id for item in batch])
            reach("commit.uncommitted")
        reach("commit.committed")
        self._forget(*(item.document_id for item in batch if item.replaces))
        self.table_readings.forget([item.document_id for item in batch])

    def all(self) -> list[Document]:
        """Every document that is not being removed, newest first."""
        return self.listed(DocumentFilter())

    def listed(self, wanted: DocumentFilter, offset: int = 0, limit: int | None = None) -> list[Document]:
        """The documents that a filter leaves, newest first, from the one at `offset` on, as its viewer sees them."""
        where, values = self._lists.where(wanted)
        found = self._fetch(f"{where} ORDER BY added_at DESC, id OFFSET %s LIMIT %s", (*values, offset, limit))
        return self.people.seen(wanted.viewer, found) if wanted.viewer else found

    def count(self, wanted: DocumentFilter) -> int:
        """How many documents a filter leaves."""
        where, values = self._lists.where(wanted)
        row = self._database.row(f"SELECT count(*) FROM documents {where}".encode(), values)
        return row[0] if row else 0

    def ids(self, wanted: DocumentFilter) -> list[str]:
        """The ids of the documents that a filter leaves."""
        where, values = self._lists.where(wanted)
        return [row[0] for row in self._database.rows(f"SELECT id FROM documents {where}".encode(), values)]

    def get(self, document_id: str) -> Document | None:
        """One document in whatever state, or None."""
        found = self._fetch("WHERE id = %s", (storable(document_id),))
        return found[0] if found else None

    def some(self, ids: Sequence[str]) -> dict[str, Document]:
        """Those of some documents that there are, in whatever state, by id."""
        return {document.id: document for document in self._fetch("WHERE id = ANY(%s)", (list(ids),))}

    def pending(self) -> list[Document]:
        """Documents that were accepted and are not ready yet, oldest first."""
        return self._fetch("WHERE state IN ('pending', 'stored') ORDER BY added_at, id", ())

    def abandoned(self, *, own: bool) -> list[Document]:
        """Those among them that no job has and no server brings in that lives, oldest first; `own`: nor this one."""
        mine = self._database.server
        return self._fetch(_ABANDONED, (["", mine] if own else [], mine, GONE_S))

    def ready(self, ids: Collection[str]) -> Mapping[str, Document]:
        """The ready documents among some ids."""
        with self._lock:
            known = {key: self._ready[key] for key in ids if key in self._ready}
            changes = self._changes
        missing = [key for key in ids if key not in known]
        if missing:
            fetched = self._fetch("WHERE id = ANY(%s) AND state = 'ready'", (missing,))
            with self._lock:
                if changes == self._changes:  # or what was fetched may be out of date already
                    self._ready.update((document.id, document) for document in fetched)
            known |= {document.id: document for document in fetched}
        return known

    def ready_ids(self) -> dict[str, int]:
        """Id and generation of every ready document that has chunks: the rest takes its time to fetch of thousands."""
        rows = self._database.rows(
            "SELECT id, generation FROM documents WHERE state = 'ready' AND chunk_count > 0 ORDER BY id"
        )
        return {row[0]: row[1] for row in rows}

    def counts(self) -> tuple[int, int, int, int]:
        """Ready documents, their chunks, pending and failed documents."""
        row = self._database.row(
            "SELECT count(*) FILTER (WHERE state = 'ready'),"
            " coalesce(sum(chunk_count) FILTER (WHERE state = 'ready'), 0)::bigint,"
            " count(*) FILTER (WHERE state IN ('pending', 'stored')), count(*) FILTER (WHERE state = 'failed')"
            " FROM documents"
        )
        return row or (0, 0, 0, 0)

    def followed(self, index: str) -> tuple[int, int]:
        """How many chunks a derived index has taken, and how many documents it has yet to follow."""
        row = self._database.row(
            "WITH waiting AS (SELECT DISTINCT document_id FROM index_waiting WHERE server = %s AND index_name = %s)"
            " SELECT coalesce(sum(chunk_count), 0)::bigint, (SELECT count(*) FROM waiting) FROM documents"
            " WHERE state IN ('stored', 'ready') AND id NOT IN (SELECT document_id FROM waiting)",
            (self._database.server, index),
        )
        return row or (0, 0)

    def chunks(self, document_id: str, first: int = 0, limit: int | None = None) -> list[Chunk]:
        """Chunks of a document from index `first` on, in order."""
        rows = self._database.rows(
            f"SELECT {CHUNK} FROM chunks WHERE document_id = %s AND index >= %s ORDER BY index LIMIT %s",
            (storable(document_id), _within(first), None if limit is None else _within(max(limit, 0))),
        )
        return [_chunk(row) for row in rows]

    def chunks_at(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[Chunk, str]]:
        """Chunks of ready documents by (document id, index), each with its page's label."""
        rows = self._database.rows(
            "SELECT c.document_id, c.index, c.page, c.section, c.span_start, c.span_end, c.boxes, c.text, c.md5,"
            " c.token_count, c.corrected, c.hidden, p.label"
            " FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
            " JOIN chunks c USING (document_id, index)"
            " JOIN documents d ON d.id = c.document_id AND d.state = 'ready'"
            " JOIN pages p ON p.document_id = c.document_id AND p.number = c.page",
            ([storable(place[0]) for place in places], [_within(place[1]) for place in places]),
        )
        return {(row[0], row[1]): (_chunk(row[:-1]), row[-1]) for row in rows}

    def spans(self, ids: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Page, begin and end of each chunk of some ready documents, in order: int64 (chunks, 3) by document."""
        rows = self._database.rows(
            "SELECT c.document_id, array_agg(ARRAY[c.page, c.span_start, c.span_end] ORDER BY c.index)"
            " FROM chunks c JOIN documents d ON d.id = c.document_id AND d.state = 'ready'"
            " WHERE c.document_id = ANY(%s) GROUP BY c.document_id",
            ([storable(document_id) for document_id in ids],),
        )
        return {row[0]: np.asarray(row[1], dtype=np.int64).reshape(-1, 3) for row in rows}

    def pages(self, document_id: str, number: int | None = None) -> list[Page]:
        """Pages of a document, or the one with this number."""
        if number is not None:
            return self._pages("p.document_id = %s AND p.number = %s", storable(document_id), _within(number))
        return self._pages("p.document_id = %s", storable(document_id))

    def pages_by_parts(self, document_id: str) -> Iterator[list[Page]]:
        """All pages of a document, some at a time: those of a long table are a hundred megabytes."""
        last = 0
        key = storable(document_id)
        while part := self._pages("p.document_id = %s AND p.number > %s", key, last, limit=_PAGES_TOGETHER):
            yield part
            last = part[-1].number

    def _pages(self, where: str, *values: object, limit: int | None = None) -> list[Page]:
        rows = self._database.rows(
            "SELECT p.number, p.text, p.label, p.width_pt, p.height_pt, coalesce(p.error, r.error),"
            " coalesce(r.recogniser, ''), coalesce(r.certainty, 0), coalesce(r.turned, 0), p.body_start,"
            " p.body_end, p.hidden, p.figures FROM pages p"
            " LEFT JOIN recognised_pages r ON r.document_id = p.document_id AND r.number = p.number AND r.in_place"
            " AND (r.content ->> 'text' = p.text OR (r.error IS NOT NULL AND p.figures = '[]'))"
            f" WHERE {where} ORDER BY p.number LIMIT %s",
            (*values, limit),
        )
        return [
            Page(
                number=r[0], text=r[1], label=r[2], width_pt=r[3], height_pt=r[4], error=r[5], recogniser=r[6],
                certainty=r[7], turned=r[8], body=None if r[9] is None else (r[9], r[10]),
                hidden=tuple(HiddenText(*span) for span in r[11]), figures=tuple(map(Figure.of_row, r[12])),
            )
            for r in rows
        ]  # fmt: skip

    def figures(self, ids: Sequence[str]) -> list[tuple[str, int, Figure]]:
        """The figures of some documents: id, page and figure, in the order of their pages."""
        rows = self._database.rows(
            "SELECT document_id, number, figures FROM pages WHERE document_id = ANY(%s) AND figures <> '[]'"
            " ORDER BY document_id, number",
            (list(ids),),
        )
        return [(row[0], row[1], Figure.of_row(one)) for row in rows for one in row[2]]

    def profile(self) -> Profile | None:
        """The profile that the library's vectors were made with, or None while it has none."""
        row = self._database.row(
            "SELECT p.id, p.name, p.revision, p.dimensions, p.pooling, p.precision FROM embedding_profiles p"
            " WHERE EXISTS (SELECT FROM documents d WHERE d.profile = p.id) ORDER BY p.created_at DESC LIMIT 1"
        )
        return Profile(*row) if row else None

    def last_profile(self) -> Profile | None:
        """The newest profile that any vectors were made with, whether or not a document is left that has it."""
        row = self._database.row(
            "SELECT id, name, revision, dimensions, pooling, precision FROM embedding_profiles"
            " ORDER BY created_at DESC LIMIT 1"
        )
        return Profile(*row) if row else None

    def forget(self, ids: Sequence[str]) -> None:
        """What is remembered of documents is out of date: their rows were changed by another store."""
        self._forget(*ids)

    def forget_all(self) -> None:
        """What is remembered of any document is out of date."""
        with self._lock:
            known = list(self._ready)
        self._forget(*known)
        self.table_readings.forget_all()

    @retried
    def read_again(self, ids: Sequence[str]) -> None:
        """Take ready documents out of sight to be read again from their kept bytes: pending, as if added anew."""
        with self._database.transaction() as connection:
            found = withdraw(connection, ids)
            append(connection, "remove", found)
            reach("reading_again.uncommitted")
        reach("reading_again.committed")
        self._forget(*found)

    def _update(self, document_id: str, state: str, assignment: str, *values: object) -> None:
        """Change a document that is in this state. The assignment is this module's own text."""
        self._database.execute(
            f"UPDATE documents SET {assignment} WHERE id = %s AND state = %s".encode(),
            (*values, document_id, state),
        )
        self._forget(document_id)

    @retried
    def _fetch(self, condition: str, values: tuple[object, ...]) -> list[Document]:
        with self._database.transaction() as connection, connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute((_DOCUMENT + condition).encode(), values).fetchall()
        return [_document(row) for row in rows]

    def _forget(self, *ids: str) -> None:
        with self._lock:
            self._changes += 1
            for document_id in ids:
                self._ready.pop(document_id, None)
        self.table_readings.forget(ids)


def _within(number: int) -> int:
    """A number that a caller asks for as one that PostgreSQL can look up; beyond its range there is nothing anyway."""
    return min(max(number, -(2**31)), 2**31 - 1)


def _document(row: Mapping[str, Any]) -> Document:
    values = dict(row)
    values["sections"] = tuple(Section(*section) for section in row["sections"])
    values["notes"] = tuple(row["notes"])
    values["sources"] = tuple(row["sources"])
    values["tags"] = tuple(row["tags"])
    values["card"] = DocumentCard(**row["card"]) if row["card"] else None
    return Document(**values)


def _chunk(row: TupleRow) -> Chunk:
    return Chunk(
        document_id=row[0], index=row[1], page=row[2], section=row[3], start=row[4], end=row[5],
        boxes=tuple(Box(*box) for box in row[6]), text=row[7], md5=row[8], token_count=row[9], corrected=row[10],
        hidden=row[11],
    )  # fmt: skip
