"""One owner per data directory: a lock that a killed process lets go of, and a note of who holds it."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from accelerator.atomic import write_atomically
from rag_core import server_file
from rag_core.errors import ConfigurationError, LibraryInUse
from rag_core.runtime.private_folders import close_to_others

# A new owner takes the lock a moment before it writes its note; until then there is none, or that of the one before.
_PATIENCE_S = 1.0


class DataDirLock:
    """The lock on a data directory, which is its owner's alone, held from `take` until `release`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / "owner.json"
        # Whoever could open it could hold it.
        self._lock = FileLock(folder / "owner.lock", mode=0o600, thread_local=False)

    def take(self) -> None:
        """Make the folder where needed and lock it. Raises LibraryInUse or ConfigurationError."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            close_to_others(self._folder)
            with suppress(OSError):  # there is none yet, or it is another user's
                Path(self._lock.lock_file).chmod(0o600)
            self._lock.acquire(timeout=0)
            write_atomically(self._note, [json.dumps(_myself()).encode()])
        except Timeout as error:
            raise LibraryInUse(
                f"The library in {self._folder} is open in {self._holder()}.", help=self._help()
            ) from error
        except OSError as error:
            self._lock.release()
            raise ConfigurationError(
                f"The folder {self._folder} cannot be written: {error.strerror or error}.",
                help="Give yourself the right to write there, or set LECTERN_DATA_DIR to another folder.",
            ) from error
        except BaseException:
            self._lock.release()
            raise

    def release(self) -> None:
        """Let the folder go."""
        self._lock.release()

    def _help(self) -> str:
        served = server_file.find(self._folder)
        if served is None:
            return LibraryInUse.default_help
        there = f'Its pages are at {served.url}; Python uses it there by Library.connect("{served.url}").'
        return f"{there} {LibraryInUse.default_help}"

    def _holder(self) -> str:
        """Who has the lock, by a note of a process that lives; another's may be out of date and tells nothing."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                note = json.loads(self._note.read_text())
                if _lives(int(note["pid"])):
                    return f"process {note['pid']}, started {note['started']}"
            except (OSError, ValueError, KeyError, TypeError):
                pass
            if time.monotonic() > deadline:
                return "another process"
            time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:  # another user's
        return True
    except (OSError, OverflowError):
        return False
    return pid > 0


def _myself() -> dict[str, str | int]:
    return {"pid": os.getpid(), "started": datetime.now(UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")}
