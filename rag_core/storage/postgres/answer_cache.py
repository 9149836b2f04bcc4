"""Which kept answers are given again, each under a key of all that it depended on."""

from __future__ import annotations

from rag_core.domain import Message
from rag_core.storage.postgres.conversations import MESSAGES, read_messages
from rag_core.storage.postgres.database import Database, retried

# The oldest first, so that what is given again and again is said to be of then.
_FOUND = (
    "JOIN answer_cache c ON c.message_id = messages.id WHERE c.key = %s AND messages.answer IS NOT NULL"
    " AND NOT EXISTS (SELECT FROM answer_cache o JOIN messages m ON m.id = o.message_id"
    " WHERE o.key = c.key AND m.rating = -1) ORDER BY c.kept_at LIMIT 1"
)
_BEYOND = (
    "DELETE FROM answer_cache"
    " WHERE kept_at <= (SELECT kept_at FROM answer_cache ORDER BY kept_at DESC OFFSET %s LIMIT 1)"
)


class AnswerCache:
    """Reads and writes the table. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    def find(self, key: str) -> Message | None:
        """The message whose answer is to be given again; none where the user said that such an answer is bad."""
        with self._database.transaction() as connection:
            rows = connection.execute((MESSAGES + _FOUND).encode(), (key,)).fetchall()
            return next(iter(read_messages(connection, rows)), None)

    @retried
    def keep(self, key: str, message_id: str, most: int, *, again: bool) -> None:
        """Have a message's answer given again, at most so many in all. One that was not itself given `again` takes the
        place of all under its key."""
        with self._database.transaction() as connection:
            if not again:
                connection.execute("DELETE FROM answer_cache WHERE key = %s", (key,))
            connection.execute(
                "INSERT INTO answer_cache (message_id, key) SELECT id, %s FROM messages WHERE id = %s"
                " ON CONFLICT DO NOTHING",
                (key, message_id),
            )
            connection.execute(_BEYOND, (most,))
