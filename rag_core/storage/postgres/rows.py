"""The rows of documents that come in: pending when they are accepted, whole when they are committed.

Each function writes for many documents at once, in a transaction that is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import CARD_VERSION, Chunk, DocumentCard, ParsedDocument, Profile, Visit
from rag_core.errors import StoreUnavailable
from rag_core.storage.postgres.database import storable
from rag_core.storage.postgres.pieces import kept_form
from rag_core.storage.postgres.sources import insert_sources

# Held by whoever commits vectors, so that none come in while others take their places. Any number will do.
PROFILE_KEY = 0x4C65637A
# PostgreSQL's index takes 2,700 bytes, and a character may have four; a name's end says more than its folders.
_SOURCE_CHARS = 500
# Who a document is by and the year that it is of: as its card says, which has heard the file, else as the file says.
AUTHORS = "coalesce(card ->> 'authors', authors)"
YEAR = "coalesce((card ->> 'year')::integer, year)"
CHUNK = "document_id, index, page, section, span_start, span_end, boxes, text, md5, token_count, corrected, hidden"


@dataclass(frozen=True, slots=True)
class Stored:
    """A document ready to be committed: `vectors` is float32 (chunks, dimensions), row i for chunk i.

    replaces: it takes the place of what the library has of the same document, which is ready until then.
    chunking: the settings' key of how it was cut.
    pieces: of each chunk int8 (p, dimensions), the vectors of its pieces; empty where there are none at all.
    """

    document_id: str
    parsed: ParsedDocument
    chunks: Sequence[Chunk]
    vectors: NDArray[np.float32]
    pieces: Sequence[NDArray[np.int8]] = ()
    replaces: bool = False
    chunking: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A document that comes in under a name, its bytes kept already. `visit`: where they were found. owner: the person
    whose it is, "" where it is everybody's."""

    document_id: str
    sha256: str
    source: str
    media_type: str
    byte_size: int
    visit: Visit = field(default_factory=Visit)
    owner: str = ""


def check_profile(connection: Connection[TupleRow], profile: Profile) -> None:
    """Hold the library's vectors to one profile until the transaction that is open ends. Raises StoreUnavailable."""
    connection.execute("SELECT pg_advisory_xact_lock_shared(%s)", (PROFILE_KEY,))
    other = connection.execute(
        "SELECT FROM embedding_profiles p WHERE id <> %s AND EXISTS"
        " (SELECT FROM documents d WHERE d.profile = p.id AND d.state IN ('stored', 'ready'))",
        (profile.id,),
    ).fetchone()
    if other is not None:
        raise StoreUnavailable(
            "The library's embedding model was changed meanwhile.",
            help="Add it once more; where another server changed it, start this one again first.",
        )


def insert_pending(connection: Connection[TupleRow], window: Sequence[Accepted], server: str) -> None:
    """Note sources of documents. Those that are new, or failed before, are pending then, and a server's to bring in."""
    rows = [(i.document_id, i.sha256, storable(i.source), i.media_type, i.byte_size, i.owner) for i in window]
    ids = [item.document_id for item in window]
    # Moments that differ keep the order in which they came.
    connection.execute(
        "INSERT INTO documents (id, sha256, title, media_type, byte_size, owner, state, added_at, server)"
        " SELECT id, sha256, title, media_type, byte_size, owner, 'pending',"
        " now() + place * interval '1 microsecond', %s"
        " FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[]) WITH ORDINALITY"
        " AS new (id, sha256, title, media_type, byte_size, owner, place) ON CONFLICT DO NOTHING",
        [server, *(list(column) for column in zip(*rows, strict=True))],
    )
    connection.execute(
        "UPDATE documents SET state = 'pending', error = NULL, help = '', server = %s"
        " WHERE id = ANY(%s) AND state = 'failed'",
        (server, ids),
    )
    insert_sources(connection, {i.document_id: (i.source[-_SOURCE_CHARS:], i.visit) for i in window})


def withdraw(connection: Connection[TupleRow], ids: Sequence[str]) -> list[str]:
    """Delete pages and chunks of ready documents, which are pending then, of a new generation. Returns their ids."""
    rows = connection.execute(
        "SELECT id FROM documents WHERE id = ANY(%s) AND state = 'ready' ORDER BY id FOR UPDATE", (list(ids),)
    ).fetchall()
    found = [row[0] for row in rows]
    for table in ("chunks", "pages"):
        connection.execute(f"DELETE FROM {table} WHERE document_id = ANY(%s)".encode(), (found,))
    connection.execute("UPDATE documents SET state = 'pending', generation = DEFAULT WHERE id = ANY(%s)", (found,))
    return found


