"""The change log: what was committed, in the order of commits, and how far each derived index has followed it.

An index of a server keeps a cursor in the log, and a backlog of documents that failed or that it is to take once more.
What it is to do about a document is read from the document's row as it is by then, so that a change may be followed
twice.

Ids of the log are drawn while an advisory lock is held until the transaction ends. Without it a transaction with a
smaller id could commit after one with a larger id, and a cursor that has passed the larger one would never see it.
Whoever appends does so last, so that nobody waits for a row while holding that lock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from psycopg import Connection
from psycopg.rows import TupleRow

from accelerator.faults import reach
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.ownership import forgotten

Action = Literal["put", "remove", "describe"]
"""What happened: it came, it went, or its title or another word about it changed, which vectors do not hold."""

ATTEMPTS = 12
BATCH = 256
RETRY_S = 5
LONGEST_RETRY_S = 3600
# Any number that no other program is likely to use.
_APPENDING = 0x4C656378
_HELD = "d.state IN ('stored', 'ready')"

_BACK_OFF = f"""
    INSERT INTO index_backlog AS b (server, index_name, document_id, removes, attempts, next_attempt_at, error)
    SELECT %s, %s, id, removes, 1, now() + make_interval(secs => {RETRY_S}), error
    FROM unnest(%s::text[], %s::boolean[], %s::text[]) AS failed (id, removes, error)
    ON CONFLICT (server, index_name, document_id) DO UPDATE SET removes = b.removes OR excluded.removes,
        attempts = b.attempts + 1, error = excluded.error,
        next_attempt_at = CASE WHEN b.attempts + 1 >= {ATTEMPTS} THEN 'infinity'
            ELSE now() + make_interval(secs => least({RETRY_S} * 2 ^ b.attempts, {LONGEST_RETRY_S})) END
"""
_ACKNOWLEDGE = """
    UPDATE documents d SET state = 'ready' FROM unnest(%s::text[], %s::bigint[]) AS taken (id, generation)
    WHERE d.id = taken.id AND d.generation = taken.generation AND d.state = 'stored'
      AND NOT EXISTS (SELECT FROM index_waiting w
                      WHERE w.document_id = d.id AND w.server = %s AND w.index_name = ANY(%s))
