"""Folders that no other user of the machine looks into, locks or puts something of theirs in."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def close_to_others(folder: Path) -> None:
    """Let nobody but its owner into a folder, where that is this user; a folder of all, like /tmp, is left as it is.

    Of root's others pass through, and see no names: PostgreSQL runs as a user of its own then.
    """
    with suppress(OSError):  # of a file system that knows no owners, or another user's
        status = folder.stat()
        kept = stat.S_IMODE(status.st_mode) & (0o711 if os.geteuid() == 0 else 0o700)
        if status.st_uid == os.geteuid() and not status.st_mode & stat.S_ISVTX and kept != stat.S_IMODE(status.st_mode):
            folder.chmod(kept)


def runtime_folder() -> Path:
    """A folder of this user's alone for sockets and locks, made where there is none. Raises OSError.

    The system gives one (XDG). Else it has a name among the temporary files, which another user may have taken first.
    """
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if given and _is_private(Path(given)):
        return Path(given)
    folder = Path(tempfile.gettempdir()) / f"lectern-{os.geteuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if _is_own(folder):
        folder.chmod(0o700)
        return folder
    return Path(tempfile.mkdtemp(prefix="lectern-"))


def _is_own(folder: Path) -> bool:
    """Whether a path is a folder of this user's, and no link to one."""
    with suppress(OSError):
        status = folder.lstat()
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return False


def _is_private(folder: Path) -> bool:
    return _is_own(folder) and not folder.stat().st_mode & 0o077
