"""Jobs: what was asked for, how far it is, how it ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import Job, Progress
from rag_core.domain.jobs import JobResult
from rag_core.domain.serialiser import from_json, to_json
from rag_core.errors import EncryptedDocument, LecternError, error_of
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.rows import clean
from rag_core.unexpected import stage

_COLUMNS = "id, kind, name, params, state, progress, result, error, document_id, created_at, began_at, ended_at"
_KEPT_DAYS, _MOST_KEPT = 30, 100_000
_TIDY_S = 3600.0
_TIDY = """
    DELETE FROM jobs WHERE ended_at < now() - make_interval(days => %s) OR id IN
        (SELECT id FROM jobs WHERE ended_at IS NOT NULL ORDER BY created_at DESC, id OFFSET %s)
"""


class JobStore:
    """Reads and writes jobs. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tidied_s = float("-inf")

    @retried
    def put(self, jobs: Sequence[Job]) -> None:
        """Keep jobs as they are now. Those that ended long ago, or are too many, are forgotten."""
        with self._database.transaction() as connection, connection.cursor() as cursor:
            if time.monotonic() - self._tidied_s > _TIDY_S:
                cursor.execute(_TIDY, (_KEPT_DAYS, _MOST_KEPT))
                self._tidied_s = time.monotonic()
            cursor.executemany(
                f"INSERT INTO jobs ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (id) DO UPDATE SET state = excluded.state, progress = excluded.progress,"
                " result = excluded.result, error = excluded.error, document_id = excluded.document_id,"
                " params = excluded.params, began_at = excluded.began_at, ended_at = excluded.ended_at",
                [self._row(job) for job in jobs],
            )

    @retried
    def unfinished(self) -> list[Job]:
        """What was not ended, the oldest first."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM jobs WHERE state IN ('waiting', 'running') ORDER BY created_at, id"
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

    def _row(self, job: Job) -> tuple[Any, ...]:
        result = None if job.result is None else Jsonb(clean(to_json(job.result, whole=True)))
        error = None if job.error is None else Jsonb(clean(_told(job.error)))
        return (
            job.id, job.kind, storable(job.name), Jsonb(clean(dict(job.params))), job.state,
            Jsonb(clean(to_json(job.progress))), result, error, job.document_id, job.created_at, job.began_at,
            job.ended_at,
        )  # fmt: skip

    def _readable(self, row: TupleRow) -> Job:
        """A job, as far as can be told of one that holds what nobody foresaw; the others are there all the same."""
        try:
            with stage("job row", row[0]):
                return self._job(row)
        except LecternError as error:
            return Job(row[0], row[1], row[2], state=row[4], error=error, document_id=row[8], created_at=row[9])

    def _job(self, row: TupleRow) -> Job:
        result, error = row[6], row[7]
        return Job(
            row[0], row[1], row[2], row[3], row[4], Progress(**row[5]),
            result=None if result is None else from_json(JobResult, result), error=error and _error(error),
            document_id=row[8], created_at=row[9], began_at=row[10], ended_at=row[11],
        )  # fmt: skip


def _told(error: LecternError) -> dict[str, Any]:
    wrong = getattr(error, "wrong_password", False)
    return {"type": type(error).__name__, "message": str(error), "help": error.help, "wrong": wrong}


def _error(told: dict[str, Any]) -> LecternError:
    error = error_of(told["type"], told["message"], told["help"])
    if isinstance(error, EncryptedDocument):
        error.wrong_password = told["wrong"]
    return error
