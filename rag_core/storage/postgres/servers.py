"""The servers that have a database, one for each data directory, and what one of them does at a time."""

from __future__ import annotations

import os
import socket

from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.ownership import forgotten

BEAT_S = 10.0
"""How often a server says that it lives."""
GONE_S = 3 * BEAT_S
"""After so long without a word what a server was about to do is another one's."""
_KEPT_DAYS = 7
"""For so long the change log is kept for a server that is away; one that comes later makes its indexes anew."""


class Servers:
    """The tables. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def know(self, server: str) -> bool:
        """Whether the log is kept for a server."""
        return self._database.row("SELECT FROM servers WHERE id = %s", (server,)) is not None

    @retried
    def enter(self, server: str, *, adopts: bool) -> bool:
        """Have a new server. adopts: where the library is from before servers had ids, its indexes are followed on
        from where they are. Returns whether that is so."""
        with self._database.transaction() as connection:
            old = connection.execute("SELECT FROM servers WHERE id = ''").fetchone() is not None
            if old and adopts:
                connection.execute("UPDATE servers SET id = %s WHERE id = ''", (server,))
                return True
            connection.execute("DELETE FROM servers WHERE id = ''")
            connection.execute("INSERT INTO servers (id) VALUES (%s) ON CONFLICT DO NOTHING", (server,))
        return False

    def beat(self) -> None:
        """This server lives; those that were away for too long are forgotten. Raises LibraryInUse where it was."""
        known = self._database.row(
            "UPDATE servers SET seen_at = clock_timestamp(), name = %s WHERE id = %s RETURNING id",
            (storable(f"process {os.getpid()} on {socket.gethostname()}"), self._database.server),
        )
        if known is None:
            raise forgotten()
        self._database.execute(
            "DELETE FROM servers WHERE seen_at < now() - make_interval(days => %s)", (_KEPT_DAYS,)
        )  # fmt: skip

    def others(self) -> list[str]:
        """What those others are called that live."""
        rows = self._database.rows(
            "SELECT name FROM servers WHERE id <> %s AND seen_at > now() - make_interval(secs => %s) ORDER BY id",
            (self._database.server, GONE_S),
        )
        return [row[0] for row in rows]

    def leave(self) -> None:
        """This server ends in good order: what it was about to do is another one's at once."""
        self._database.execute("DELETE FROM leases WHERE server = %s", (self._database.server,))
        self._database.execute("UPDATE servers SET name = '' WHERE id = %s", (self._database.server,))

    def hold(self, name: str, seconds: float = GONE_S) -> bool:
        """Have what one server does at a time, for some seconds, as often as it is asked for. Returns whether it is
        this one's."""
        row = self._database.row(
            "INSERT INTO leases AS l (name, server, until)"
            " VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s)) ON CONFLICT (name) DO UPDATE"
            " SET server = excluded.server, until = excluded.until"
            " WHERE l.server = excluded.server OR l.until < clock_timestamp() RETURNING server",
            (name, self._database.server, seconds),
        )
        return row is not None
