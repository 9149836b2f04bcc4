"""Conversations, their messages and citations, and the user's preferences."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import Answer, Box, Citation, Conversation, Message, Scope, Sentence, Step
from rag_core.domain.serialiser import from_json, to_json
from rag_core.storage.postgres.collections import CALLED
from rag_core.storage.postgres.database import Database, literal, retried, storable
from rag_core.storage.postgres.rows import clean
from rag_core.text.topics import topic

_CITATION = (
    "number, chunk_id, document_id, title, page, page_label, section, text, span_start, span_end, boxes, score,"
    " score_kind, instructs, corrected, hidden"
)
MESSAGES = """
    SELECT id, question, created_at, answer, error, rating, reason, conversation_id,
        (SELECT count(*) FROM messages old WHERE old.replaced_by = messages.id AND old.answer IS NOT NULL)
    FROM messages """
"""The messages, to go on with a condition; see `read_messages`."""
_CONVERSATIONS = """
    SELECT id, title, created_at, updated_at, pinned, listed, coalesce((SELECT o.id FROM collections o
        WHERE o.id = c.collection AND o.removed_at IS NULL), '')
    FROM conversations c """
_OWN = "(%(owner)s = '' OR c.owner = %(owner)s) "
_NEWEST = "ORDER BY pinned DESC, updated_at DESC, id"
_REASON_CHARS = 2000
_TITLE_CHARS = 60
# PostgreSQL's index takes 2,700 bytes, and a character may have four.
_ID_CHARS = 500


class ConversationStore:
    """Reads and writes conversations. An answer read back has its citations, but not its hits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(
        self, conversation_id: str | None, question: str, scope: Scope | None = None, replaces: str | None = None,
        begun_by: str = "", owner: str = "",
    ) -> tuple[str, str]:  # fmt: skip
        """Note a question; begins a conversation where there is none. Returns conversation and message ids.

        One without an id is listed once it is gone on with. A `scope` becomes the conversation's own. Its message
        `replaces` and those after it are set aside; one of another conversation stays as it is. `owner`: the person
        whose it is from its beginning on.
        """
        listed = bool(conversation_id)
        conversation_id = _id(conversation_id or uuid.uuid4().hex)
        message_id = uuid.uuid4().hex
        self._ask(conversation_id, message_id, question, scope, replaces, listed, begun_by, storable(owner))
        return conversation_id, message_id

    def begun_by(self, conversation_id: str) -> str | None:
        """Who began a conversation; None where there is none."""
        row = self._database.row("SELECT begun_by FROM conversations WHERE id = %s", (_id(conversation_id),))
        return row[0] if row else None

    def scope(self, conversation_id: str) -> Scope:
        """What a conversation is narrowed to; everything where there is no such conversation."""
        row = self._database.row("SELECT scope FROM conversations WHERE id = %s", (_id(conversation_id),))
        return from_json(Scope, row[0]) if row and row[0] else Scope()

    def set_scope(self, conversation_id: str, scope: Scope) -> None:
        """Narrow a conversation, or widen it to everything again."""
        self._database.execute(
            "UPDATE conversations SET scope = %s WHERE id = %s", (_packed(scope), _id(conversation_id))
        )

    def agent(self, conversation_id: str) -> bool | None:
        """Whether an agent answers in a conversation; None where nobody chose, or there is no such conversation."""
        row = self._database.row("SELECT agent FROM conversations WHERE id = %s", (_id(conversation_id),))
        return row[0] if row else None

    def set_agent(self, conversation_id: str, agent: bool) -> bool:
        """Have an agent answer in a conversation, or none. Returns whether there is such a conversation."""
        given = (agent, _id(conversation_id))
        return bool(self._database.row("UPDATE conversations SET agent = %s WHERE id = %s RETURNING id", given))

    @retried
    def answer(self, message_id: str, answer: Answer) -> None:
        """Keep the answer to a noted question, with its citations."""
        with self._database.transaction() as connection:
            found = connection.execute(
                "UPDATE messages SET answer = %s, error = NULL WHERE id = %s AND answer IS NULL RETURNING id",
                (Jsonb(_pack(answer)), message_id),
            ).fetchone()
            # The conversation was deleted meanwhile, or the answer is kept already: its commit was not acknowledged.
            if found is not None:
                _write_citations(connection, message_id, answer)

    @retried
    def replace_answer(self, message_id: str, before: Answer, answer: Answer) -> None:
        """Keep an answer in the place of the one `before`; where that is another by now, nothing changes."""
        with self._database.transaction() as connection:
            found = connection.execute(
                "UPDATE messages SET answer = %s WHERE id = %s AND answer->>'text' = %s RETURNING id",
                (Jsonb(_pack(answer)), _id(message_id), before.text),
            ).fetchone()
            if found is not None:
                connection.execute("DELETE FROM citations WHERE message_id = %s", (found[0],))
                _write_citations(connection, message_id, answer)

    def fail(self, message_id: str, error: str) -> None:
        """Keep why a question got no answer."""
        self._database.execute("UPDATE messages SET error = %s WHERE id = %s", (storable(error), message_id))

    def all(self, owner: str = "") -> list[Conversation]:
        """Every conversation, or a person's own, the pinned ones first, then the one used last."""
        rows = self._database.rows(f"{_CONVERSATIONS}WHERE {_OWN}{_NEWEST}", {"owner": storable(owner)})
        return [Conversation(*row) for row in rows]

    def get(self, conversation_id: str) -> Conversation | None:
        """One conversation."""
        row = self._database.row(f"{_CONVERSATIONS}WHERE c.id = %s", (_id(conversation_id),))
        return Conversation(*row) if row else None

    def find(self, words: Sequence[str], owner: str = "") -> list[Conversation]:
        """Conversations whose title, questions or answers hold each of the words, in any case; in the order of `all`.

        Every text is read: there are few of them, and what is found is what is there, in any language.
        """
        patterns = [f"%{literal(word)}%" for word in words]
        rows = self._database.rows(
            _CONVERSATIONS + "JOIN LATERAL (SELECT c.title || ' ' || coalesce(string_agg(question || ' ' ||"
            " coalesce(answer->>'text', ''), ' '), '') AS said FROM messages"
            " WHERE conversation_id = c.id AND replaced_by IS NULL) m ON m.said ILIKE ALL(%(patterns)s) "
            f"WHERE {_OWN}{_NEWEST}",
            {"patterns": patterns, "owner": storable(owner)},
        )
        return [Conversation(*row) for row in rows]

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """Keep a conversation before all others, or among them again."""
        self._database.execute(
            "UPDATE conversations SET pinned = %s, listed = true WHERE id = %s", (pinned, _id(conversation_id))
        )

    @retried
    def messages(self, conversation_id: str) -> list[Message]:
        """The messages of a conversation in order, each with its answer and citations, without those set aside."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                MESSAGES + "WHERE conversation_id = %s AND replaced_by IS NULL ORDER BY created_at, id",
                (_id(conversation_id),),
            ).fetchall()
            return read_messages(connection, rows)

    @retried
    def bring_back(self, message_id: str) -> None:
        """Show again what a message took the place of; it and those after it are set aside in turn."""
        with self._database.transaction() as connection:
            back = connection.execute(
                "UPDATE messages SET replaced_by = NULL WHERE replaced_by = %s RETURNING created_at, id",
                (_id(message_id),),
            ).fetchall()
            if back:
                _set_aside(connection, _id(message_id), min(back)[1], [row[1] for row in back])

    def rate(self, message_id: str, rating: int | None, reason: str = "") -> None:
        """Keep what the user thinks of an answer, 1 good, -1 bad, None neither, and why. Raises ValueError."""
        if rating not in (1, -1, None):
            raise ValueError("A rating is 1, -1 or None.")
        self._database.execute(
            "UPDATE messages SET rating = %s, reason = %s WHERE id = %s",
            (rating, storable(reason.strip())[:_REASON_CHARS], _id(message_id)),
        )

    @retried
    def rated(self) -> list[Message]:
        """The messages that the user gave a rating, oldest first, each with its answer and citations."""
        with self._database.transaction() as connection:
            rows = connection.execute(MESSAGES + "WHERE rating IS NOT NULL ORDER BY created_at, id").fetchall()
            return read_messages(connection, rows)

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; an empty one changes nothing."""
        if title.strip():
            self._database.execute(
                "UPDATE conversations SET title = %s, listed = true WHERE id = %s",
                (_title(title), _id(conversation_id)),
            )

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its messages and citations."""
        self._database.execute("DELETE FROM conversations WHERE id = %s", (_id(conversation_id),))

    def preference(self, name: str) -> str | None:
        """A value that the user chose, or None."""
        row = self._database.row("SELECT value FROM preferences WHERE name = %s", (_id(name),))
        return row[0] if row else None

    def set_preference(self, name: str, value: str | None) -> None:
        """Keep a value that the user chose; None forgets it."""
        if value is None:
            self._database.execute("DELETE FROM preferences WHERE name = %s", (_id(name),))
        else:
            self._database.execute(
                "INSERT INTO preferences (name, value) VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (_id(name), storable(value)),
            )

    @retried
    def change_preference(self, name: str, change: Callable[[str], str]) -> None:
        """Keep what `change` makes of a value, "" where there is none, before anybody else reads or writes it."""
        with self._database.transaction() as connection:
            connection.execute("INSERT INTO preferences (name, value) VALUES (%s, '') ON CONFLICT DO NOTHING", (name,))
            row = connection.execute("SELECT value FROM preferences WHERE name = %s FOR UPDATE", (name,)).fetchone()
            connection.execute(
                "UPDATE preferences SET value = %s WHERE name = %s", (storable(change(row[0] if row else "")), name)
            )

    @retried
    def _ask(
        self, conversation_id: str, message_id: str, question: str, scope: Scope | None, replaces: str | None,
        listed: bool, begun_by: str, owner: str,
    ) -> None:  # fmt: skip
        tag = storable(scope.tags[0]) if scope is not None and len(scope.tags) == 1 else ""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO conversations (id, title, listed, begun_by, owner, collection) VALUES (%(id)s, %(title)s,"
                f" %(listed)s, %(begun_by)s, %(viewer)s, {CALLED})"
                " ON CONFLICT (id) DO UPDATE SET updated_at = now(), listed = true",
                {"id": conversation_id, "title": _title(topic(question)), "listed": listed,
                 "begun_by": storable(begun_by), "viewer": owner, "tag": tag},
            )  # fmt: skip
            if scope is not None:
                connection.execute(
                    "UPDATE conversations SET scope = %s WHERE id = %s", (_packed(scope), conversation_id)
                )
            connection.execute(
                "INSERT INTO messages (id, conversation_id, question) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (message_id, conversation_id, storable(question)),
            )
            if replaces is not None:
                _set_aside(connection, _id(replaces), message_id, [message_id])


def _set_aside(connection: Connection[TupleRow], first: str, for_message: str, kept: Sequence[str]) -> None:
    """Let a message take the place of those of its conversation from `first` on that are shown, save those `kept`."""
    connection.execute(
        "UPDATE messages SET replaced_by = n.id FROM messages f JOIN messages n USING (conversation_id)"
        " WHERE n.id = %s AND f.id = %s AND messages.id <> ALL(%s)"
        " AND messages.conversation_id = f.conversation_id AND messages.replaced_by IS NULL"
        " AND (messages.created_at, messages.id) >= (f.created_at, f.id)",
        (for_message, first, list(kept)),
    )


def read_messages(connection: Connection[TupleRow], rows: Sequence[TupleRow]) -> list[Message]:
    """Messages of rows of `MESSAGES`, with the citations of their answers."""
    citations: dict[str, list[Citation]] = {row[0]: [] for row in rows}
    for row in connection.execute(
        f"SELECT message_id, {_CITATION} FROM citations WHERE message_id = ANY(%s) ORDER BY number".encode(),
        (list(citations),),
    ):
        citations[row[0]].append(_citation(row[1:]))
    return [
        Message(
            id=row[0],
            question=row[1],
            created_at=row[2],
            answer=_unpack(row[3], row[0], row[7], tuple(citations[row[0]])) if row[3] else None,
            error=row[4],
            rating=row[5],
            reason=row[6],
            replaced=row[8],
        )
        for row in rows
    ]


def _packed(scope: Scope) -> Jsonb | None:
    return Jsonb(clean(to_json(scope, whole=True))) if scope else None


def _id(name: str) -> str:
    """A caller's name for something as one that PostgreSQL takes as a key."""
    return storable(name)[:_ID_CHARS]