def mark_stored(connection: Connection[TupleRow], batch: Sequence[Stored], profile: Profile) -> list[Stored]:
    """Note what was read of pending documents. Returns those that still are."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE documents SET state = 'stored', title = coalesce(title_by_user, nullif(%s, ''), title),"
            " title_read = %s, card = %s, card_version = %s, authors = %s, year = %s,"
            " language = %s, media_type = %s, page_count = %s, chunk_count = %s, profile = %s, sections = %s,"
            " notes = %s, chunking = %s, error = NULL, help = '' WHERE id = %s AND state = 'pending' RETURNING id",
            [_what_was_read(item, profile) for item in batch],
            returning=True,
        )
        marked = [found.fetchone() is not None for found in cursor.results()]
    return [item for item, is_marked in zip(batch, marked, strict=True) if is_marked]


def _what_was_read(item: Stored, profile: Profile) -> tuple[object, ...]:
    parsed, card = item.parsed, item.parsed.card
    sections = [[s.title, s.level, s.page, s.start] for s in parsed.sections]
    return (
        storable(card.title if card else parsed.title), storable(parsed.title),
        Jsonb(card_row(card)) if card else None, CARD_VERSION if card else 0,
        storable(parsed.authors), parsed.year, card.language if card else parsed.language, parsed.media_type,
        len(parsed.pages), len(item.chunks), profile.id, Jsonb(clean(sections)), Jsonb(clean(parsed.notes)),
        item.chunking, item.document_id,
    )  # fmt: skip


def card_row(card: DocumentCard) -> dict[str, Any]:
    """A card as PostgreSQL keeps it."""
    return {name: clean(value) for name, value in asdict(card).items()}


def copy_pages(connection: Connection[TupleRow], batch: Sequence[Stored]) -> None:
    """Write the pages of documents."""
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY pages (document_id, number, label, text, width_pt, height_pt, error, body_start, body_end,"
            " hidden, figures) FROM STDIN"
        ) as copy,
    ):
        for item in batch:
            for p in item.parsed.pages:
                error = None if p.error is None else storable(p.error)
                body = p.body or (None, None)
                label, text = storable(p.label), storable(p.text)
                hidden = Jsonb([[span.start, span.end, span.why] for span in p.hidden])
                figures = Jsonb(clean([figure.row for figure in p.figures]))
                row = (item.document_id, p.number, label, text, p.width_pt, p.height_pt, error, *body, hidden, figures)
                copy.write_row(row)


def copy_chunks(connection: Connection[TupleRow], batch: Sequence[Stored]) -> None:
    """Write the chunks of documents with their vectors."""
    columns = f"COPY chunks ({CHUNK}, vector, pieces) FROM STDIN WITH (FORMAT BINARY)"
    types = [
        "text",
        "int4",
        "int4",
        "text",
        "int4",
        "int4",
        "jsonb",
        "text",
        "text",
        "int4",
        "bool",
        "bool",
        "vector",
        "bytea",
    ]
    with connection.cursor() as cursor, cursor.copy(columns.encode()) as copy:
        copy.set_types(types)
        for row in _chunk_rows(batch):
            copy.write_row(row)


def _chunk_rows(batch: Sequence[Stored]) -> Iterator[tuple[object, ...]]:
    for item in batch:
        pieces = map(kept_form, item.pieces) if item.pieces else repeat(None, len(item.chunks))
        for chunk, vector, kept in zip(item.chunks, item.vectors, pieces, strict=True):
            boxes = Jsonb([[box.left, box.top, box.right, box.bottom] for box in chunk.boxes])
            yield (
                item.document_id, chunk.index, chunk.page, storable(chunk.section), chunk.start, chunk.end, boxes,
                storable(chunk.text), chunk.md5, chunk.token_count, chunk.corrected, chunk.hidden, vector, kept,
            )  # fmt: skip


def clean(value: Any) -> Any:
    """Nested lists and objects with every text made storable: JSONB refuses NUL as text columns do."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): clean(item) for key, item in value.items()}
    return [clean(item) for item in value] if isinstance(value, list | tuple) else value
