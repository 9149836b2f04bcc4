"""Keys of the doors, kept as hashes; the audit of what was changed; what was answered under idempotency keys."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import TupleRow

from rag_core.domain import AccessKey, AuditEntry, Role
from rag_core.storage.postgres.database import Database, retried, storable

_COLUMNS = "id, name, role, tags, created_at, revoked_at, person"
# The oldest lines go, so that the table cannot fill a disk.
_KEPT_LINES = 100_000
# Whoever sends a request a second time does so sooner.
_KEPT_ANSWERS = "7 days"


class AccessStore:
    """Reads and writes them. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key_id: str, name: str, role: Role, tags: Sequence[str], digest: bytes, person: str = "") -> None:
        """Keep a key; `digest` is the hash of its secret."""
        self._database.execute(
            "INSERT INTO access_keys (id, name, role, tags, digest, person) VALUES (%s, %s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (key_id, storable(name), role, [storable(tag) for tag in tags], digest, storable(person)),
        )

    def all(self) -> list[AccessKey]:
        """Every key, revoked ones too, newest first."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM access_keys ORDER BY created_at DESC, id")
        return [_key(row) for row in rows]

    def live(self) -> list[tuple[AccessKey, bytes]]:
        """Every key that was not revoked, with the hash of its secret."""
        rows = self._database.rows(f"SELECT {_COLUMNS}, digest FROM access_keys WHERE revoked_at IS NULL")
        return [(_key(row), bytes(row[7])) for row in rows]

    def revoke(self, key_id: str) -> None:
        """Let a key open nothing any longer. Raises KeyError where there is none that does."""
        statement = "UPDATE access_keys SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL RETURNING id"
        if self._database.row(statement, (storable(key_id),)) is None:
            raise KeyError(key_id)

    def note(self, who: str, action: str, status: int) -> None:
        """Write a line of the audit: who asked for what, and how it ended: an HTTP status, or a command's exit code."""
        with self._database.transaction() as connection:
            row = connection.execute(
                "INSERT INTO audit (who, action, status) VALUES (%s, %s, %s) RETURNING id",
                (storable(who), storable(action), status),
            ).fetchone()
            if row and row[0] % 1000 == 0:
                connection.execute("DELETE FROM audit WHERE id <= %s", (row[0] - _KEPT_LINES,))

    def audit(self, limit: int = 100) -> list[AuditEntry]:
        """The last lines of the audit, newest first."""
        rows = self._database.rows("SELECT at, who, action, status FROM audit ORDER BY id DESC LIMIT %s", (limit,))
        return [AuditEntry(*row) for row in rows]

    def answered(self, who: str, key: str) -> tuple[str, str] | None:
        """The digest of the request that came under an idempotency key, and what was answered, as JSON."""
        row = self._database.row(
            "SELECT digest, answer FROM repeats WHERE who = %s AND key = %s", (storable(who), storable(key))
        )
        return (row[0], row[1]) if row else None

    @retried
    def keep_answer(self, who: str, key: str, digest: str, answer: str) -> None:
        """Keep what was answered, for whoever sends the request again within a week; the oldest answers go."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM repeats WHERE at < now() - %s::interval", (_KEPT_ANSWERS,))
            connection.execute(
                "INSERT INTO repeats (who, key, digest, answer) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (storable(who), storable(key), digest, storable(answer)),
            )


def _key(row: TupleRow) -> AccessKey:
    return AccessKey(row[0], row[1], row[2], tuple(row[3]), row[4], row[5], row[6])
