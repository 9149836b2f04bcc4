"""Jobs: what was asked for, how far it is, how it ended, and whose it is to carry out.

A job is free where no owner that lives has it. It is taken with a lock that passes over what another one is taking,
under a token that is larger each time; whatever is written of it afterwards names that token, or is refused.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import Job, Progress
from rag_core.domain.jobs import JobResult
from rag_core.domain.serialiser import from_json, to_json
from rag_core.errors import EncryptedDocument, LeaseLost, LecternError, error_of
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.rows import clean
from rag_core.unexpected import stage

_COLUMNS = (
    "id, kind, name, params, state, progress, result, error, document_id, created_at, began_at, ended_at, owner, token,"
    " attempts"
)
_ARRAYS = (
    "%s::text[], %s::text[], %s::text[], %s::jsonb[], %s::text[], %s::jsonb[], %s::jsonb[], %s::jsonb[], %s::text[],"
    " %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::bigint[], %s::integer[]"
)
_FREE = (
    "state IN ('waiting', 'running') AND (owner IN ('', %(owner)s)"
    " OR NOT EXISTS (SELECT FROM job_owners o WHERE o.id = j.owner AND o.until > clock_timestamp()))"
)
_LOCK = "SELECT id FROM jobs WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
_CHANNEL = "jobs"
LEASE_S = 30.0
"""How long an owner is waited for that says nothing: it may have been killed, or stand still."""
_KEPT_DAYS, _MOST_KEPT = 30, 100_000
_TIDY_S = 3600.0
_TIDY = """
    DELETE FROM jobs WHERE ended_at < now() - make_interval(days => %s) OR id IN
        (SELECT id FROM jobs WHERE ended_at IS NOT NULL ORDER BY created_at DESC, id OFFSET %s)
