"""Question sets and their questions."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import Question, QuestionSet
from rag_core.domain.serialiser import from_json, to_json
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.rows import clean

_SETS = (
    "SELECT s.id, s.name, (SELECT count(*) FROM questions q WHERE q.set_id = s.id), s.created_at, s.updated_at"
    " FROM question_sets s "
)
_NAME_CHARS = 120


class QuestionSets:
    """Reads and writes question sets. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[QuestionSet]:
        """Every set, the one changed last first."""
        rows = self._database.rows(_SETS + "ORDER BY s.updated_at DESC, s.id")
        return [QuestionSet(*row) for row in rows]

    def get(self, set_id: str) -> QuestionSet:
        """One set. Raises KeyError."""
        row = self._database.row(_SETS + "WHERE s.id = %s", (storable(set_id),))
        if row is None:
            raise KeyError(set_id)
        return QuestionSet(*row)

    def create(self, name: str, questions: Sequence[Question]) -> str:
        """Make a set; returns its id."""
        set_id = uuid.uuid4().hex
        self._create(set_id, name, questions)
        return set_id

    def rename(self, set_id: str, name: str) -> None:
        """Give a set another name; an empty one changes nothing."""
        if name.strip():
            self._database.execute("UPDATE question_sets SET name = %s WHERE id = %s", (_name(name), storable(set_id)))

    def delete(self, set_id: str) -> None:
        """Delete a set with its questions. Runs on it stay."""
        self._database.execute("DELETE FROM question_sets WHERE id = %s", (storable(set_id),))

    def questions(self, set_id: str) -> list[Question]:
        """The questions of a set in order."""
        rows = self._database.rows(
            "SELECT question FROM questions WHERE set_id = %s ORDER BY place, id", (storable(set_id),)
        )
        return [from_json(Question, row[0]) for row in rows]

    @retried
    def put(self, set_id: str, questions: Sequence[Question]) -> None:
        """Add questions at the end of a set; those whose ids it has already take the place of the old ones."""
        with self._database.transaction() as connection:
            _put(connection, storable(set_id), questions)

    @retried
    def drop(self, set_id: str, question_ids: Collection[str]) -> None:
        """Delete questions of a set."""
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM questions WHERE set_id = %s AND id = ANY(%s)",
                (storable(set_id), [storable(question_id) for question_id in question_ids]),
            )
            _touch(connection, storable(set_id))

    @retried
    def _create(self, set_id: str, name: str, questions: Sequence[Question]) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO question_sets (id, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", (set_id, _name(name))
            )
            _put(connection, set_id, questions)


def _put(connection: Connection[TupleRow], set_id: str, questions: Sequence[Question]) -> None:
    row = connection.execute("SELECT coalesce(max(place), 0) FROM questions WHERE set_id = %s", (set_id,)).fetchone()
    first = (row[0] if row else 0) + 1
    packed = [clean(to_json(question, whole=True)) for question in questions]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO questions (set_id, id, place, text, question) SELECT id, %s, %s, %s, %s FROM question_sets"
            " WHERE id = %s ON CONFLICT (set_id, id) DO UPDATE SET text = excluded.text, question = excluded.question",
            [(item["id"], first + n, item["text"], Jsonb(item), set_id) for n, item in enumerate(packed)],
        )
    _touch(connection, set_id)


def _touch(connection: Connection[TupleRow], set_id: str) -> None:
    connection.execute("UPDATE question_sets SET updated_at = clock_timestamp() WHERE id = %s", (set_id,))


def _name(name: str) -> str:
    words = " ".join(storable(name).split()) or "Questions"
    return words if len(words) <= _NAME_CHARS else words[: _NAME_CHARS - 1].rstrip() + "…"
