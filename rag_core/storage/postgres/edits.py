"""What a user made of chunks: texts corrected by hand, and chunks left out of search.

A change of a chunk is one of its document: a new generation of it, which every index follows by the change log. Chunks
that are left out leave the table of chunks, so that whatever is made of it does without them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from accelerator.faults import reach
from rag_core.domain import Chunk, ChunkEdit, Profile
from rag_core.storage.postgres.changes import append
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.pieces import kept_form, pieces_of
from rag_core.storage.postgres.rows import Stored

ChunkSpan = tuple[int, int, int]
"""Page, begin and end on the page: what a chunk was cut from, which no correction changes."""

# document_id 0, page 1, span_start 2, span_end 3, section 4, boxes 5, original 6, text 7, token_count 8, hidden 9,
# left_out 10, profile 11, vector 12, pieces 13 are the columns of what follows.
_EDIT = "document_id, page, span_start, span_end, section, original, text, left_out, in_place, edited_at"
_AT = "document_id = %s AND page = %s AND span_start = %s AND span_end = %s"
_KEPT = "page, span_start, span_end, section, boxes, original, text, token_count, hidden, left_out"
# The edits of documents, and those of the versions before them, which the same places led to.
_OF_VERSIONS = f"""
    SELECT e.document_id AS new, {_KEPT}, profile, vector, pieces FROM chunk_edits e WHERE e.document_id = ANY(%(ids)s)
    UNION ALL
    SELECT n.document_id, {_KEPT}, profile, vector, pieces FROM (
        SELECT DISTINCT n.document_id, o.document_id AS older FROM sources n JOIN sources o
        ON md5(o.location) = md5(n.location) AND o.location = n.location AND o.document_id <> n.document_id
        AND o.looked_at < n.looked_at WHERE n.location <> '' AND n.document_id = ANY(%(ids)s)
    ) n JOIN chunk_edits e ON e.document_id = n.older
"""
_WRITE = f"""
    INSERT INTO chunk_edits (document_id, {_KEPT}, in_place, profile, vector, pieces)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (document_id, page, span_start, span_end) DO UPDATE SET text = excluded.text, original =
    excluded.original, token_count = excluded.token_count, left_out = excluded.left_out, in_place = excluded.in_place,
    profile = excluded.profile, vector = excluded.vector, pieces = excluded.pieces, edited_at = now()
"""
_RENUMBER = (
    "UPDATE chunks SET index = -1 - index WHERE document_id = %s",
    "UPDATE chunks c SET index = o.place FROM (SELECT index, row_number() OVER (ORDER BY page, span_start, span_end)"
    " - 1 AS place FROM chunks WHERE document_id = %s) o WHERE c.document_id = %s AND c.index = o.index",
)


@dataclass(frozen=True, slots=True)
class Written:
    """A chunk's text as it is to be, with its tokens, its vector, float32 (d,), and its pieces, int8 (p, d)."""

    text: str
    tokens: int
    profile: Profile
    vector: NDArray[np.float32]
    pieces: NDArray[np.int8]