"""


class JobStore:
    """Reads and writes jobs. Raises StoreUnavailable."""

    def __init__(self, database: Database, lease_s: float = LEASE_S) -> None:
        self._database = database
        self._lease_s = lease_s
        self._tidied_s = float("-inf")
        self._listener: Connection[TupleRow] | None = None

    @retried
    def put(self, jobs: Sequence[Job]) -> list[str]:
        """Keep jobs as they are now, and have other runners look. Returns those refused: another one has taken them.

        Those that ended long ago, or are too many, are forgotten.
        """
        with self._database.transaction() as connection, connection.cursor() as cursor:
            if time.monotonic() - self._tidied_s > _TIDY_S:
                cursor.execute(_TIDY, (_KEPT_DAYS, _MOST_KEPT))
                self._tidied_s = time.monotonic()
            self._prolong(connection, *{job.owner for job in jobs if job.owner})
            # A statement sees the rows it waits for as they are, and owners as they were when it began: locked first.
            there = [row[0] for row in cursor.execute(_LOCK, ([job.id for job in jobs],))]
            # In one statement: one of several that stand in a pipeline keeps its locks for as long as the next is due.
            rows = zip(*(self._row(job) for job in sorted(jobs, key=lambda job: job.id)), strict=True)
            kept = cursor.execute(
                f"INSERT INTO jobs ({_COLUMNS}) SELECT * FROM unnest({_ARRAYS})"
                " ON CONFLICT (id) DO UPDATE SET state = excluded.state, progress = excluded.progress,"
                " result = excluded.result, error = excluded.error, document_id = excluded.document_id,"
                " params = excluded.params, began_at = excluded.began_at, ended_at = excluded.ended_at,"
                " owner = excluded.owner, attempts = excluded.attempts, token = excluded.token, cleared = false,"
                " stopping = jobs.stopping AND excluded.owner <> '' WHERE jobs.token = excluded.token"
                " OR (excluded.token = 0 AND excluded.id = ANY(%s) AND NOT EXISTS"
                " (SELECT FROM job_owners o WHERE o.id = jobs.owner AND o.until > clock_timestamp())) RETURNING id",
                [*map(list, rows), there],
            ).fetchall()
            # Others wait for what is free, and for the end of what is done for them.
            if any(not job.owner and (job.state == "waiting" or self._database.is_shared) for job in jobs):
                cursor.execute("SELECT pg_notify(%s, '')", (_CHANNEL,))
        return sorted({job.id for job in jobs} - {row[0] for row in kept})

    @retried
    def take(self, ids: Sequence[str], owner: str) -> dict[str, tuple[int, int]]:
        """Take those of some jobs that are free. Returns the token of each, and how often it was taken."""
        with self._database.transaction() as connection:
            self._prolong(connection, owner)
            rows = connection.execute(
                f"WITH seen AS MATERIALIZED (SELECT id, token FROM jobs j WHERE id = ANY(%(ids)s) AND {_FREE}),"
                # Whatever was taken since it was seen has another token.
                " free AS (SELECT id FROM jobs j JOIN seen USING (id, token) ORDER BY id FOR UPDATE OF j SKIP LOCKED)"
                " UPDATE jobs SET owner = %(owner)s, token = nextval('job_tokens'), attempts = attempts + 1 FROM free"
                " WHERE jobs.id = free.id RETURNING jobs.id, token, attempts",
                {"ids": list(ids), "owner": owner},
            ).fetchall()
        return {row[0]: (row[1], row[2]) for row in rows}

    def free(self) -> list[str]:
        """The jobs that no owner has who lives, the oldest first."""
        found = self._database.rows(
            f"SELECT id FROM jobs j WHERE {_FREE} ORDER BY created_at, id", {"owner": ""}
        )  # fmt: skip
        return [row[0] for row in found]

    @retried
    def beat(self, owner: str, leases: Mapping[str, int]) -> list[str]:
        """An owner lives. Returns those of its jobs, each with its token, that another one has taken since."""
        with self._database.transaction() as connection:
            self._prolong(connection, owner)
            return lost(connection, leases)

    def stop(self, job_id: str) -> None:
        """Have whoever carries a job out stop it."""
        self._database.execute(
            "UPDATE jobs SET stopping = true WHERE id = %s AND owner <> '' AND ended_at IS NULL", (job_id,)
        )
        self.wake()

    def to_stop(self, owner: str) -> list[str]:
        """The jobs of an owner that another one wants stopped."""
        rows = self._database.rows(
            "SELECT id FROM jobs WHERE owner = %s AND stopping AND state IN ('waiting', 'running')", (owner,)
        )
        return [row[0] for row in rows]

    def leave(self, owner: str) -> None:
        """An owner ends in good order: what it has not ended is free, and was not begun in vain."""
        self._database.execute(
            "UPDATE jobs SET owner = '', attempts = greatest(attempts - 1, 0)"
            " WHERE owner = %s AND state IN ('waiting', 'running')", (owner,),
        )  # fmt: skip
        self._database.execute("DELETE FROM job_owners WHERE id = %s", (owner,))

    def outlive(self) -> None:
        """Nobody else can be this server: its owners of before are gone, whatever their leases say. So are those of
        others that ended long ago."""
        self._database.execute(
            "DELETE FROM job_owners WHERE server = %s OR until < now() - interval '1 day'", (self._database.server,)
        )

    def listen(self, timeout_s: float) -> bool:
        """Wait until somebody puts jobs that are free. Returns whether anybody did, or it cannot be told."""
        try:
            if self._listener is None:
                self._listener = self._database.listener(_CHANNEL)
            return any(True for _ in self._listener.notifies(timeout=timeout_s, stop_after=1))
        except psycopg.Error:
            self.deafen()
            time.sleep(min(timeout_s, 1.0))  # until the server is there again
            return True

    def wake(self) -> None:
        """Have all who listen look."""
        self._database.execute("SELECT pg_notify(%s, '')", (_CHANNEL,))

    def deafen(self) -> None:
        """Listen no longer."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(psycopg.Error):
                listener.close()

    def some(self, ids: Collection[str]) -> list[Job]:
        """Jobs by their ids, the oldest first."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM jobs WHERE id = ANY(%s) ORDER BY created_at, id", (list(ids),)
        )
        return [self._readable(row) for row in rows]

    def get(self, job_id: str) -> Job | None:
        """One job; None where there is none, or it was removed."""
        row = self._database.row(f"SELECT {_COLUMNS} FROM jobs WHERE id = %s AND NOT cleared", (storable(job_id),))
        return None if row is None else self._readable(row)

    def past(self, limit: int) -> list[Job]:
        """The last jobs, the newest first, without those that were removed."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM jobs WHERE NOT cleared ORDER BY created_at DESC, id LIMIT %s", (limit,)
        )
        return [self._readable(row) for row in rows]

    def remove(self, ids: Sequence[str]) -> None:
        """Forget jobs, save for what insights count: kind, name, times and how they ended."""
        self._database.execute(
            "UPDATE jobs SET cleared = true, params = '{}', result = NULL WHERE id = ANY(%s)", (list(ids),)
        )

    def _prolong(self, connection: Connection[TupleRow], *owners: str) -> None:
        for owner in owners:
            connection.execute(
                "INSERT INTO job_owners (id, server, until)"
                " VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))"
                " ON CONFLICT (id) DO UPDATE SET until = excluded.until",
                (owner, self._database.server, self._lease_s),
            )

    def _row(self, job: Job) -> tuple[Any, ...]:
        result = None if job.result is None else Jsonb(clean(to_json(job.result, whole=True)))
        error = None if job.error is None else Jsonb(clean(_told(job.error)))
        return (
            job.id, job.kind, storable(job.name), Jsonb(clean(dict(job.params))), job.state,
            Jsonb(clean(to_json(job.progress))), result, error, job.document_id, job.created_at, job.began_at,
            job.ended_at, job.owner, job.token, job.attempts,
        )  # fmt: skip

    def _readable(self, row: TupleRow) -> Job:
        """A job, as far as can be told of one that holds what nobody foresaw; the others are there all the same."""
        try:
            with stage("job row", row[0]):
                return self._job(row)
        except LecternError as error:
            return Job(
                row[0], row[1], row[2], state=row[4], error=error, document_id=row[8], created_at=row[9], token=row[13]
            )

    def _job(self, row: TupleRow) -> Job:
        result, error = row[6], row[7]
        return Job(
            row[0], row[1], row[2], row[3], row[4], Progress(**row[5]),
            result=None if result is None else from_json(JobResult, result), error=error and _error(error),
            document_id=row[8], created_at=row[9], began_at=row[10], ended_at=row[11], owner=row[12], token=row[13],
            attempts=row[14],
        )  # fmt: skip


