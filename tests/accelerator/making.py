"""Segments, and what a library has around them, made in a line for the tests of the search."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from accelerator.backends.base import Backend
from accelerator.compaction import Source, compact
from accelerator.dump import Dump, write_dump
from accelerator.scanner import Scanner
from accelerator.sections import _CRC, _HEAD, _HEADER_BYTES, MAGIC, Shape, _laid_out, _packed
from accelerator.segment import Segment
from accelerator.segments import Segments
from tests.accelerator.conftest import PROFILE, some_hashes
from tests.accelerator.test_scanner import assert_same, brute_force

Blocks = Mapping[str, np.ndarray]


def sources_of(blocks: Blocks, *, unit: bool = True, generation: int = 1) -> list[Source]:
    return [Source(key, generation, rows, some_hashes(len(rows)), unit) for key, rows in blocks.items()]


def write_segment(path: Path, blocks: Blocks, *, unit: bool = True, profile: str = PROFILE) -> Segment:
    compact(path, sources_of(blocks, unit=unit), profile=profile)
    return Segment.open(path)


def overwrite(segment: Segment, name: str, index: int, data: bytes) -> None:
    """Put other bytes into a section of the file, at an element's place."""
    section = segment.sections.directory[name]
    with segment.path.open("r+b") as file:
        file.seek(section.offset + index)
        file.write(data)


def write_sparse(
    path: Path,
    arrays: Mapping[str, tuple[str, Shape]],
    meta: Mapping[str, object],
    filled: Mapping[str, np.ndarray],
) -> dict[str, int]:
    """A file whose sections are holes, of no checksums, save those that are given. Returns where each begins."""
    room = len(_packed(meta, _laid_out(arrays, 0))) + 16 * len(arrays)
    sections = _laid_out(arrays, -(-(_HEADER_BYTES + room) // 64) * 64)
    for name, array in filled.items():
        data = array.astype(sections[name].dtype).tobytes()
        sections[name] = replace(sections[name], crc=zlib.crc32(data))
        with path.open("r+b" if path.exists() else "wb") as file:
            file.seek(sections[name].offset)
            file.write(data)
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(packed_head(_packed(meta, sections).ljust(room)))
        file.truncate(max(section.offset + section.size_bytes for section in sections.values()))
    return {name: section.offset for name, section in sections.items()}


def packed_head(directory: bytes, version: int = 1) -> bytes:
    """Header and directory as they stand in a file, with checksums that fit."""
    head = _HEAD.pack(MAGIC, version, len(directory), zlib.crc32(directory))
    return (head + _CRC.pack(zlib.crc32(head))).ljust(_HEADER_BYTES, b"\0") + directory


class Shelf:
    """A scanner with its dumps and segments in a folder, and what brute force needs to know of them."""

    def __init__(self, folder: Path, dimensions: int = 48, backend: Backend | None = None) -> None:
        self.folder = folder
        self.blocks: dict[str, np.ndarray] = {}
        self.generations: dict[str, int] = {}
        self._dimensions = dimensions
        self._backend = backend
        self.open()

    def open(self) -> set[str]:
        """Begin again with what the folder holds. Returns the keys that the segments held."""
        self.scanner = Scanner(self._dimensions, self._backend)
        self.segments = Segments(self.folder / "segments", self.scanner, PROFILE, self.dump_path)
        held = self.segments.load(self.generations)
        for key in self.blocks.keys() - held:
            self.scanner.add(key, Dump.open(self.dump_path(key)))
        return held

    def dump_path(self, key: str) -> Path:
        return self.folder / f"{key}.dump"

    def add(self, key: str, rows: np.ndarray, *, normalised: bool = True) -> None:
        path = self.dump_path(key)
        write_dump(path, rows, some_hashes(len(rows)), profile=PROFILE, normalised=normalised)
        self.scanner.add(key, Dump.open(path))
        self.blocks[key] = rows
        self.generations[key] = self.generations.get(key, 0) + 1

    def remove(self, key: str) -> None:
        self.scanner.remove(key)
        self.dump_path(key).unlink()
        del self.blocks[key], self.generations[key]

    def compact(self, **options: object) -> bool:
        return self.segments.compact(lambda: dict(self.generations), **options)

    def files(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "segments").iterdir())

    def check(self, k: int = 20, queries: int = 2) -> None:
        """Nothing but the best rows of what is there is found."""
        for seed in range(queries):
            query = np.random.default_rng(seed).standard_normal(self._dimensions).astype(np.float32)
            assert_same(self.scanner.search(query, k), brute_force(self.blocks, query, k))


class Meddling:
    """Does something once, the n-th time it is called, and says no more of it."""

    def __init__(self, act: Callable[[], object], at: int = 1) -> None:
        self._act = act
        self._left = at

    def __call__(self) -> bool:
        self._left -= 1
        if not self._left:
            self._act()
        return False