class EditStore:
    """Reads and writes edits. `forget` is told of every document that changes. Raises StoreUnavailable."""

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    def of(self, document_id: str) -> list[ChunkEdit]:
        """A document's edits in the order of its pages."""
        rows = self._database.rows(
            f"SELECT {_EDIT} FROM chunk_edits WHERE document_id = %s ORDER BY page, span_start, span_end",
            (storable(document_id),),
        )
        return [ChunkEdit(*row) for row in rows]

    def correct(self, document_id: str, place: ChunkSpan, written: Written) -> bool:
        """Give a chunk another text, which is as read again where it is that. Returns whether there was such a one."""

        def work(connection: Connection[TupleRow]) -> bool:
            edit = _edit_of(connection, document_id, place)
            if edit is None:
                return False
            text = storable(written.text)
            corrected = text != edit[5]
            connection.execute(
                f"UPDATE chunks SET text = %s, md5 = %s, token_count = %s, vector = %s, pieces = %s, corrected = %s,"
                f" hidden = %s WHERE {_AT}".encode(),
                (
                    text, _md5(text), written.tokens, written.vector, kept_form(written.pieces), corrected,
                    edit[8] and not corrected, document_id, *place,
                ),
            )  # fmt: skip
            return _keep(connection, document_id, edit, text, written)

        return self._change(document_id, work)

    def leave_out(self, document_id: str, place: ChunkSpan, profile: Profile) -> bool:
        """Set a chunk aside; those behind it are numbered anew. Returns whether there was such a one."""

        def work(connection: Connection[TupleRow]) -> bool:
            edit = _edit_of(connection, document_id, place)
            row = connection.execute(
                f"DELETE FROM chunks WHERE {_AT} RETURNING text, token_count, vector, pieces".encode(),
                (document_id, *place),
                binary=True,
            ).fetchone()
            if edit is None or row is None:
                return False
            vector = row[2].to_numpy()
            kept = Written(row[0], row[1], profile, vector, pieces_of(row[3], len(vector)))
            _write(connection, document_id, edit, text=row[0], left_out=True, written=kept)
            return True

        return self._change(document_id, work)

    def bring_back(self, document_id: str, place: ChunkSpan, written: Written) -> bool:
        """Put a chunk that was left out among the others again, with its text as it was then."""

        def work(connection: Connection[TupleRow]) -> bool:
            row = connection.execute(
                f"SELECT {_KEPT} FROM chunk_edits WHERE {_AT} AND left_out AND in_place".encode(), (document_id, *place)
            ).fetchone()
            if row is None:
                return False
            corrected = row[6] != row[5]
            connection.execute(
                "INSERT INTO chunks (document_id, index, page, span_start, span_end, section, boxes, text, md5,"
                " token_count, vector, pieces, corrected, hidden) SELECT %s, coalesce(max(index) + 1, 0), %s, %s, %s,"
                " %s, %s, %s, %s, %s, %s, %s, %s, %s FROM chunks WHERE document_id = %s",
                (
                    document_id, *place, row[3], Jsonb(row[4]), row[6], _md5(row[6]), row[7], written.vector,
                    kept_form(written.pieces), corrected, row[8] and not corrected, document_id,
                ),
            )  # fmt: skip
            return _keep(connection, document_id, row, row[6], written)

        return self._change(document_id, work)

    def put_vectors(self, document_id: str, vectors: NDArray[np.float32], md5: Sequence[str]) -> bool:
        """Give a document's chunks, whose texts have these sums, other vectors, float32 (n, d). Returns whether so."""

        def work(connection: Connection[TupleRow]) -> bool:
            held = connection.execute(
                "SELECT md5 FROM chunks WHERE document_id = %s ORDER BY index", (document_id,)
            ).fetchall()
            if [row[0] for row in held] != [*md5]:
                return False
            with connection.cursor() as cursor:
                cursor.executemany(
                    "UPDATE chunks SET vector = %s WHERE document_id = %s AND index = %s",
                    [(vector, document_id, index) for index, vector in enumerate(vectors)],
                )
            return True

        return self._change(document_id, work)

    def discard(self, document_id: str, place: ChunkSpan) -> bool:
        """Forget an edit that fits no chunk. Returns whether there was such a one."""
        deleted = self._database.rows(
            f"DELETE FROM chunk_edits WHERE {_AT} AND NOT in_place RETURNING 1".encode(), (document_id, *place)
        )
        return bool(deleted)

    @retried
    def _change(self, document_id: str, work: Callable[[Connection[TupleRow]], bool]) -> bool:
        """Change the chunks of a ready document, of which the log tells; not to be seen until the indexes followed."""
        with self._database.transaction() as connection:
            ready = connection.execute(
                "SELECT 1 FROM documents WHERE id = %s AND state = 'ready' FOR UPDATE", (document_id,)
            ).fetchone()
            if ready is None or not work(connection):
                return False
            # Another model's vectors that are being made belong to the texts and numbers of before.
            connection.execute("DELETE FROM new_vectors WHERE document_id = %s", (document_id,))
            connection.execute(_RENUMBER[0].encode(), (document_id,))
            connection.execute(_RENUMBER[1].encode(), (document_id, document_id))
            connection.execute(
                "UPDATE documents SET state = 'stored', generation = DEFAULT, chunk_count ="
                " (SELECT count(*) FROM chunks WHERE document_id = %s) WHERE id = %s",
                (document_id, document_id),
            )
            append(connection, "remove", [document_id])
            reach("edit.uncommitted")
        reach("edit.committed")
        self._forget(document_id)
        return True


def keep_edits(connection: Connection[TupleRow], batch: Sequence[Stored], profile: Profile) -> list[Stored]:
    """Documents that are about to be written, with the edits of what they replace and of their older versions.

    An edit finds its chunk by the text as read, the nearest of several; one that fits none stays to be told of. A
    correction that another model embedded cannot be put in place.
    """
    if connection.execute("SELECT 1 FROM chunk_edits LIMIT 1").fetchone() is None:
        return list(batch)
    pending = connection.execute(
        "SELECT id FROM documents WHERE id = ANY(%s) AND state = 'pending' ORDER BY id FOR UPDATE",
        ([item.document_id for item in batch],),
    ).fetchall()
    ids = [row[0] for row in pending]
    edits: dict[str, list[TupleRow]] = {}
    for row in connection.execute(_OF_VERSIONS.encode(), {"ids": ids}, binary=True).fetchall():
        edits.setdefault(row[0], []).append(row)
    connection.execute("DELETE FROM chunk_edits WHERE document_id = ANY(%s)", (list(edits),))
    return [
        _edited(connection, item, edits[item.document_id], profile) if item.document_id in edits else item
        for item in batch
    ]


