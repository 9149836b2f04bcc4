"""The servers that have a database, one for each data directory, and what one of them does at a time."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Sequence
from contextlib import suppress

from rag_core.domain import LibraryServer
from rag_core.errors import StoreUnavailable
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.ownership import forgotten

BEAT_S = 10.0
"""How often a server says that it lives."""
GONE_S = 3 * BEAT_S
"""After so long without a word what a server was about to do is another one's."""
_KEPT_DAYS = 7
"""For so long the change log is kept for a server that is away; one that comes later makes its indexes anew."""


class Servers:
    """The tables. Raises StoreUnavailable. lanes: whose jobs this one takes as a worker; a server has none."""

    def __init__(self, database: Database, lanes: Sequence[str] = ()) -> None:
        self._database = database
        self._lanes = lanes

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
            "UPDATE servers SET seen_at = clock_timestamp(), name = %s, lanes = %s WHERE id = %s RETURNING id",
            (
                storable(f"process {os.getpid()} on {socket.gethostname()}"),
                list(self._lanes) or None,
                self._database.server,
            ),
        )
        if known is None:
            raise forgotten()
        self._database.execute(
            "UPDATE leases SET until = clock_timestamp() + make_interval(secs => %s) WHERE server = %s"
            " AND until > clock_timestamp()", (GONE_S, self._database.server),
        )  # fmt: skip
        self._database.execute(
            "DELETE FROM servers WHERE seen_at < now() - make_interval(days => %s)", (_KEPT_DAYS,)
        )  # fmt: skip

    def others(self) -> list[str]:
        """What those others are called that live, without workers."""
        return [one.name for one in self.living() if not (one.is_this or one.lanes)]

    def living(self, indexes: Collection[str] = ()) -> list[LibraryServer]:
        """Those that live, servers before workers, each with how many documents its `indexes` have yet to take."""
        rows = self._database.rows(
            "SELECT name, coalesce(lanes, '{}'), id = %s, (SELECT count(DISTINCT document_id) FROM index_waiting w"
            " WHERE w.server = s.id AND w.index_name = ANY(%s)) FROM servers s"
            " WHERE seen_at > now() - make_interval(secs => %s) ORDER BY lanes IS NOT NULL, id",
            (self._database.server, list(indexes), GONE_S),
        )
        return [LibraryServer(row[0], tuple(row[1]), is_this=row[2], behind=row[3]) for row in rows]

    def leave(self) -> None:
        """A worker lives no longer, as others see it at once; a server that is started again goes on meanwhile."""
        if self._lanes:
            with suppress(StoreUnavailable):
                self._database.execute(
                    "UPDATE servers SET seen_at = now() - make_interval(secs => %s) WHERE id = %s",
                    (GONE_S, self._database.server),
                )

    def let_go(self, name: str) -> None:
        """Have no longer what one server does at a time; harmless where it is not this one's."""
        self._database.execute("DELETE FROM leases WHERE name = %s AND server = %s", (name, self._database.server))

    def hold(self, name: str, seconds: float = GONE_S) -> bool:
        """Have what one server does at a time, for some seconds and as long as this one lives. Returns whether it is
        this one's."""
        mine = {"name": name, "server": self._database.server, "s": seconds}
        lasts = "until > clock_timestamp() + make_interval(secs => %(s)s / 2)"  # or it is written at every look
        held = f"SELECT FROM leases WHERE name = %(name)s AND server = %(server)s AND {lasts}"
        if self._database.row(held, mine) is not None:
            return True
        row = self._database.row(
            "INSERT INTO leases AS l (name, server, until)"
            " VALUES (%(name)s, %(server)s, clock_timestamp() + make_interval(secs => %(s)s))"
            " ON CONFLICT (name) DO UPDATE SET server = excluded.server, until = excluded.until"
            " WHERE l.server = excluded.server OR l.until < clock_timestamp() RETURNING server",
            mine,
        )
        return row is not None
