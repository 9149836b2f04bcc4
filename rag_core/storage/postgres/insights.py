"""What was asked and what came of it, counted in PostgreSQL.

One transaction sees one state of the tables: it unpacks each answer once, into a temporary table, and counts there.
What an evaluation asks is kept elsewhere and is no question of a person; a greeting is none either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_core.domain import (
    COURTESY,
    AskedIn,
    DocumentUse,
    Insights,
    JobCount,
    JobFailure,
    NotFound,
    Scope,
    StageTime,
    TimeStep,
    TokenUse,
    Trust,
    UnusedDocument,
)
from rag_core.storage.postgres.database import Database, retried

MOST_LISTED = 300
"""Different questions that found no sure answer, unused documents and failed jobs that are listed at most."""

_BINS = 5
# More bars than these cannot be told apart.
_STEPS: tuple[tuple[int, TimeStep], ...] = ((31, "day"), (26 * 7, "week"))

_WITHIN: LiteralString = (
    "(%(documents)s::text[] IS NULL OR c.document_id = ANY(%(documents)s))"
    " AND (%(sections)s::text[] IS NULL OR lower(c.section) = ANY(%(sections)s))"
)
_ASKED: LiteralString = f"""
    CREATE TEMPORARY TABLE asked ON COMMIT DROP AS
    SELECT m.id, m.conversation_id, m.question, m.created_at, m.rating, a.confidence, a.model, t.latency_ms, t.tokens,
        coalesce(nullif(t.query, ''), m.question) AS query,
        CASE WHEN m.error IS NOT NULL THEN 'failed' WHEN m.answer IS NULL OR a.stopped THEN 'stopped'
             WHEN NOT a.abstained THEN 'answered'
             WHEN EXISTS (SELECT FROM citations n WHERE n.message_id = m.id) THEN 'perhaps'
             ELSE 'not found' END AS outcome
    FROM messages m
    LEFT JOIN LATERAL jsonb_to_record(m.answer) AS a
        (confidence float8, model text, abstained boolean, stopped boolean, trace jsonb) ON true
    LEFT JOIN LATERAL jsonb_to_record(a.trace) AS t (query text, latency_ms jsonb, tokens jsonb, searched jsonb) ON true
    LEFT JOIN LATERAL (SELECT substring(n->>'chunk_id' FROM '(.*):') AS document_id, n->>'section' AS section
        FROM (SELECT t.searched->'candidates'->0 AS n) AS first) AS c ON true
    WHERE m.created_at >= coalesce(%(since)s::timestamptz, '-infinity') AND coalesce(a.model, '') <> %(courtesy)s
        AND (%(viewer)s::text = ''
            OR m.conversation_id IN (SELECT id FROM conversations WHERE owner = %(viewer)s::text))
        AND (%(everything)s::boolean OR NOT coalesce(a.abstained, false)
                 AND EXISTS (SELECT FROM citations c WHERE c.message_id = m.id AND {_WITHIN})
             OR (a.abstained OR NOT EXISTS (SELECT FROM citations c WHERE c.message_id = m.id)) AND {_WITHIN})"""
_STATE = """
    SELECT (SELECT (count(*), count(answer), count(error), count(rating), sum(rating))::text FROM messages),
        (SELECT (count(*), count(ended_at), max(ended_at))::text FROM jobs),
        (SELECT max(id) FROM changes)"""
_MAP_STATE = """
    SELECT (SELECT max(id) FROM changes), (SELECT (count(*), max(made_at))::text FROM document_summaries),
        (SELECT (count(*), sum(built))::text FROM document_clusters)"""
_PLACED = """
    SELECT d.id, d.title, d.chunk_count, s.vector
    FROM document_summaries s JOIN documents d ON d.id = s.document_id AND d.state = 'ready'
        AND d.generation = s.generation AND d.profile = s.profile ORDER BY d.id"""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Documents with a summary in the order of their ids, and the summaries' vectors, float32 (n, d)."""

    documents: tuple[tuple[str, str, int], ...]
    """Id, title, number of chunks."""
    vectors: NDArray[np.float32]


