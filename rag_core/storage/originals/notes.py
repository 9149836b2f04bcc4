"""Notes of originals that are about to be written, of which a kill may leave some without a document."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from accelerator.atomic import write_atomically
from rag_core.storage.originals.files import ID, FileStore, disk_failure, remove_file

_PREFIX = "note-"


class Note:
    """The ids of originals, in a file beside them."""

    def __init__(self, files: FileStore, name: str) -> None:
        self._files = files
        self._path = files.path(_PREFIX + name)

    def write(self, ids: Sequence[str]) -> None:
        """Note ids. Raises StoreUnavailable."""
        try:
            write_atomically(self._path, [json.dumps(ids).encode()])
        except OSError as error:
            raise disk_failure(error) from error

    def read(self) -> list[str]:
        """The ids; none when there is no note."""
        try:
            return [str(key) for key in json.loads(self._path.read_bytes()) if ID.fullmatch(str(key))]
        except (OSError, ValueError, TypeError):
            return []

    def clear(self, known: Collection[str]) -> None:
        """Remove the noted originals save for those of known documents, and the note. Raises StoreUnavailable."""
        for document_id in set(self.read()).difference(known):
            self._files.remove(document_id)
        remove_file(self._path)


@contextmanager
def noted(files: FileStore, ids: Sequence[str]) -> Iterator[set[str]]:
    """Note the originals of new documents until the block, which writes them and the documents' rows, has ended.

    It fills the set with the documents that came in; originals of others are removed then. Where the block does not
    end in order the note is left to the next opening. Raises StoreUnavailable.
    """
    known: set[str] = set()
    if not ids:
        yield known
        return
    note = Note(files, secrets.token_hex(8))
    note.write(ids)
    yield known
    note.clear(known)


def left_notes(files: FileStore) -> list[Note]:
    """The notes that a killed process left."""
    return [Note(files, path.name.removeprefix(_PREFIX)) for path in files.path("").glob(f"{_PREFIX}*")]