"""


@dataclass(frozen=True, slots=True)
class Change:
    """What an index is to do about a document: take the generation that is there, or hold nothing where that is None.

    `removes`: what it holds of an older generation goes first. `chunks` counts those that it is to take.
    """

    document_id: str
    removes: bool
    generation: int | None = None
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes for one index, one for each document, and where its cursor stands once they are followed.

    `passes` where the cursor moves, be it without any change.
    """

    changes: tuple[Change, ...]
    cursor: int
    passes: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many documents an index has yet to follow, how many of them are dead letters, and the last reason."""

    documents: int = 0
    dead: int = 0
    reason: str | None = None


class ChangeLog:
    """The tables, as the server follows them whose database it is. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._server = database.server

    @retried
    def enrol(self, names: Sequence[str]) -> list[str]:
        """Give each index of this server a cursor; one that has none is given every document. Those of other names are
        forgotten.

        Returns the names of those that had none.
        """
        with self._database.transaction() as connection:
            _lock(connection)
            for table in ("index_cursors", "index_backlog"):
                statement = f"DELETE FROM {table} WHERE server = %s AND index_name <> ALL(%s)"
                connection.execute(statement.encode(), (self._server, list(names)))
            rows = connection.execute(
                "INSERT INTO index_cursors (server, index_name, change_id)"
                " SELECT %s, name, (SELECT coalesce(max(id), 0) FROM changes) FROM unnest(%s::text[]) AS names (name)"
                " ON CONFLICT DO NOTHING RETURNING index_name",
                (self._server, list(names)),
            ).fetchall()
            new = [row[0] for row in rows]
            queue(connection, self._server, new)
        return new

    @retried
    def take(self, name: str, limit: int = BATCH, *, texts: bool = True) -> Batch:
        """What an index is to do next: up to `limit` changes of the log, and as many of its backlog that are due.

        One that does not hold `texts` passes over changes of titles.
        """
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT change_id FROM index_cursors WHERE server = %s AND index_name = %s", (self._server, name)
            ).fetchone()
            if row is None:
                raise forgotten()
            cursor = row[0]
            logged = connection.execute(
                "SELECT id, document_id, action <> 'put', action FROM changes WHERE id > %s ORDER BY id LIMIT %s",
                (cursor, limit),
            ).fetchall()
            followed = [row for row in logged if texts or row[3] != "describe"]
            due = connection.execute(
                "WITH own AS (SELECT * FROM index_backlog WHERE server = %s AND index_name = %s)"
                " (SELECT document_id, removes FROM own WHERE next_attempt_at <= now() ORDER BY queued LIMIT %s) UNION"
                " SELECT document_id, removes FROM own WHERE document_id = ANY(%s)",
                (self._server, name, 0 if len(logged) >= limit else limit, [row[1] for row in followed]),
            ).fetchall()
            removes: dict[str, bool] = {}
            for document_id, goes in (*due, *(row[1:3] for row in followed)):
                removes[document_id] = removes.get(document_id, False) or goes
            return Batch(_as_they_are(connection, removes), logged[-1][0] if logged else cursor, bool(logged))

    @retried
    def finish(
        self, name: str, batch: Batch, failed: Mapping[str, str] | None = None, *, needed: Collection[str] = ()
    ) -> None:
        """Move an index behind a batch. What `failed`, with its reason, backs off and is kept in the backlog.

        What was taken is acknowledged: ready, once all of the `needed` indexes have followed.
        """
        failed = failed or {}
        done = [change for change in batch.changes if change.document_id not in failed]
        left = [change for change in batch.changes if change.document_id in failed]
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE index_cursors SET change_id = %s WHERE server = %s AND index_name = %s",
                (batch.cursor, self._server, name),
            )
            connection.execute(
                "DELETE FROM index_backlog WHERE server = %s AND index_name = %s AND document_id = ANY(%s)",
                (self._server, name, [change.document_id for change in done]),
            )
            if left:
                reasons = [storable(failed[change.document_id]) for change in left]
                connection.execute(
                    _BACK_OFF.encode(),
                    (self._server, name, [c.document_id for c in left], [c.removes for c in left], reasons),
                )
            if name in needed:
                taken = [change for change in done if change.generation is not None]
                ids, generations = [c.document_id for c in taken], [c.generation for c in taken]
                connection.execute(_ACKNOWLEDGE.encode(), (ids, generations, self._server, list(needed)))
            reach("sync.uncommitted")
        reach("sync.committed")

    def acknowledge(self, ids: Collection[str]) -> None:
        """Have committed documents be ready that no index here is to take."""
        self._database.execute(
            "UPDATE documents SET state = 'ready' WHERE id = ANY(%s) AND state = 'stored'", (list(ids),)
        )

    def retry_now(self, name: str | None = None, ids: Collection[str] | None = None) -> None:
        """Make due what backs off and dead letters: all, those of one index, or those of some documents."""
        self._database.execute(
            "UPDATE index_backlog SET attempts = 0, next_attempt_at = now() WHERE attempts > 0 AND server = %s"
            " AND (%s::text IS NULL OR index_name = %s) AND (%s::text[] IS NULL OR document_id = ANY(%s))",
            (self._server, name, name, *(None if ids is None else list(ids),) * 2),
        )

    def retry_after_outage(self, name: str) -> None:
        """Make due what backs off while an index could not be used. Dead letters stay, and attempts are counted on."""
        self._database.execute(
            "UPDATE index_backlog SET next_attempt_at = now() WHERE server = %s AND index_name = %s AND attempts < %s",
            (self._server, name, ATTEMPTS),
        )

    def waiting(self, name: str) -> Waiting:
        """What an index has yet to follow."""
        row = self._database.row(
            "SELECT count(DISTINCT document_id), count(DISTINCT document_id) FILTER (WHERE attempts >= %s),"
            " max(error) FROM index_waiting WHERE server = %s AND index_name = %s",
            (ATTEMPTS, self._server, name),
        )
        return Waiting(*row) if row else Waiting()

    def waiting_ids(self, name: str) -> set[str]:
        """The documents that an index has yet to follow."""
        rows = self._database.rows(
            "SELECT document_id FROM index_waiting WHERE server = %s AND index_name = %s", (self._server, name)
        )
        return {row[0] for row in rows}

    def reason(self, name: str, document_id: str) -> str | None:
        """Why an index has not followed a document, where it was tried."""
        row = self._database.row(
            "SELECT error FROM index_backlog WHERE server = %s AND index_name = %s AND document_id = %s",
            (self._server, name, storable(document_id)),
        )
        return row[0] if row else None

    def head(self) -> int:
        """The id of the last change that the log holds; 0 when it is empty."""
        row = self._database.row("SELECT coalesce(max(id), 0) FROM changes")
        return row[0] if row else 0

    @retried
    def queue(self, names: Sequence[str], ids: Collection[str] | None = None, *, removes: bool = False) -> None:
        """Have indexes take documents once more, due at once; all of them for None. See `queue`."""
        with self._database.transaction() as connection:
            queue(connection, self._server, names, ids, removes=removes)

    def trim(self) -> None:
        """Delete what every cursor of every server has passed."""
        self._database.execute("DELETE FROM changes WHERE id <= (SELECT min(change_id) FROM index_cursors)")