class InsightsStore:
    """Counts. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self) -> tuple[object, ...]:
        """Changes whenever what is counted does."""
        return self._database.row(_STATE) or ()

    def map_state(self) -> tuple[object, ...]:
        """Changes whenever what a map is made of does."""
        return self._database.row(_MAP_STATE) or ()

    @retried
    def count(
        self, days: int | None, scope: Scope, documents: Sequence[str] | None, sections: Sequence[str] = ()
    ) -> Insights:
        """What was asked in the last `days`, of `documents` (None: of everything), which are those of `scope`, as the
        titles of its `sections` are, in small letters."""
        with self._database.transaction() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            until, first = _moments(connection, scope.viewer)
            since = first if days is None else until - timedelta(days=days - 1)
            step = _step(since, until)
            values = {
                "since": None if days is None else since.replace(hour=0, minute=0, second=0, microsecond=0),
                "step": step, "documents": documents, "everything": documents is None and not scope.sections,
                "sections": list(sections) or None, "courtesy": COURTESY, "viewer": scope.viewer,
                "bins": _BINS, "most": MOST_LISTED,
            }  # fmt: skip
            connection.execute(_ASKED, values)
            not_found, not_found_count = _not_found(connection, values)
            unused, unused_count = _unused(connection, values)
            return Insights(
                days, scope, until, step, asked=_asked(connection, values, since.date(), until.date()),
                not_found=not_found, not_found_count=not_found_count, used=_used(connection, values), unused=unused,
                unused_count=unused_count, times=_times(connection), trust=_trust(connection, values),
                tokens=_tokens(connection, values), jobs=_jobs(connection, values),
                failures=_failures(connection, values),
            )  # fmt: skip

    def placed(self) -> Placed:
        """What a map of the documents is made of."""
        rows = self._database.rows(_PLACED.encode(), binary=True)
        vectors = np.asarray([row[3].to_numpy() for row in rows], dtype=np.float32)
        return Placed(tuple(row[:3] for row in rows), vectors)


def _moments(connection: Connection[TupleRow], viewer: str) -> tuple[datetime, datetime]:
    """Now, and when the first question was asked, by a viewer if there is one, in the database's time zone."""
    row = connection.execute(
        "SELECT now(), coalesce(min(m.created_at), now()) FROM messages m JOIN conversations c"
        " ON c.id = m.conversation_id WHERE %(viewer)s::text = '' OR c.owner = %(viewer)s",
        {"viewer": viewer},
    ).fetchone()
    return row if row else (datetime.now().astimezone(), datetime.now().astimezone())


def _step(since: datetime, until: datetime) -> TimeStep:
    days = (until - since).days
    return next((step for most, step in _STEPS if days <= most), "month")


def _asked(
    connection: Connection[TupleRow], values: Mapping[str, Any], since: date, until: date
) -> tuple[AskedIn, ...]:
    """The questions of every step of the period, also of those without any."""
    rows = connection.execute(
        """SELECT b::date, count(*) FILTER (WHERE outcome = 'answered'), count(*) FILTER (WHERE outcome = 'perhaps'),
            count(*) FILTER (WHERE outcome = 'not found'), count(*) FILTER (WHERE outcome = 'stopped'),
            count(*) FILTER (WHERE outcome = 'failed')
        FROM generate_series(date_trunc(%(step)s::text, %(first)s::timestamp), %(last)s::timestamp,
            ('1 ' || %(step)s::text)::interval) AS b
        LEFT JOIN asked ON date_trunc(%(step)s::text, created_at::timestamp) = b GROUP BY b ORDER BY b""",
        {**values, "first": since, "last": until},
    ).fetchall()
    return tuple(AskedIn(*row) for row in rows)


