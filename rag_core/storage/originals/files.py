"""The documents' own bytes, one file each, named by the document's id."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from accelerator.atomic import remove_leftovers, write_atomically, write_together
from rag_core.errors import ConfigurationError, StoreUnavailable

ID = re.compile("[0-9a-f]{32}")
_NAMED = "named"


class FileStore:
    """A folder of files that are written once and never changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        prepare_folder(folder)

    def path(self, document_id: str) -> Path:
        """Where a document's bytes are kept."""
        return self._folder / document_id

    def named(self, document_id: str, name: str) -> Path:
        """A document's bytes under a name, which tells what opens them; by id where it cannot be given."""
        folder = self._folder / _NAMED / document_id
        link = folder / Path(name).name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(Path("../..", document_id))
        except OSError:
            return self.path(document_id)
        return link

    def held(self) -> dict[str, tuple[int, float]]:
        """What is kept here by document id: its size in bytes and when it was written, seconds since 1970."""
        found = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if ID.fullmatch(entry.name):
                    status = entry.stat()
                    found[entry.name] = (status.st_size if entry.is_file() else -1, status.st_mtime)
        return found

    def holds(self, document_id: str, data: bytes) -> bool:
        """Whether a document's bytes are here and sound."""
        try:
            return self.path(document_id).read_bytes() == data
        except OSError:
            return False

    def read(self, document_id: str) -> bytes | None:
        """A document's bytes; None where they are lost."""
        try:
            return self.path(document_id).read_bytes()
        except OSError:
            return None

    def write_many(self, originals: Mapping[str, bytes]) -> None:
        """Keep the bytes of many documents, synced together. Raises StoreUnavailable; some may then be kept."""
        try:
            write_together({self.path(key): [data] for key, data in originals.items()}, kind="original")
        except OSError as error:
            raise disk_failure(error) from error

    def write(self, document_id: str, parts: Iterable[bytes | memoryview]) -> None:
        """Keep a document's bytes. Raises StoreUnavailable when the disk refuses them."""
        try:
            write_atomically(self.path(document_id), parts, kind="original")
        except OSError as error:
            raise disk_failure(error) from error

    def remove(self, document_id: str) -> None:
        """Remove a document's bytes; harmless when there are none. Raises StoreUnavailable."""
        shutil.rmtree(self._folder / _NAMED / document_id, ignore_errors=True)
        remove_file(self.path(document_id))


def prepare_folder(folder: Path) -> None:
    """Make a store's folder where there is none, and clear what a killed writer left. Raises ConfigurationError."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_leftovers(folder)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} cannot be used: {error.strerror or error}.",
            help="Move what is in its place out of the way, or give yourself the right to write there.",
        ) from error


def remove_file(path: Path) -> None:
    """Remove a file; harmless when there is none. Raises StoreUnavailable."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise disk_failure(error) from error


def disk_failure(error: OSError) -> StoreUnavailable:
    """The disk's complaint as an error of the house."""
    return StoreUnavailable(
        f"The data directory could not be written: {error.strerror or error}.",
        help="Make room on the disk, or check that the folder can be written, then add the document again.",
    )
