"""A folder of segments, the manifest that names them, and what is compacted when.

The manifest is JSON behind its own checksum, replaced by rename: the segments in use and, of each, the keys that are
found in it no longer (tombstones). A file that it does not name was never finished, or is done with. All of it is
derived from the dumps: what cannot be used is dropped, and compacted again.

Small segments are compacted into greater ones, each with what is no more than twice its own size, so that a row is
written again only as often as the library doubles.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accelerator.atomic import remove_leftovers, write_atomically
from accelerator.compaction import CompactionStopped, Source, compact
from accelerator.dump import Dump, Layout
from accelerator.errors import DumpError
from accelerator.faults import reach
from accelerator.scanner import Scanner
from accelerator.sealed import Sealed
from accelerator.segment import Segment

_log = logging.getLogger(__name__)
_MANIFEST = "manifest.json"
_SUFFIX = ".segment"
_VERSION = 1
# So many unsealed rows are worth a segment; a search of them takes a fraction of a millisecond.
COMPACT_ROWS = 4096
# Compacted at once: what is read into memory of small dumps stays below some 200 megabytes.
_MOST_FRESH_ROWS = 65_536
_MOST_ROWS = 2**20
# A segment of which this share was removed is written anew.
_DEAD_SHARE = 4
_HASH_BYTES = 16

_NO_LIMIT = 2**62

Generations = Callable[[], Mapping[str, int]]
Stopped = Callable[[], bool]


def _never() -> bool:
    return False


@dataclass(slots=True)
class _Batch:
    """What one compaction takes: older segments, and unsealed dumps with their headers."""

    old: list[Sealed]
    layouts: dict[str, Layout] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)

    def size_bytes(self, dimensions: int) -> int:
        """About what the segment will take: float32 and int8 rows, and what is kept of each beside them."""
        return sum(map(len, self.sources)) * (5 * dimensions + 48)


class Segments:
    """The segments of one scanner. Generations tell one dump of a key from a later one; `dump_path` says where it is.

    Thread-safe; one compaction runs at a time.
    """

    def __init__(self, folder: Path, scanner: Scanner, profile: str, dump_path: Callable[[str], Path]) -> None:
        self._folder = folder
        self._dump_path = dump_path
        self._scanner = scanner
        self._profile = profile
        self._files: dict[Segment, str] = {}
        self._next = 1
        self._lock = threading.Lock()
        self._compacting = threading.Lock()

    def load(self, wanted: Mapping[str, int]) -> set[str]:
        """Map the segments and search what they hold of the wanted keys, in their wanted generations.

        Reads no vectors. What cannot be used is removed, with a line in the log. Returns the keys that are searched
        now. Raises OSError where the folder cannot be used.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_leftovers(self._folder)
        with self._lock:
            for name, removed in self._manifest():
                self._load_one(name, wanted, removed)
            self._clear()
            return {key for sealed in self._scanner.sealed() for key in sealed}

    def due(self) -> bool:
        """Whether there is enough to compact."""
        unsealed = sum(layout.entries for layout in self._scanner.unsealed().values() if _can_compact(layout))
        return unsealed >= min(COMPACT_ROWS, self._scanner.backend.least_rows) or any(
            map(_is_wasted, self._scanner.sealed())
        )

    def compact(self, generations: Generations, *, free_bytes: int = _NO_LIMIT, stopped: Stopped = _never) -> bool:
        """Compact unsealed dumps and small segments into one segment and search that in their place.

        generations: asked for each key's generation; keys that it does not name are left alone, as are dumps that
        cannot be read. Nothing is begun that needs more than `free_bytes`. Returns whether a segment was made, which
        it was not when `stopped` said so. Raises DumpCorrupt (a segment is damaged: drop it), OSError; all is searched
        then as before.
        """
        with self._compacting:
            batch = self._batch(generations())
            if not (batch.sources or batch.old) or batch.size_bytes(self._scanner.dimensions) > free_bytes:
                return False
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self._folder / f"{self._next:08}{_SUFFIX}"
            if batch.sources:
                try:
                    compact(path, batch.sources, profile=self._profile, stopped=stopped)
                except CompactionStopped:
                    return False
                reach("compaction.written")
            with self._lock:
                self._exchange(batch, path if batch.sources else None)
            return True

    def tombstone(self, keys: Collection[str]) -> None:
        """Have removed keys stay so whatever is asked for at the next load. Raises OSError."""
        with self._lock:
            gone = set(keys)
            if any(not gone.isdisjoint(segment.keys) for segment in self._files):
                self._write_manifest()

    def damaged(self) -> Iterator[tuple[Segment, str]]:
        """The segments that do not fit their checksums, each with what is wrong; reads everything."""
        for sealed in self._scanner.sealed():
            try:
                sealed.segment.verify()
            except DumpError as error:
                yield sealed.segment, str(error)

    def drop(self, segment: Segment) -> set[str]:
        """Search a segment no longer, and remove it. Returns the keys that were found in it. Raises OSError."""
        with self._lock:
            keys = {key for item in self._scanner.sealed() if item.segment is segment for key in item}
            self._scanner.detach(segment)
            if self._files.pop(segment, None) is not None:
                self._write_manifest()
                self._clear()
            return keys

    def _batch(self, generations: Mapping[str, int]) -> _Batch:
        """Unsealed dumps and, from the smallest on, segments at most twice as large as all before them."""
        unsealed = self._scanner.unsealed()
        batch, rows = _Batch([]), 0
        for key, layout in unsealed.items():
            fits = rows + layout.entries <= max(_MOST_FRESH_ROWS, layout.entries)
            if key in generations and fits and _can_compact(layout):
                source = _source(key, generations[key], self._dump_path(key), layout)
                if source is not None:
                    batch.sources.append(source)
                    batch.layouts[key] = layout
                    rows += layout.entries
        for sealed in sorted(self._scanner.sealed(), key=len):
            if _is_wasted(sealed) or (rows and len(sealed) <= 2 * rows and rows + len(sealed) <= _MOST_ROWS):
                sealed.segment.verify()  # or what is damaged would get a checksum that fits
                batch.old.append(sealed)
                batch.sources += _sources(sealed)
                rows += len(sealed)
        return batch if rows else _Batch(batch.old)

    def _exchange(self, batch: _Batch, path: Path | None) -> None:
        old = [sealed.segment for sealed in batch.old]
        if path is None:
            for segment in old:
                self._scanner.detach(segment)
        else:
            segment = Segment.open(path, profile=self._profile, dimensions=self._scanner.dimensions)
            self._scanner.replace(old, segment, batch.layouts)
            self._files[segment] = path.name
            self._next += 1
        for segment in old:
            self._files.pop(segment, None)
        self._write_manifest()
        reach("compaction.named")
        self._clear()

    def _manifest(self) -> list[tuple[str, set[str]]]:
        """The segments in use by name, each with its removed keys; none where that cannot be known."""
        try:
            crc, _, body = (self._folder / _MANIFEST).read_bytes().partition(b"\n")
            if int(crc, 16) != zlib.crc32(body):
                raise ValueError("its checksum does not fit")
            content: dict[str, Any] = json.loads(body)
            if content["version"] != _VERSION or content["profile"] != self._profile:
                return []
            return [(Path(item["file"]).name, set(item["removed"])) for item in content["segments"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("The manifest of the segments cannot be used, they are compacted again: %s", error)
            return []

    def _load_one(self, name: str, wanted: Mapping[str, int], removed: Collection[str]) -> None:
        try:
            segment = Segment.open(self._folder / name, profile=self._profile, dimensions=self._scanner.dimensions)
        except (OSError, ValueError) as error:  # DumpError, or a name that no file can have
            _log.warning("A segment cannot be used and is compacted again: %s", error)
            return
        dated = zip(segment.keys, segment.generations, strict=True)
        keys = {key for key, generation in dated if key not in removed and wanted.get(key) == generation}
        if keys:
            self._scanner.attach(segment, keys)
            self._files[segment] = name

    def _write_manifest(self) -> None:
        found = {sealed.segment: frozenset(sealed) for sealed in self._scanner.sealed()}
        segments = [
            {"file": name, "removed": [key for key in segment.keys if key not in found.get(segment, ())]}
            for segment, name in self._files.items()
        ]
        body = json.dumps({"version": _VERSION, "profile": self._profile, "segments": segments}).encode()
        write_atomically(self._folder / _MANIFEST, [f"{zlib.crc32(body):08x}\n".encode(), body], kind="manifest")

    def _clear(self) -> None:
        """Remove the files of segments that are not in use, and know the next name that is free."""
        names = set(self._files.values())
        for path in self._folder.glob(f"*{_SUFFIX}"):
            number = path.stem
            self._next = max(self._next, int(number) + 1 if number.isdecimal() else 1)
            if path.name not in names:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _can_compact(layout: Layout) -> bool:
    """Whether a segment can hold it. One without rows costs a search nothing where it is."""
    return layout.entries > 0 and layout.hash_bytes == _HASH_BYTES


def _is_wasted(sealed: Sealed) -> bool:
    return (len(sealed.segment) - len(sealed)) * _DEAD_SHARE > len(sealed.segment)


def _source(key: str, generation: int, path: Path, layout: Layout) -> Source | None:
    """An unsealed dump read whole; None where it cannot be used, or is another by now."""
    try:
        dump = Dump.open(path)
        if dump.layout != layout:
            return None
        dump.verify()
    except (DumpError, OSError) as error:
        _log.warning("A dump is not compacted: %s", error)
        return None
    if layout.entries < COMPACT_ROWS:  # thousands of maps at once would each hold a descriptor
        return Source(key, generation, dump.vectors.copy(), dump.hashes.copy(), dump.normalised)
    return Source(key, generation, dump.vectors, dump.hashes, dump.normalised)


def _sources(sealed: Sealed) -> list[Source]:
    segment = sealed.segment
    hashes = segment.sections.arrays["hashes"]
    return [
        Source(key, segment.generations[number], segment.rows, hashes, segment.unit, segment.places(number))
        for key, number in sealed.numbers()
    ]