def lost(connection: Connection[TupleRow], leases: Mapping[str, int]) -> list[str]:
    """The jobs that were taken once more since they were with these tokens. Until the transaction that is open ends
    nobody takes the others."""
    if not leases:
        return []
    rows = connection.execute(
        "SELECT j.id FROM jobs j JOIN unnest(%s::text[], %s::bigint[]) AS l (id, token) USING (id, token)"
        " ORDER BY j.id FOR KEY SHARE OF j",
        (list(leases), list(leases.values())),
    )
    return sorted(leases.keys() - {row[0] for row in rows.fetchall()})


def check_leases(connection: Connection[TupleRow], leases: Mapping[str, int]) -> None:
    """Fence what is about to be committed for some jobs, with the tokens they were taken with. Raises LeaseLost."""
    if gone := lost(connection, leases):
        raise LeaseLost(f"Another process has taken {len(gone)} of the jobs that this was done for.")


def _told(error: LecternError) -> dict[str, Any]:
    wrong = getattr(error, "wrong_password", False)
    return {"type": type(error).__name__, "message": str(error), "help": error.help, "wrong": wrong}


def _error(told: dict[str, Any]) -> LecternError:
    error = error_of(told["type"], told["message"], told["help"])
    if isinstance(error, EncryptedDocument):
        error.wrong_password = told["wrong"]
    return error