def _edited(connection: Connection[TupleRow], item: Stored, edits: Sequence[TupleRow], profile: Profile) -> Stored:
    """A document with its edits in place, and these written."""
    chunks: list[Chunk | None] = list(item.chunks)
    vectors, pieces = item.vectors.copy(), list(item.pieces)
    found: dict[int, TupleRow] = {}
    astray = []
    for row in edits:
        number = _nearest(item.chunks, row, found) if row[10] or row[11] == profile.id else None
        if number is None:
            astray.append(row)
            continue
        found[number] = row
        chunk = item.chunks[number]
        chunks[number] = _corrected(chunk, row) if not row[10] else None
        if not row[10]:
            vectors[number] = row[12].to_numpy()
            if pieces:
                pieces[number] = pieces_of(row[13], vectors.shape[1])
    places = {
        (chunk.page, chunk.start, chunk.end): row for number, row in found.items() for chunk in [item.chunks[number]]
    }
    for place, row in places.items():
        _rewrite(connection, item.document_id, place, row, in_place=True)
    for row in astray:
        place = (row[1], row[2], row[3])
        while place in places:  # the row of another edit
            place = (place[0], place[1], place[2] + 1)
        places[place] = row
        _rewrite(connection, item.document_id, place, row, in_place=False)
    left = [number for number, chunk in enumerate(chunks) if chunk is not None]
    numbered = [replace(chunk, index=n) for n, chunk in enumerate(chunk for chunk in chunks if chunk is not None)]
    return replace(
        item, chunks=numbered, vectors=vectors[left], pieces=[pieces[number] for number in left] if pieces else ()
    )


def _corrected(chunk: Chunk, row: TupleRow) -> Chunk:
    return replace(chunk, text=row[7], md5=_md5(row[7]), token_count=row[8], corrected=True, hidden=False)


def _rewrite(
    connection: Connection[TupleRow], document_id: str, place: ChunkSpan, row: TupleRow, *, in_place: bool
) -> None:
    values = (document_id, *place, row[4], Jsonb(row[5]), *row[6:11], in_place, *row[11:])
    connection.execute(_WRITE.encode(), values)


def _nearest(chunks: Sequence[Chunk], row: TupleRow, taken: Mapping[int, object]) -> int | None:
    """The chunk that an edit is of: of this text as read, and of several the one that stands nearest."""
    wanted = _md5(row[6])
    alike = [number for number, chunk in enumerate(chunks) if chunk.md5 == wanted and number not in taken]
    return min(alike, key=lambda n: (abs(chunks[n].page - row[1]), abs(chunks[n].start - row[2])), default=None)


def reembed_edits(connection: Connection[TupleRow], profile: Profile) -> None:
    """Give corrections the vectors that their chunks have now, of another profile than before."""
    connection.execute(
        "UPDATE chunk_edits e SET vector = c.vector, pieces = c.pieces, profile = %s FROM chunks c WHERE c.corrected"
        " AND e.document_id = c.document_id AND e.page = c.page AND e.span_start = c.span_start"
        " AND e.span_end = c.span_end",
        (profile.id,),
    )


def _edit_of(connection: Connection[TupleRow], document_id: str, place: ChunkSpan) -> TupleRow | None:
    """A chunk as an edit keeps it; its text as read is that of an edit before."""
    return connection.execute(
        "SELECT c.page, c.span_start, c.span_end, c.section, c.boxes, CASE WHEN c.corrected THEN e.original ELSE c.text"
        " END, c.text, c.token_count, CASE WHEN c.corrected THEN e.hidden ELSE c.hidden END"
        " FROM chunks c LEFT JOIN chunk_edits e USING (document_id, page,"
        f" span_start, span_end) WHERE {_AT}".encode(),
        (document_id, *place),
    ).fetchone()


def _keep(connection: Connection[TupleRow], document_id: str, edit: TupleRow, text: str, written: Written) -> bool:
    """Keep a correction; a chunk whose text is as read has none. Returns that it was done."""
    if text != edit[5]:
        _write(connection, document_id, edit, text=text, left_out=False, written=written)
    else:
        connection.execute(f"DELETE FROM chunk_edits WHERE {_AT}".encode(), (document_id, *edit[:3]))
    return True


def _write(
    connection: Connection[TupleRow], document_id: str, edit: TupleRow, *, text: str, left_out: bool, written: Written
) -> None:
    page, start, end, section, boxes, original = edit[:6]
    values = (page, start, end, section, Jsonb(boxes), original, text, written.tokens, edit[8], left_out, True)
    made = (written.profile.id, written.vector, kept_form(written.pieces))
    connection.execute(_WRITE.encode(), (document_id, *values, *made))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest()
