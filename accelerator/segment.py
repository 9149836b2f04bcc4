"""A sealed segment: the rows of many dumps in one file, laid out for searching. Never changed once written.

Rows are turned so that the leading dimensions, the head, tell rows apart best; a search reads the int8
head of every row, and of the rest only what can still be among the best. Rows of a cluster lie together.

    section      type        what
    keys         u1          JSON: [[key, generation], ...] of the dumps it was compacted from
    key_starts   u4 (K+1)    where each key's rows begin in `places`
    places       u4 (n)      where the rows of the keys lie, in the order of their dumps
    origins      u4 (n, 2)   the key's number and the row's in its dump, of each row here
    rows         f4 (n, d)   as they stand in the dumps
    hashes       u1 (n, 16)  likewise
    head, tail   i1 (n, h), (n, d - h)   of rows of unit length, rotated
    scales       f4 (2, n)   of head and tail
    bounds       f4 (2, n)   the tail's length before rounding; the whole row's rounding error
    axes         f4 (d, d)   those of the rotated dimensions: their products with a row are its head and tail
    centroids    i1 (c, h)   of the clusters' heads, with their scales in
    cluster_scales f4 (c)
    cluster_starts u4 (c+1)  where each cluster's rows begin
    spreads      f4 (c)      the mean distance of a cluster's heads from its centroid
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Block
from accelerator.errors import DumpCorrupt, DumpMismatch
from accelerator.sections import Sections, Shape

Floats = NDArray[np.float32]
Numbers = NDArray[np.uint32]


def head_width(dimensions: int) -> int:
    """How many of the rotated dimensions are the head: half, where there are enough to tell rows apart."""
    return dimensions // 2 if dimensions >= 32 else dimensions


def shapes(rows: int, dimensions: int, keys: int, key_bytes: int, clusters: int) -> dict[str, tuple[str, Shape]]:
    """Element type and shape of each section."""
    head = head_width(dimensions)
    return {
        "head": ("|i1", (rows, head)),
        "tail": ("|i1", (rows, dimensions - head)),
        "scales": ("<f4", (2, rows)),
        "bounds": ("<f4", (2, rows)),
        "rows": ("<f4", (rows, dimensions)),
        "origins": ("<u4", (rows, 2)),
        "places": ("<u4", (rows,)),
        "hashes": ("|u1", (rows, 16)),
        "keys": ("|u1", (key_bytes,)),
        "key_starts": ("<u4", (keys + 1,)),
        "axes": ("<f4", (dimensions, dimensions)),
        "centroids": ("|i1", (clusters, head)),
        "cluster_scales": ("<f4", (clusters,)),
        "cluster_starts": ("<u4", (clusters + 1,)),
        "spreads": ("<f4", (clusters,)),
    }


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Segment:
    """A segment mapped read-only. `unit`: all rows are of unit length. `head_error`: what rounding changed most a head.

    The map lasts as long as an array from it, even when the file is replaced or removed.
    """

    sections: Sections
    block: Block
    keys: Sequence[str]
    generations: Sequence[int]
    unit: bool
    head_error: float

    @classmethod
    def open(cls, path: Path, *, profile: str | None = None, dimensions: int | None = None) -> Segment:
        """Map `path`. Reads no vectors; `verify` reads everything.

        Raises DumpTruncated, DumpCorrupt, DumpMismatch (other profile or dimensions than asked for), OSError.
        """
        sections = Sections.open(path)
        arrays, meta = sections.arrays, sections.meta
        try:
            if profile is not None and meta["profile"] != profile:
                raise DumpMismatch(f"{path} was made with the profile {meta['profile']}, not {profile}")
            if dimensions is not None and arrays["rows"].shape[1] != dimensions:
                raise DumpMismatch(f"{path} has {arrays['rows'].shape[1]} dimensions, not {dimensions}")
            entries = json.loads(arrays["keys"].tobytes())
            rows, width = arrays["rows"].shape
            expected = shapes(rows, width, len(entries), len(arrays["keys"]), len(arrays["centroids"]))
            if {name: (part.dtype, part.shape) for name, part in sections.directory.items()} != expected:
                raise DumpCorrupt(f"{path} has sections that do not fit each other")
            _check_structure(sections, rows)
            keys, generations = [str(key) for key, _ in entries], [int(generation) for _, generation in entries]
            unit, head_error = bool(meta["unit"]), float(meta["head_error"])
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, DumpMismatch | DumpCorrupt):
                raise
            raise DumpCorrupt(f"{path} has a directory that cannot be used") from error
        digest = _digest(sections)
        block = Block(digest, arrays["head"], arrays["tail"], arrays["scales"][0], arrays["scales"][1])
        return cls(sections, block, keys, generations, unit, head_error)

    @property
    def path(self) -> Path:
        """Where the file was."""
        return self.sections.path

    @property
    def rows(self) -> Floats:
        """Float32 (n, d), as they stand in the dumps."""
        return self.sections.arrays["rows"]

    @property
    def tails(self) -> Floats:
        """The length of each row's tail, float32 (n,), of the row made of unit length."""
        found: Floats = self.sections.arrays["bounds"][0]
        return found

    @property
    def errors(self) -> Floats:
        """How far each row of unit length is from its int8 copy, float32 (n,)."""
        found: Floats = self.sections.arrays["bounds"][1]
        return found

    @property
    def axes(self) -> Floats:
        """Those of the rotated dimensions, float32 (d, d): their products with a vector are its head and tail."""
        return self.sections.arrays["axes"]

    def __len__(self) -> int:
        return len(self.block)

    def places(self, key: int) -> Numbers:
        """Where the rows of a key, given by its number, lie, in the order of its dump. Raises DumpCorrupt."""
        start, end = self.sections.arrays["key_starts"][key : key + 2].tolist()
        found: Numbers = self.sections.arrays["places"][start:end]
        if found.max(initial=0) >= len(self):
            raise DumpCorrupt(f"{self.path} has rows that lie nowhere")
        return found

    def places_of(self, keys: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where single rows, each of a key given by its number, lie. Raises KeyError, DumpCorrupt."""
        starts = self.sections.arrays["key_starts"]
        wanted = starts[keys] + rows
        if (rows < 0).any() or (wanted >= starts[keys + 1]).any():
            raise KeyError(f"{self.path} lacks a row that is looked for")
        found = self.sections.arrays["places"][wanted].astype(np.intp)
        if found.max(initial=0) >= len(self):
            raise DumpCorrupt(f"{self.path} has rows that lie nowhere")
        return found

    def verify(self) -> None:
        """Read everything and compare with the checksums. Raises DumpCorrupt."""
        self.sections.verify()


def _check_structure(sections: Sections, rows: int) -> None:
    """Read what says where things lie, some bytes a row. Raises DumpCorrupt."""
    for name in ("keys", "key_starts", "cluster_starts", "places", "origins"):
        sections.verify(name)
    for name in ("key_starts", "cluster_starts"):
        starts = sections.arrays[name]
        if starts[0] != 0 or starts[-1] != rows or (starts[1:] < starts[:-1]).any():
            raise DumpCorrupt(f"{sections.path} has {name} that cannot be")


def _digest(sections: Sections) -> str:
    content = json.dumps([[name, part.shape, part.crc] for name, part in sections.directory.items()])
    return hashlib.sha256(content.encode()).hexdigest()[:32]
