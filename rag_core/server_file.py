"""Where the server of a data directory is: its address, process and a key, in a file that its owner alone can read.

Imports nothing heavy: a command that asks a running server is to be quick.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "server.json"


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: `url` without a slash at its end, and the key of whoever may read the data directory."""

    url: str
    pid: int
    key: str


@contextmanager
def told(folder: Path, url: str, key: str) -> Iterator[None]:
    """Tell in the data directory, which the caller owns, where its server is, until the block ends. Raises OSError."""
    from accelerator.atomic import write_atomically

    note = folder / NAME
    write_atomically(note, [json.dumps(asdict(Served(url, os.getpid(), key))).encode()], mode=0o600)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            note.unlink(missing_ok=True)


def find(folder: Path) -> Served | None:
    """The server of a data directory, or None; the note of one that was killed tells nothing."""
    try:
        served = Served(**json.loads((folder / NAME).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    try:
        os.kill(served.pid, 0)
    except PermissionError:  # another user's process
        return served
    except (OSError, TypeError, OverflowError):
        return None
    return served
