"""A folder of files, each named by its key."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from accelerator.atomic import write_atomically, write_together
from rag_core.storage.blobs.base import Blobs
from rag_core.storage.disk import disk_failure, prepare_folder, remove_file

ID = re.compile("[0-9a-f]{32}")
_NAMED = "named"


class FolderBlobs(Blobs):
    """A folder, of the data directory or one that servers share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.address = self._folder.as_uri()

    @classmethod
    def at(cls, address: str) -> FolderBlobs:
        """The store of a file's address."""
        return cls(Path(url2pathname(urlsplit(address).path)))

    def prepare(self, copies: Path, older_s: float = 0.0) -> None:
        """The folder."""
        prepare_folder(self._folder, older_s)

    def path(self, key: str) -> Path:
        """The file itself."""
        return self._folder / key

    def named(self, key: str, name: str) -> Path:
        """A link of that name beside the files."""
        folder = self._folder / _NAMED / key
        link = folder / Path(name).name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(Path("../..", key))
        except OSError:
            return self.path(key)
        return link

    def has(self, key: str) -> bool:
        """Whether the file is there."""
        return self.path(key).exists()

    def keys(self, prefix: str) -> list[str]:
        """The names that begin so."""
        return [path.name for path in self._folder.glob(f"{prefix}*")]

    def listing(self) -> dict[str, tuple[int, float]]:
        """By size and date of the files."""
        found = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if ID.fullmatch(entry.name):
                    status = entry.stat()
                    found[entry.name] = (status.st_size if entry.is_file() else -1, status.st_mtime)
        return found

    def read(self, key: str) -> bytes | None:
        """What the file holds."""
        try:
            return self.path(key).read_bytes()
        except OSError:
            return None

    def write_many(self, blobs: Mapping[str, bytes]) -> None:
        """Each whole or not at all."""
        try:
            write_together({self.path(key): [data] for key, data in blobs.items()}, kind="original")
        except OSError as error:
            raise disk_failure(error) from error

    def write(self, key: str, parts: Iterable[bytes | memoryview]) -> None:
        """Whole or not at all."""
        try:
            write_atomically(self.path(key), parts, kind="original" if ID.fullmatch(key) else "file")
        except OSError as error:
            raise disk_failure(error) from error

    def remove(self, key: str) -> None:
        """The file, and the links to it."""
        shutil.rmtree(self._folder / _NAMED / key, ignore_errors=True)
        remove_file(self.path(key))

    def free(self) -> float:
        """What the disk has."""
        return shutil.disk_usage(self._folder).free
