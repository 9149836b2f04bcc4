"""The outbox: what PostgreSQL has committed and the dump files and Chroma have yet to take or let go.

A row names a document, its generation (one adding of it), a store, and whether the store is to take it or let it go.
Rows are taken with FOR UPDATE SKIP LOCKED and deleted by the transaction that took them, so that whoever is killed
amid a step leaves its rows to the next. What fails is put off, longer each time, and given up after `ATTEMPTS` until
the library is opened again, repaired, or the store takes something else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_core.storage.postgres.database import Database, retried, storable

Store = Literal["dumps", "chroma"]
Action = Literal["put", "remove"]

ATTEMPTS = 12
_BATCH = 256
_RETRY_S = 5
_LONGEST_RETRY_S = 3600

# What a document needs no longer: it was removed, or added again after that.
_STALE = "(o.action = 'put' AND (d.id IS NULL OR d.generation <> o.generation OR d.state NOT IN ('stored', 'ready')))"
# A document that was removed and added again has both rows: the old chunks go first.
_TAKE = f"""
    SELECT o.id, o.document_id, coalesce(d.chunk_count, 0), {_STALE},
           o.action = 'remove' AND (d.id IS NULL OR d.generation = o.generation)
    FROM outbox o LEFT JOIN documents d ON d.id = o.document_id
    WHERE o.store = %s AND o.action = %s AND (o.next_attempt_at <= now() OR {_STALE})
      AND (o.action = 'remove' OR NOT EXISTS (SELECT FROM outbox r
           WHERE r.document_id = o.document_id AND r.store = o.store AND r.action = 'remove'))
    ORDER BY o.id LIMIT {_BATCH} FOR UPDATE OF o SKIP LOCKED
"""
_PUT_OFF = f"""
    UPDATE outbox SET attempts = attempts + 1, error = %s, next_attempt_at = CASE WHEN attempts + 1 >= {ATTEMPTS}
        THEN 'infinity' ELSE now() + make_interval(secs => least({_RETRY_S} * 2 ^ attempts, {_LONGEST_RETRY_S})) END
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One row: `chunks` counts those of its document. `gone`: of a removal, whether nothing has come in its place."""

    id: int
    document_id: str
    chunks: int
    stale: bool
    gone: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many documents a store has yet to take or let go, how many of them were given up, and the last reason."""

    documents: int = 0
    given_up: int = 0
    reason: str | None = None


class Taken:
    """Rows that are held by an open transaction, which deletes all that are not put off."""

    def __init__(self, connection: Connection[TupleRow], items: Sequence[Item]) -> None:
        self.connection = connection
        self._items = items
        self._put_off: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def due(self) -> list[Item]:
        """What is to be carried."""
        return [item for item in self._items if not item.stale and item.id not in self._put_off]

    def put_off(self, item: Item, reason: str) -> None:
        """Try one later."""
        self._put_off.add(item.id)
        self.connection.execute(_PUT_OFF + " WHERE id = %s", (storable(reason), item.id))

    def finish(self) -> None:
        """Delete what was carried and what is stale, in the transaction that is open."""
        done = [item.id for item in self._items if item.id not in self._put_off]
        self.connection.execute("DELETE FROM outbox WHERE id = ANY(%s)", (done,))


class Outbox:
    """The table. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def take(self, store: Store, action: Action) -> Iterator[Taken]:
        """Take what is due, up to a batch; carried when the block ends, due still when it raises."""
        with self._database.transaction() as connection:
            rows = connection.execute(_TAKE.encode(), (store, action)).fetchall()
            taken = Taken(connection, [Item(*row) for row in rows])
            yield taken
            taken.finish()

    @retried
    def put_off(self, store: Store, action: Action, reason: str) -> None:
        """Try everything that is due for a store later."""
        with self._database.transaction() as connection:
            connection.execute(
                (_PUT_OFF + " WHERE store = %s AND action = %s AND next_attempt_at <= now()").encode(),
                (storable(reason), store, action),
            )

    @retried
    def hasten(self, store: Store | None = None, ids: Collection[str] | None = None) -> None:
        """Make due what was put off or given up: everything, a store's, or that of some documents."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE outbox SET attempts = 0, next_attempt_at = now() WHERE attempts > 0"
                " AND (%s::text IS NULL OR store = %s) AND (%s::text[] IS NULL OR document_id = ANY(%s))",
                (store, store, *(None if ids is None else list(ids),) * 2),
            )

    @retried
    def waiting(self, store: Store) -> Waiting:
        """What a store has yet to take or let go."""
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT count(DISTINCT document_id), count(DISTINCT document_id) FILTER (WHERE attempts >= %s),"
                " max(error) FROM outbox WHERE store = %s",
                (ATTEMPTS, store),
            ).fetchone()
        return Waiting(*row) if row else Waiting()

    @retried
    def reason(self, document_id: str, store: Store) -> str | None:
        """Why a store has not taken a document, where it was tried."""
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT error FROM outbox WHERE document_id = %s AND store = %s ORDER BY id DESC LIMIT 1",
                (storable(document_id), store),
            ).fetchone()
        return row[0] if row else None

    @retried
    def queue(self, ids: Collection[str] | None) -> None:
        """Queue ready documents for Chroma, due at once; all of them for None."""
        with self._database.transaction() as connection:
            queue(connection, ("chroma",), ("ready",), ids)


def queue(
    connection: Connection[TupleRow],
    stores: Sequence[Store],
    states: Sequence[str],
    ids: Collection[str] | None = None,
) -> None:
    """Have stores take documents that are in some states, in the transaction that is open; all of them for None."""
    connection.execute(
        "INSERT INTO outbox (document_id, generation, store, action)"
        " SELECT id, generation, store, 'put' FROM documents CROSS JOIN unnest(%s::text[]) AS stores (store)"
        " WHERE state = ANY(%s) AND (%s::text[] IS NULL OR id = ANY(%s)) ORDER BY added_at, id"
        " ON CONFLICT (document_id, generation, store, action)"
        " DO UPDATE SET attempts = 0, next_attempt_at = now(), error = NULL",
        (list(stores), list(states), *(None if ids is None else list(ids),) * 2),
    )


def queue_removal(connection: Connection[TupleRow], document_id: str) -> None:
    """Have every store let a document go, in the transaction that is open.

    What it was to be taken by is stale from then on. A row that the relay holds at this moment is left to it.
    """
    connection.execute(
        "DELETE FROM outbox WHERE id IN"
        " (SELECT id FROM outbox WHERE document_id = %s AND action = 'put' FOR UPDATE SKIP LOCKED)",
        (document_id,),
    )
    connection.execute(
        "INSERT INTO outbox (document_id, generation, store, action)"
        " SELECT id, generation, store, 'remove' FROM documents CROSS JOIN unnest(%s::text[]) AS stores (store)"
        " WHERE id = %s ON CONFLICT DO NOTHING",
        (["dumps", "chroma"], document_id),
    )