def _title(text: str) -> str:
    words = " ".join(storable(text).split())
    return words if len(words) <= _TITLE_CHARS else words[: _TITLE_CHARS - 1].rstrip() + "…"


def _write_citations(connection: Connection[TupleRow], message_id: str, answer: Answer) -> None:
    rows = [
        (
            message_id, c.number, c.chunk_id, c.document_id, storable(c.title), c.page, storable(c.page_label),
            storable(c.section), storable(c.text), c.start, c.end,
            Jsonb([[box.left, box.top, box.right, box.bottom] for box in c.boxes]), c.score, c.score_kind,
            c.instructs, c.corrected, c.hidden,
        )
        for c in answer.citations
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO citations (message_id, {_CITATION}) VALUES ({', '.join(['%s'] * 17)})".encode(), rows
        )


def _citation(row: TupleRow) -> Citation:
    return Citation(
        number=row[0], chunk_id=row[1], document_id=row[2], title=row[3], page=row[4], page_label=row[5],
        section=row[6], text=row[7], start=row[8], end=row[9], boxes=tuple(Box(*box) for box in row[10]),
        score=row[11], score_kind=row[12], instructs=row[13], corrected=row[14], hidden=row[15],
    )  # fmt: skip


def _pack(answer: Answer) -> dict[str, Any]:
    """What a message's row holds of an answer: all but hits and citations, which have a table of their own."""
    packed = to_json(answer, without={"hits", "citations", "conversation", "message_id"}, whole=True)
    packed["sentences"] = [[*one.values()] for one in packed["sentences"]]
    packed["trace"]["steps"] = [[*one.values()] for one in packed["trace"]["steps"]]
    cleaned: dict[str, Any] = clean(packed)
    return cleaned


def _unpack(
    packed: Mapping[str, Any], message_id: str, conversation_id: str, citations: tuple[Citation, ...]
) -> Answer:
    trace = packed["trace"]  # of answers of long ago it has no steps
    return from_json(Answer, {
        **packed, "hits": (), "citations": citations, "conversation": conversation_id, "message_id": message_id,
        "sentences": [dict(zip(Sentence.__slots__, one, strict=True)) for one in packed["sentences"]],
        "trace": {**trace, "steps": [dict(zip(Step.__slots__, one, strict=True)) for one in trace.get("steps", ())]},
    })  # fmt: skip
