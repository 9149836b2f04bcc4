"""The vector dumps of the library: one file per document, and the scanner that searches them."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import sync_folder
from accelerator.dump import Dump, write_dumps
from accelerator.errors import DumpError
from accelerator.faults import reach
from accelerator.scanner import Match, Scanner
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.storage.files import disk_failure, prepare_folder, remove_file

_log = logging.getLogger(__name__)
_SUFFIX = ".dump"
# The vectors of a document's chunks, float32 (n, d), and the MD5 sums of their texts.
Rows = tuple[NDArray[np.float32], list[str]]
Vectors = Callable[[str], Rows]


@dataclass(slots=True)
class Loaded:
    """What loading did: the documents whose dump was written anew, and those whose dump could not be, with why."""

    mended: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    reason: str = ""


class DumpStore:
    """Dump files under one folder. Nothing can be scanned until a profile is set."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._profile: Profile | None = None
        self._scanner: Scanner | None = None
        prepare_folder(folder)

    def use(self, profile: Profile) -> None:
        """Set the profile that every dump must carry. A second call with the same profile changes nothing."""
        if self._profile != profile:
            self._profile = profile
            self._scanner = Scanner(profile.dimensions)

    def load(self, ids: Iterable[str], vectors: Vectors) -> Loaded:
        """Map the dumps of ready documents; what is missing or damaged is written anew from `vectors`.

        One whose chunks PostgreSQL itself has lost is left out: a comparison of the stores tells of it. One that
        cannot be written is left out too.
        """
        loaded = Loaded()
        for document_id in ids:
            try:
                self.show(document_id)
            except StoreCorrupt:
                self._load_anew(document_id, vectors, loaded)
        return loaded

    def _load_anew(self, document_id: str, vectors: Vectors, loaded: Loaded) -> None:
        try:
            rows = vectors(document_id)
        except StoreCorrupt as error:
            _log.warning("A document cannot be searched: %s", error)
            return
        try:
            self.write(document_id, *rows)
            self.show(document_id)
        except (StoreCorrupt, StoreUnavailable) as error:
            loaded.left_out.append(document_id)
            loaded.reason = str(error)
        else:
            loaded.mended.append(document_id)

    def mend(self, document_id: str, vectors: Vectors) -> None:
        """Write a document's dump anew and search it. Raises StoreUnavailable or StoreCorrupt."""
        self.write(document_id, *vectors(document_id))
        self.show(document_id)

    def write(self, document_id: str, vectors: NDArray[np.float32], md5: list[str]) -> None:
        """Write a document's dump: vectors float32 (n, d) and the MD5 sums of its texts. Raises StoreUnavailable."""
        self.write_many({document_id: (vectors, md5)})

    def write_many(self, dumps: Mapping[str, Rows]) -> None:
        """Write the dumps of many documents, synced together. Raises StoreUnavailable; some may then be written."""
        rows = {self._path(key): (vectors, _hashes(md5)) for key, (vectors, md5) in dumps.items()}
        try:
            for path in rows:
                if path.is_dir() and not path.is_symlink():  # a file cannot take a folder's place
                    shutil.rmtree(path)
            write_dumps(rows, profile=self._required().id)
        except OSError as error:
            raise disk_failure(error) from error

    def show(self, document_id: str) -> None:
        """Map a document's dump and search it from now on. Raises StoreCorrupt when it cannot be used."""
        self._searchable().add(document_id, self.open(document_id))

    def open(self, document_id: str) -> Dump:
        """A document's dump, mapped anew. Raises StoreCorrupt when it cannot be used."""
        profile = self._required()
        path = self._path(document_id)
        try:
            return Dump.open(path, profile=profile.id, dimensions=profile.dimensions)
        except FileNotFoundError as error:
            raise StoreCorrupt("The dump file is missing.") from error
        except OSError as error:
            raise StoreCorrupt(f"The dump file cannot be read: {error.strerror or error}.") from error
        except DumpError as error:
            raise StoreCorrupt(f"The dump file {str(error).removeprefix(f'{path} ')}.") from error

    def held(self) -> set[str]:
        """The documents that have a file here, usable or not."""
        return {path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"[!.]*{_SUFFIX}")}

    def searched(self) -> set[str]:
        """The documents whose dumps a search looks at."""
        return set() if self._scanner is None else self._scanner.keys()

    def remove(self, document_id: str) -> None:
        """Remove a document's dump; harmless when there is none. Raises StoreUnavailable."""
        self.hide(document_id)
        path = self._path(document_id)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            remove_file(path)

    def succeed(self, successor: DumpStore, ready: Collection[str]) -> None:
        """Search what another store holds of ready documents, from this instant on. Its files are taken after that."""
        for document_id in successor.searched() - set(ready):
            successor.hide(document_id)
        self._profile, self._scanner = successor._profile, successor._scanner

    def take_files(self, successor: DumpStore, ids: Iterable[str]) -> None:
        """Take the files of another store that fit this one's profile, and remove what is left of it.

        Raises StoreUnavailable.
        """
        try:
            for document_id in ids:
                if self._fits(successor._path(document_id)):
                    successor._path(document_id).replace(self._path(document_id))
                    reach("switch.taking")
            sync_folder(self._folder)
        except OSError as error:
            raise disk_failure(error) from error
        shutil.rmtree(successor._folder, ignore_errors=True)

    def hide(self, document_id: str) -> None:
        """Search a document no longer, from this instant."""
        if self._scanner is not None:
            self._scanner.remove(document_id)

    def search(self, query: NDArray[np.float32], k: int) -> list[tuple[Match, NDArray[np.float32]]]:
        """The k nearest rows with their vectors. query: float32 (d,). Raises StoreCorrupt without a profile."""
        scanner = self._searchable()
        matches = scanner.search(query, k)
        return list(zip(matches, scanner.vectors(matches), strict=True)) if matches else []

    def md5(self, document_id: str, row: int) -> str:
        """The MD5 sum that a dump holds for a row. Raises StoreCorrupt when it cannot be read."""
        try:
            hashed: str = Dump.open(self._path(document_id)).hashes[row].tobytes().hex()
        except (DumpError, OSError, IndexError) as error:
            raise StoreCorrupt(f"A dump file cannot be used: {error}") from error
        return hashed

    def describe(self) -> str:
        """What searches the dumps, in a few words."""
        if self._scanner is None:
            return "dumps, nothing to search yet"
        return f"dumps on the {self._scanner.backend.name}, {len(self._scanner)} vectors"

    def _path(self, document_id: str) -> Path:
        return self._folder / f"{document_id}{_SUFFIX}"

    def _fits(self, path: Path) -> bool:
        profile = self._required()
        try:
            Dump.open(path, profile=profile.id, dimensions=profile.dimensions)
        except (DumpError, FileNotFoundError):
            return False
        return True

    def _required(self) -> Profile:
        if self._profile is None:
            raise StoreCorrupt("The library has no embedding profile yet.")
        return self._profile

    def _searchable(self) -> Scanner:
        self._required()
        assert self._scanner is not None  # noqa: S101  set together with the profile
        return self._scanner


def _hashes(md5: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer(bytes.fromhex("".join(md5)), np.uint8).reshape(len(md5), 16)
