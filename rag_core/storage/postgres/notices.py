"""What other servers have changed, as PostgreSQL tells it: whoever remembers something of a table forgets it then.

Triggers tell of tables, once for each transaction. While the connection that hears was lost, all may have changed.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_core.errors import LecternError
from rag_core.storage.postgres.database import Database
from rag_core.unexpected import stage

_log = logging.getLogger(__name__)
_CHANNEL = "lectern"
_AGAIN_S = 1.0


class Notices:
    """Listens in a thread of its own from `start` on, and calls `beat` every some seconds."""

    def __init__(self, database: Database, beat: Callable[[], None], every_s: float) -> None:
        self._database = database
        self._beat, self._every_s = beat, every_s
        self._acts: dict[str, list[Callable[[], None]]] = {}
        self._stopped = threading.Event()
        self._listener: Connection[TupleRow] | None = None
        self._thread = threading.Thread(target=self._run, name="lectern-notices", daemon=True)

    def on(self, act: Callable[[], None], *tables: str) -> None:
        """Call something, quick and harmless where nothing changed, when another server has changed any of tables."""
        for table in tables:
            self._acts[table] = [*self._acts.get(table, ()), act]

    def start(self) -> None:
        """Listen from now on, before anything is remembered."""
        with contextlib.suppress(psycopg.Error):  # it is tried again
            self._listener = self._database.listener(_CHANNEL)
        self._thread.start()

    def stop(self) -> None:
        """Listen no longer."""
        self._stopped.set()
        if self._thread.is_alive():
            with contextlib.suppress(LecternError):
                self._database.execute("SELECT pg_notify(%s, '')", (_CHANNEL,))
            self._thread.join()

    def _run(self) -> None:
        beaten_s = time.monotonic()
        while not self._stopped.is_set():
            try:
                self._tell(self._heard(max(0.0, self._every_s - (time.monotonic() - beaten_s))))
            except psycopg.Error:
                self._close()
                self._stopped.wait(_AGAIN_S)
            if not self._stopped.is_set() and time.monotonic() - beaten_s >= self._every_s:
                beaten_s = time.monotonic()
                self._try(self._beat)
        self._close()

    def _heard(self, timeout_s: float) -> set[str]:
        """The tables that others have changed, within some seconds; every one where that cannot be told."""
        if self._listener is None:
            self._listener = self._database.listener(_CHANNEL)
            return set(self._acts)
        told = (notice.payload.partition(" ") for notice in self._listener.notifies(timeout=timeout_s, stop_after=1))
        return {table for table, _, name in told if name != self._database.name}

    def _tell(self, tables: set[str]) -> None:
        for act in dict.fromkeys(act for table in sorted(tables) for act in self._acts.get(table, ())):
            self._try(act)

    def _try(self, act: Callable[[], None]) -> None:
        try:
            with stage("notice"):
                act()
        except LecternError as error:
            _log.warning("What another server changed is looked at later: %s", error)

    def _close(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(psycopg.Error):
                listener.close()