def append(connection: Connection[TupleRow], action: Action, ids: Sequence[str]) -> None:
    """Log a change of documents, each of its generation by then, as the last step of the transaction that is open."""
    _lock(connection)
    connection.execute(
        "INSERT INTO changes (document_id, generation, action)"
        " SELECT d.id, d.generation, %s FROM unnest(%s::text[]) WITH ORDINALITY AS changed (id, place)"
        " JOIN documents d USING (id) ORDER BY place",
        (action, list(ids)),
    )


def queue(
    connection: Connection[TupleRow],
    server: str | None,
    names: Sequence[str],
    ids: Collection[str] | None = None,
    *,
    removes: bool = False,
) -> None:
    """Have indexes of a server, or of all for None, take documents once more, in the transaction that is open; all
    documents for None.

    `removes`: what they hold of them goes first.
    """
    connection.execute(
        f"INSERT INTO index_backlog AS b (server, index_name, document_id, removes)"
        f" SELECT k.server, k.index_name, d.id, %s FROM documents d CROSS JOIN index_cursors k"
        f" WHERE {_HELD} AND k.index_name = ANY(%s) AND (%s::text IS NULL OR k.server = %s)"
        " AND (%s::text[] IS NULL OR d.id = ANY(%s))"
        " ORDER BY d.added_at, d.id ON CONFLICT (server, index_name, document_id) DO UPDATE"
        " SET removes = b.removes OR excluded.removes, attempts = 0, next_attempt_at = now(), error = NULL".encode(),
        (removes, list(names), server, server, *(None if ids is None else list(ids),) * 2),
    )


def _lock(connection: Connection[TupleRow]) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_APPENDING,))


def _as_they_are(connection: Connection[TupleRow], removes: Mapping[str, bool]) -> tuple[Change, ...]:
    rows = connection.execute(
        f"SELECT d.id, d.generation, d.chunk_count FROM documents d WHERE d.id = ANY(%s) AND {_HELD}".encode(),
        (list(removes),),
    ).fetchall()
    held = {row[0]: (row[1], row[2]) for row in rows}
    return tuple(
        Change(document_id, goes or document_id not in held, *held.get(document_id, (None, 0)))
        for document_id, goes in removes.items()
    )
