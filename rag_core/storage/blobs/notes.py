"""Notes of originals that are about to be written, of which a kill may leave some without a document."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from rag_core.storage.blobs.base import Blobs
from rag_core.storage.blobs.folder import ID

_PREFIX = "note-"


class Note:
    """The ids of originals, kept beside them."""

    def __init__(self, files: Blobs, name: str) -> None:
        self._files = files
        self._key = _PREFIX + name

    def write(self, ids: Sequence[str]) -> None:
        """Note ids. Raises StoreUnavailable."""
        self._files.write(self._key, [json.dumps(ids).encode()])

    def read(self) -> list[str]:
        """The ids; none when there is no note."""
        try:
            return [str(key) for key in json.loads(self._files.read(self._key) or "[]") if ID.fullmatch(str(key))]
        except (ValueError, TypeError):
            return []

    def clear(self, known: Collection[str]) -> None:
        """Remove the noted originals save for those of known documents, and the note. Raises StoreUnavailable."""
        for document_id in set(self.read()).difference(known):
            self._files.remove(document_id)
        self._files.remove(self._key)


@contextmanager
def note_originals(files: Blobs, ids: Sequence[str], owner: str = "") -> Iterator[set[str]]:
    """Note the originals of new documents until the block, which writes them and the documents' rows, has ended.

    It fills the set with the documents that came in; originals of others are removed then. Where the block does not
    end in order the note is left to the next opening of its owner, a server. Raises StoreUnavailable.
    """
    known: set[str] = set()
    if not ids:
        yield known
        return
    note = Note(files, f"{owner}-{secrets.token_hex(8)}")
    note.write(ids)
    yield known
    note.clear(known)


def leftover_notes(files: Blobs, owner: str = "") -> list[Note]:
    """The notes that a killed process of a server left, and those from before they had owners."""
    names = [key.removeprefix(_PREFIX) for key in files.keys(_PREFIX)]
    return [Note(files, name) for name in names if name.partition("-")[0] == owner or "-" not in name]