def _not_found(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[tuple[NotFound, ...], int]:
    """The newest different questions that found no sure answer, and how many different ones there are."""
    rows = connection.execute(
        """SELECT (array_agg(question ORDER BY created_at DESC))[1], (array_agg(query ORDER BY created_at DESC))[1],
            count(*), max(created_at), (array_agg(conversation_id ORDER BY created_at DESC))[1], count(*) OVER ()
        FROM asked WHERE outcome IN ('perhaps', 'not found') GROUP BY lower(query)
        ORDER BY max(created_at) DESC, lower(query) LIMIT %(most)s""",
        values,
    ).fetchall()
    return tuple(NotFound(*row[:5]) for row in rows), rows[0][5] if rows else 0


def _used(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[DocumentUse, ...]:
    """Every document that an answer cites, the most cited first."""
    rows = connection.execute(
        f"""SELECT c.document_id, coalesce(max(d.title), max(c.title)), count(DISTINCT c.message_id), count(*),
            max(a.created_at), count(d.id) > 0
        FROM citations c JOIN asked a ON a.id = c.message_id AND a.outcome = 'answered'
        LEFT JOIN documents d ON d.id = c.document_id AND d.state <> 'removing'
        WHERE {_WITHIN} GROUP BY c.document_id ORDER BY 3 DESC, 4 DESC, 2, 1""",
        values,
    ).fetchall()
    return tuple(DocumentUse(*row) for row in rows)


def _unused(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[tuple[UnusedDocument, ...], int]:
    """Ready documents that no answer of the period cites, the oldest first, and how many there are."""
    rows = connection.execute(
        f"""SELECT d.id, d.title, d.added_at, count(*) OVER () FROM documents d WHERE d.state = 'ready'
            AND (%(documents)s::text[] IS NULL OR d.id = ANY(%(documents)s)) AND NOT EXISTS (
                SELECT FROM citations c JOIN asked a ON a.id = c.message_id AND a.outcome = 'answered'
                WHERE c.document_id = d.id AND {_WITHIN})
        ORDER BY d.added_at, d.id LIMIT %(most)s""",
        values,
    ).fetchall()
    return tuple(UnusedDocument(*row[:3]) for row in rows), rows[0][3] if rows else 0


def _times(connection: Connection[TupleRow]) -> tuple[StageTime, ...]:
    """The stages of answers that came to their end, in no order."""
    rows = connection.execute(
        """SELECT stage, count(*), percentile_cont(ARRAY[.5, .9, .95, .99]) WITHIN GROUP (ORDER BY ms::float8)
        FROM asked, jsonb_each_text(latency_ms) AS spent (stage, ms)
        WHERE outcome IN ('answered', 'perhaps', 'not found') GROUP BY stage"""
    ).fetchall()
    return tuple(StageTime(stage, count, *percentiles) for stage, count, percentiles in rows)


def _trust(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[Trust, ...]:
    """Answers by confidence, from bins of the same width; those without an answer are left out."""
    rows = connection.execute(
        """SELECT b, count(*) FILTER (WHERE rating = 1), count(*) FILTER (WHERE rating = -1),
            count(a.id) FILTER (WHERE rating IS NULL)
        FROM generate_series(0, %(bins)s::integer - 1) AS b
        LEFT JOIN asked a ON outcome = 'answered'
            AND least(floor(confidence * %(bins)s::integer), %(bins)s::integer - 1) = b
        GROUP BY b ORDER BY b""",
        values,
    ).fetchall()
    return tuple(Trust(bin_ / _BINS, (bin_ + 1) / _BINS, *counts) for bin_, *counts in rows)


def _tokens(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[TokenUse, ...]:
    """What language models read and wrote, also for answers that were stopped."""
    rows = connection.execute(
        """SELECT date_trunc(%(step)s::text, created_at::timestamp)::date, model, count(*),
            sum((tokens->>'prompt')::bigint)::bigint, sum((tokens->>'answer')::bigint)::bigint
        FROM asked WHERE tokens ?& ARRAY['prompt', 'answer'] GROUP BY 1, 2 ORDER BY 1, 2""",
        values,
    ).fetchall()
    return tuple(TokenUse(*row) for row in rows)


_JOBS: LiteralString = (
    "FROM jobs c WHERE c.created_at >= coalesce(%(since)s::timestamptz, '-infinity')"
    " AND (%(documents)s::text[] IS NULL OR c.document_id = ANY(%(documents)s))"
)


def _jobs(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[JobCount, ...]:
    """Jobs by kind. Those that ended more than 30 days ago are forgotten."""
    rows = connection.execute(
        f"""SELECT kind, count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed'),
            count(*) FILTER (WHERE state = 'cancelled'), count(*) FILTER (WHERE state IN ('waiting', 'running')),
            percentile_cont(ARRAY[.5, .95]) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - began_at))
        {_JOBS} GROUP BY kind ORDER BY count(*) DESC, kind""",
        values,
    ).fetchall()
    return tuple(JobCount(*row[:5], *(row[5] or (None, None))) for row in rows)


def _failures(connection: Connection[TupleRow], values: Mapping[str, Any]) -> tuple[JobFailure, ...]:
    """The jobs that failed last."""
    rows = connection.execute(
        f"""SELECT kind, name, coalesce(error->>'message', ''), coalesce(error->>'help', ''),
            coalesce(ended_at, created_at) AS at {_JOBS} AND state = 'failed' ORDER BY at DESC, id LIMIT %(most)s""",
        values,
    ).fetchall()
    return tuple(JobFailure(*row) for row in rows)
