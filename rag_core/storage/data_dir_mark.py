"""A data directory and its database: whether what is derived in the one is derived from the other.

How far each index has followed the change log is kept in the database, for one data directory. Where another one was
opened with it meanwhile, or this one with another database, that tells nothing of the files here: they are made anew.
"""

from __future__ import annotations

import logging
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from accelerator.atomic import write_atomically
from rag_core.storage.disk import disk_failure
from rag_core.storage.postgres.changes import ChangeLog
from rag_core.storage.postgres.conversations import ConversationStore
from rag_core.storage.postgres.database import MARK

_log = logging.getLogger(__name__)


def pair(folder: Path, derived: Sequence[str], preferences: ConversationStore, log: ChangeLog) -> str:
    """Have the `derived` folders made anew where a data directory and its database are not marked alike.

    Called before any index is made; whoever is killed amid it begins again. Returns the mark. Raises StoreUnavailable.
    """
    note, kept = folder / MARK, preferences.preference(MARK)
    try:
        held = note.read_text(errors="replace") if note.exists() else None
        if held is not None and held == kept:
            return held
        note.unlink(missing_ok=True)
        if held or kept:  # neither has a mark in a new library, and in one of an earlier release
            _log.warning("Indexes are made anew: this data directory and its database were not used together last.")
            for name in derived:
                _remove(folder / name)
            log.enrol(())
        mark = secrets.token_hex(8)
        preferences.set_preference(MARK, mark)
        write_atomically(note, [mark.encode()])
    except OSError as error:
        raise disk_failure(error) from error
    return mark


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
