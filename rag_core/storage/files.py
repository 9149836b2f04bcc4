"""The documents' own bytes, one file each, named by the document's id."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from accelerator.atomic import remove_leftovers, write_atomically
from rag_core.errors import StoreUnavailable


class FileStore:
    """A folder of files that are written once and never changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_leftovers(folder)

    def path(self, document_id: str) -> Path:
        """Where a document's bytes are kept."""
        return self._folder / document_id

    def write(self, document_id: str, parts: Iterable[bytes | memoryview]) -> None:
        """Keep a document's bytes. Raises StoreUnavailable when the disk refuses them."""
        try:
            write_atomically(self.path(document_id), parts)
        except OSError as error:
            raise disk_failure(error) from error

    def remove(self, document_id: str) -> None:
        """Remove a document's bytes; harmless when there are none."""
        self.path(document_id).unlink(missing_ok=True)


def disk_failure(error: OSError) -> StoreUnavailable:
    """The disk's complaint as an error of the house."""
    return StoreUnavailable(
        f"The data directory could not be written: {error.strerror or error}.",
        help="Make room on the disk, or check that the folder can be written, then add the document again.",
    )
