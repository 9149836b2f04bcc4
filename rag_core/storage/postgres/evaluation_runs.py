"""Evaluation runs and the result of each of their questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import Estimate, Question, Result, Run, RunState
from rag_core.domain.serialiser import from_json, to_json
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.jobs import check_leases
from rag_core.storage.postgres.rows import clean

Leases = Mapping[str, int]
NO_LEASES: Leases = MappingProxyType({})
_RUNS = (
    "SELECT r.run, r.state, r.error, r.created_at, r.finished_at,"
    " (SELECT count(*) FROM evaluation_results e WHERE e.run_id = r.id) FROM evaluation_runs r "
)


class EvaluationRuns:
    """Reads and writes runs. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    def add(self, runs: Sequence[Run], questions: Sequence[Question]) -> None:
        """Keep new runs, waiting, with the questions that each of them asks."""
        asked = clean(to_json(questions, whole=True))
        with self._database.transaction() as connection:
            for run in runs:
                connection.execute(
                    "INSERT INTO evaluation_runs (id, group_id, set_id, state, run, questions)"
                    " VALUES (%s, %s, %s, 'waiting', %s, %s) ON CONFLICT DO NOTHING",
                    (run.id, run.group, run.set_id, Jsonb(clean(to_json(run, whole=True))), Jsonb(asked)),
                )

    def all(self, set_id: str | None = None) -> list[Run]:
        """Every run, or those on one question set, newest first."""
        rows = self._database.rows(
            _RUNS + "WHERE %(set)s::text IS NULL OR set_id = %(set)s ORDER BY created_at DESC, id",
            {"set": None if set_id is None else storable(set_id)},
        )
        return [_run(row) for row in rows]

    def get(self, run_id: str) -> Run | None:
        """One run, or None."""
        row = self._database.row(_RUNS + "WHERE r.id = %s", (storable(run_id),))
        return _run(row) if row else None

    def delete(self, run_id: str) -> None:
        """Delete a run with its results."""
        self._database.execute("DELETE FROM evaluation_runs WHERE id = %s", (storable(run_id),))

    @retried
    def missing(self, run_id: str) -> list[tuple[int, Question]]:
        """The questions of a run that have no result yet, each with its place in the run."""
        with self._database.transaction() as connection:
            row = connection.execute("SELECT questions FROM evaluation_runs WHERE id = %s", (run_id,)).fetchone()
            rows = connection.execute("SELECT question_id FROM evaluation_results WHERE run_id = %s", (run_id,))
            there = {found[0] for found in rows.fetchall()}
        questions = from_json(list[Question], row[0]) if row else []
        return [(place, question) for place, question in enumerate(questions) if question.id not in there]

    @retried
    def keep(self, run_id: str, results: Sequence[tuple[int, Result]], leases: Leases = NO_LEASES) -> None:
        """Keep the results of some questions, each with its place. Those of a deleted run are let go of.

        leases: the jobs that this is done for. Raises LeaseLost where another process has taken that of the run.
        """
        rows = [(storable(item.question.id), place, *_packed(item), run_id) for place, item in results]
        with self._database.transaction() as connection, connection.cursor() as cursor:
            _fence(connection, run_id, leases)
            cursor.executemany(
                "INSERT INTO evaluation_results (run_id, question_id, place, result, passages)"
                " SELECT id, %s, %s, %s, %s FROM evaluation_runs WHERE id = %s ON CONFLICT DO NOTHING",
                rows,
            )

    def results(
        self, run_id: str, question_ids: Collection[str] | None = None, *, passages: bool = True
    ) -> list[Result]:
        """The results of a run, or of some of its questions, in order. Without `passages` those have no texts."""
        texts = "passages" if passages else "NULL"
        wanted = None if question_ids is None else [storable(question_id) for question_id in question_ids]
        rows = self._database.rows(
            f"SELECT result, {texts} FROM evaluation_results WHERE run_id = %s"
            " AND (%s::text[] IS NULL OR question_id = ANY(%s)) ORDER BY place".encode(),
            (storable(run_id), wanted, wanted),
        )
        return [_unpacked(*row) for row in rows]

    @retried
    def enter(self, run_id: str, state: RunState, error: str = "", leases: Leases = NO_LEASES) -> None:
        """Change the state of a run; one that is over gets its end's time. Raises LeaseLost, as `keep`."""
        with self._database.transaction() as connection:
            _fence(connection, run_id, leases)
            connection.execute(
                "UPDATE evaluation_runs SET state = %(state)s, error = %(error)s, finished_at ="
                " CASE WHEN %(state)s IN ('done', 'cancelled', 'failed') THEN clock_timestamp() END WHERE id = %(id)s",
                {"state": state, "error": storable(error), "id": run_id},
            )

    @retried
    def note(self, run_id: str, notes: Sequence[str]) -> None:
        """Keep what is to be known of a run, in place of what was noted before."""
        self._change(run_id, "notes", clean(list(notes)))

    @retried
    def summarise(self, run_id: str, metrics: Mapping[str, Estimate]) -> None:
        """Keep the metrics of a run."""
        self._change(run_id, "metrics", to_json(metrics, whole=True))

    def _change(self, run_id: str, key: str, value: object) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE evaluation_runs SET run = jsonb_set(run, %s, %s) WHERE id = %s", ([key], Jsonb(value), run_id)
            )


def _fence(connection: Connection[TupleRow], run_id: str, leases: Leases) -> None:
    check_leases(connection, {run_id: leases[run_id]} if run_id in leases else {})


def _packed(result: Result) -> tuple[Jsonb, Jsonb]:
    """A result without the texts of its passages, and those."""
    packed = clean(to_json(result, whole=True))
    return Jsonb(packed), Jsonb([found.pop("text") for found in packed["found"]])


def _unpacked(packed: dict[str, Any], texts: list[str] | None) -> Result:
    for found, text in zip(packed["found"], texts or repeat(""), strict=False):
        found["text"] = text
    return from_json(Result, packed)


def _run(row: TupleRow) -> Run:
    run = from_json(Run, row[0])
    return replace(run, state=row[1], error=row[2], created_at=row[3], finished_at=row[4], done=row[5])
