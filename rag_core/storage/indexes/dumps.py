"""The vector dumps of the library: one file per document, the segments compacted from them, and the scanner of both."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import sync_folder
from accelerator.backends.base import Backend
from accelerator.dump import Dump, write_dumps
from accelerator.errors import DumpError
from accelerator.faults import reach
from accelerator.ranking import Match
from accelerator.scanner import Mode, Scanner
from accelerator.segment import Segment
from accelerator.segments import Segments, Stopped
from accelerator.selection import Selection
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.storage.disk import disk_failure, prepare_folder, remove_file

_log = logging.getLogger(__name__)
_SUFFIX = ".dump"
_TRIES = 3  # a search during which what it finds is removed
# The vectors of a document's chunks, float32 (n, d), and the MD5 sums of their texts.
Rows = tuple[NDArray[np.float32], list[str]]
Vectors = Callable[[str], Rows]


@dataclass(slots=True)
class Loaded:
    """What loading did: the documents whose dump was written anew, and those whose dump could not be, with why."""

    rewritten: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    reason: str = ""


class DumpStore:
    """Dump files under one folder, compacted into segments under another, or not at all for None.

    Nothing can be scanned until a profile is set.
    """

    def __init__(self, folder: Path, segments_folder: Path | None = None) -> None:
        self._folder = folder
        self._segments_folder = segments_folder
        self._profile: Profile | None = None
        self._scanner: Scanner | None = None
        self._segments: Segments | None = None
        self._backend: tuple[Backend, str] | None = None
        prepare_folder(folder)

    def use(self, profile: Profile) -> None:
        """Set the profile that every dump must carry. A second call with the same profile changes nothing."""
        if self._profile != profile:
            self._search(profile, Scanner(profile.dimensions))

    def can_take(self, profile: Profile) -> bool:
        """Whether dumps of a profile can be searched beside those that are; where there are none, any can."""
        if self._profile is None or not self.searched():
            self.use(profile)
        return self._profile == profile

    def use_backend(self, backend: Backend, why: str) -> None:
        """Search with a backend from now on; `why` says in a few words why with this one."""
        self._backend = (backend, why)
        if self._scanner is not None:
            self._scanner.backend = backend

    def load(self, wanted: Mapping[str, int], vectors: Vectors) -> Loaded:
        """Map the segments, and the dumps of ready documents, given with their generations, that no segment holds.

        What is missing or damaged is written anew from `vectors`. One whose chunks PostgreSQL itself has lost is left
        out: a comparison of the stores tells of it. One that cannot be written is left out too.
        """
        loaded = Loaded()
        held = self._loaded_segments(wanted)
        for document_id in (document_id for document_id in wanted if document_id not in held):
            try:
                self.show(document_id)
            except StoreCorrupt:
                self._load_anew(document_id, vectors, loaded)
        return loaded

    def _loaded_segments(self, wanted: Mapping[str, int]) -> set[str]:
        if self._segments is None:
            return set()
        self._forget_segments()
        try:
            return self._segments.load(wanted)
        except OSError as error:
            _log.warning("The segments cannot be used: %s", error)
            return set()

    def _forget_segments(self) -> None:
        """Remove the segments of other profiles."""
        if self._segments_folder is not None:
            for path in self._segments_folder.glob("*/manifest.json"):
                if path.parent.name != self._required().id:
                    shutil.rmtree(path.parent, ignore_errors=True)

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
            loaded.rewritten.append(document_id)

    def rewrite(self, document_id: str, vectors: Vectors) -> None:
        """Write a document's dump anew and search it. Raises StoreUnavailable or StoreCorrupt."""
        self.write(document_id, *vectors(document_id))
        self.show(document_id)

    def write(self, document_id: str, vectors: NDArray[np.float32], md5: list[str]) -> None:
        """Write a document's dump: vectors float32 (n, d) and the MD5 sums of its texts. Raises StoreUnavailable."""
        self.write_many({document_id: (vectors, md5)})

    def write_many(self, dumps: Mapping[str, Rows]) -> None:
        """Write the dumps of many documents, synced together. Raises StoreUnavailable; some may then be written."""
        rows = {self.path(key): (vectors, _hashes(md5)) for key, (vectors, md5) in dumps.items()}
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
        path = self.path(document_id)
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
        path = self.path(document_id)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            remove_file(path)

    def tombstone(self, ids: Collection[str]) -> None:
        """Have removed documents stay removed from the segments. Raises StoreUnavailable."""
        if self._segments is not None:
            try:
                self._segments.tombstone(ids)
            except OSError as error:
                raise disk_failure(error) from error

    def compact(self, generations: Callable[[], Mapping[str, int]], min_free_bytes: int, stopped: Stopped) -> None:
        """Compact dumps into segments as long as there are enough of them and of disk.

        Raises StoreUnavailable, StoreCorrupt for a dump that should take a damaged segment's place.
        """
        segments = self._segments
        while segments is not None and segments.due() and not stopped():
            free = shutil.disk_usage(self._folder).free - min_free_bytes
            try:
                if not segments.compact(generations, free_bytes=free, stopped=stopped):
                    return
            except DumpError as error:
                _log.warning("A segment is damaged, the dumps take its place: %s", error)
                if not self.repair_segments():
                    raise StoreUnavailable(f"Dumps cannot be compacted: {error}") from error
            except OSError as error:
                raise StoreUnavailable(f"Dumps cannot be compacted: {error}") from error

    def damaged_segments(self) -> list[str]:
        """What is wrong with each segment that does not fit its checksums; reads everything."""
        return [fault for _, fault in self._segments.damaged()] if self._segments is not None else []

    def repair_segments(self) -> int:
        """Search the dumps in place of the segments that are damaged. Returns how many were.

        Raises StoreCorrupt, StoreUnavailable.
        """
        damaged = list(self._segments.damaged()) if self._segments is not None else []
        for segment, _ in damaged:
            self._drop(segment)
        return len(damaged)

    def cut_over(self, target: DumpStore, ready: Collection[str]) -> None:
        """Search what another store holds of ready documents, from this instant on. Its files are taken after that."""
        for document_id in target.searched() - set(ready):
            target.hide(document_id)
        self._search(target._required(), target._searchable())
        self._forget_segments()

    def take_files(self, target: DumpStore, ids: Iterable[str]) -> None:
        """Take the files of another store that fit this one's profile, and remove what is left of it.

        Raises StoreUnavailable.
        """
        try:
            for document_id in ids:
                if self._fits(target.path(document_id)):
                    target.path(document_id).replace(self.path(document_id))
                    reach("cutover.taking")
            sync_folder(self._folder)
        except OSError as error:
            raise disk_failure(error) from error
        shutil.rmtree(target._folder, ignore_errors=True)

    def hide(self, document_id: str) -> None:
        """Search a document no longer, from this instant."""
        if self._scanner is not None:
            self._scanner.remove(document_id)

    def search(
        self, query: NDArray[np.float32], k: int, mode: Mode = "auto", within: Selection | None = None
    ) -> tuple[list[Match], NDArray[np.float32]]:
        """The k nearest rows, and their vectors, float32 (n, d). query: float32 (d,). within: these rows alone.

        Raises StoreCorrupt without a profile, or when a segment contradicts itself: the dumps take its place then.
        """
        return self._found(lambda scanner: [scanner.search(query, k, mode=mode, within=within)])[0]

    def search_many(
        self, queries: NDArray[np.float32], k: int, mode: Mode = "auto", within: Selection | None = None
    ) -> list[tuple[list[Match], NDArray[np.float32]]]:
        """The same for many queries, float32 (m, d), in one pass over the rows."""
        return self._found(lambda scanner: scanner.search_many(queries, k, mode=mode, within=within))

    def vectors_at(self, refs: Sequence[tuple[str, int]]) -> NDArray[np.float32]:
        """The rows of chunks by document and index, float32 (n, d); zeros for those that are not searched (now).

        Raises StoreCorrupt without a profile.
        """
        scanner = self._searchable()
        vectors = np.zeros((len(refs), scanner.dimensions), dtype=np.float32)
        try:
            return scanner.vectors([Match(*ref, 0.0) for ref in refs])
        except (KeyError, IndexError):  # one was removed, or replaced by a shorter one, since it was found
            for place, ref in enumerate(refs):
                with contextlib.suppress(KeyError, IndexError):
                    vectors[place] = scanner.vectors([Match(*ref, 0.0)])[0]
        return vectors

    def _found(self, look: Callable[[Scanner], list[list[Match]]]) -> list[tuple[list[Match], NDArray[np.float32]]]:
        scanner = self._searchable()
        found: list[list[Match]] = []
        try:
            for _ in range(_TRIES):
                found = look(scanner)
                # One may be removed, or replaced by a shorter one, between the two.
                with contextlib.suppress(KeyError, IndexError):
                    return [(matches, scanner.vectors(matches)) for matches in found]
            return [self._there(scanner, matches) for matches in found]
        except DumpError as error:
            self.repair_segments()
            raise StoreCorrupt(f"A segment cannot be used: {error}") from error

    def _there(self, scanner: Scanner, matches: Sequence[Match]) -> tuple[list[Match], NDArray[np.float32]]:
        """Those of some matches whose rows are still there, with their rows."""
        there, rows = [], [np.empty((0, scanner.dimensions), dtype=np.float32)]
        for match in matches:
            with contextlib.suppress(KeyError, IndexError):
                rows.append(scanner.vectors([match]))
                there.append(match)
        return there, np.concatenate(rows)

    def md5(self, document_id: str, row: int) -> str:
        """The MD5 sum that a dump holds for a row. Raises StoreCorrupt when it cannot be read."""
        try:
            hashed = self._searchable().hashed(document_id, row)
            if hashed is None:
                hashed = Dump.open(self.path(document_id)).hashes[row].tobytes()
        except (DumpError, OSError, IndexError, KeyError) as error:
            raise StoreCorrupt(f"A dump file cannot be used: {error}") from error
        return hashed.hex()

    def rows(self) -> int:
        """How many rows a search looks at."""
        return 0 if self._scanner is None else len(self._scanner)

    def describe(self) -> str:
        """What searches the dumps, in a few words."""
        if self._scanner is None:
            return "dumps, nothing to search yet"
        scanner = self._scanner
        why = f"; {self._backend[1]}" if self._backend is not None and self._backend[0] is scanner.backend else ""
        sealed = sum(map(len, scanner.sealed()))
        where = f", {sealed} of them in segments" if sealed else ""
        return f"dumps on {scanner.backend.describe()}{why}; {len(scanner)} vectors{where}"

    def note(self) -> str:
        """What happened to the backend that the user should know; empty for nothing."""
        return "" if self._scanner is None else self._scanner.note

    def _search(self, profile: Profile, scanner: Scanner) -> None:
        """Search with that scanner from this instant on."""
        if self._backend is not None:
            scanner.backend = self._backend[0]
        self._profile, self._scanner = profile, scanner
        if self._segments_folder is not None:  # a folder each: one of another profile may be compacting still
            self._segments = Segments(self._segments_folder / profile.id, scanner, profile.id, self.path)

    def _drop(self, segment: Segment) -> None:
        """Search the dumps of a segment's documents in its place, until they are compacted again.

        Raises StoreCorrupt, StoreUnavailable.
        """
        assert self._segments is not None  # noqa: S101  it came from there
        try:
            documents = self._segments.drop(segment)
        except OSError as error:
            raise disk_failure(error) from error
        for document_id in documents:
            self.show(document_id)

    def path(self, document_id: str) -> Path:
        """Where a document's dump is, or would be."""
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
