"""What a person set right of how tables were read, and what is doubtful about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import ColumnReading, TableReading
from rag_core.storage.postgres.database import Database, storable

_KEPT = "number, name, head, heads, columns"
# Those of the versions before documents, which the same places led to; the newest of several.
_INHERIT = f"""
    INSERT INTO table_readings (document_id, {_KEPT}, edited_at)
    SELECT DISTINCT ON (n.document_id, r.number)
        n.document_id, r.number, r.name, r.head, r.heads, r.columns, r.edited_at
    FROM sources n JOIN sources o ON md5(o.location) = md5(n.location) AND o.location = n.location
    AND o.document_id <> n.document_id AND o.looked_at < n.looked_at
    JOIN table_readings r ON r.document_id = o.document_id
    WHERE n.location <> '' AND n.document_id = ANY(%s)
    ORDER BY n.document_id, r.number, r.edited_at DESC
    ON CONFLICT DO NOTHING
"""


class TableReadingStore:
    """Reads and writes them, and remembers what was read: a question asks for it a dozen times.

    `forget` is told of every document whose notes change. Raises StoreUnavailable."""

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget
        self._known: dict[str, tuple[TableReading, ...]] = {}
        self._changes = 0

    def forget(self, ids: Iterable[str]) -> None:
        """What is remembered of documents is out of date."""
        self._changes += 1
        for document_id in ids:
            self._known.pop(document_id, None)

    def forget_all(self) -> None:
        """What is remembered of any document is out of date."""
        self.forget(tuple(self._known))

    def of(self, document_id: str) -> tuple[TableReading, ...]:
        """Those of a document, by the number of the table."""
        if (known := self._known.get(document_id)) is None:
            changes, known = self._changes, self._read(document_id)
            if changes == self._changes:  # or it may be out of date already
                self._known[document_id] = known
        return known

    def _read(self, document_id: str) -> tuple[TableReading, ...]:
        rows = self._database.rows(
            f"SELECT {_KEPT} FROM table_readings WHERE document_id = %s ORDER BY number", (storable(document_id),)
        )
        return tuple(
            TableReading(row[0], row[1], row[2], tuple(row[3]), tuple(ColumnReading(*one) for one in row[4]))
            for row in rows
        )

    def keep(self, document_id: str, reading: TableReading) -> None:
        """Have a table be read so, in the place of what was said of it before."""
        columns = [[one.column, storable(one.head), one.kind] for one in reading.columns]
        self._database.execute(
            f"INSERT INTO table_readings (document_id, {_KEPT}) SELECT id, %s, %s, %s, %s, %s FROM documents"
            " WHERE id = %s ON CONFLICT (document_id, number) DO UPDATE SET name = excluded.name, head = excluded.head,"
            " heads = excluded.heads, columns = excluded.columns, edited_at = now()".encode(),
            (
                reading.table, storable(reading.name), reading.head, Jsonb([storable(cell) for cell in reading.heads]),
                Jsonb(columns), storable(document_id),
            ),
        )  # fmt: skip
        self.forget([document_id])

    def discard(self, document_id: str, number: int) -> None:
        """Have a table be as it was read."""
        self._database.execute(
            "DELETE FROM table_readings WHERE document_id = %s AND number = %s", (storable(document_id), number)
        )
        self.forget([document_id])

    def note(self, document_id: str, notes: Sequence[str]) -> None:
        """Say what is doubtful about a document's tables."""
        kept = Jsonb([storable(note) for note in notes])
        self._database.execute(
            "UPDATE documents SET table_notes = %s WHERE id = %s AND table_notes <> %s", (kept, document_id, kept)
        )
        self._forget(document_id)


def inherit_readings(connection: Connection[TupleRow], ids: Sequence[str]) -> None:
    """Give documents that are about to be written what was set right of the tables of their older versions."""
    if connection.execute("SELECT 1 FROM table_readings LIMIT 1").fetchone() is not None:
        connection.execute(_INHERIT.encode(), (list(ids),))
