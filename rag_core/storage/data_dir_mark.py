"""A data directory and its database: which server it is there, and whether what is derived here is followed there.

How far each index has followed the change log is kept in the database, for each server. Where this data directory is
used with another database, or was away for so long that it was forgotten, that tells nothing of the files here: they
are made anew.
"""

from __future__ import annotations

import logging
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from accelerator.atomic import write_atomically
from rag_core.storage.disk import disk_failure
from rag_core.storage.postgres.servers import Servers

_log = logging.getLogger(__name__)
MARK = "paired"
"""The file with the server's id."""


def pair(folder: Path, derived: Sequence[str], servers: Servers) -> str:
    """Have the `derived` folders made anew where the database does not know the server of a data directory.

    Called before any index is made; whoever is killed amid it begins again. Returns its id. Raises StoreUnavailable.
    """
    note = folder / MARK
    try:
        held = note.read_text(errors="replace") if note.exists() else ""
        if held and servers.know(held):
            return held
        note.unlink(missing_ok=True)
        server = secrets.token_hex(8)
        if not servers.enter(server, adopts=not held):
            there = [folder / name for name in derived if (folder / name).exists()]
            if there:
                _log.warning("Indexes are made anew: this data directory and its database were not used together last.")
            for path in there:
                _remove(path)
        write_atomically(note, [server.encode()])
    except OSError as error:
        raise disk_failure(error) from error
    return server


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
