"""The vector dump file: one document's vectors and the MD5 hashes of their texts, row for row.

Version 1 is the layout of the seed document (TLDR, "Vector dump file structure"): four little-endian uint32
`num_entries, hash_size_bytes, vector_size_bytes, vector_dimensions`, then float32 vectors, then hashes. It has neither
magic number nor checksums nor profile, and does not say whether its rows are of unit length.

Version 2 has a header of 64 bytes, so that rows of the usual widths start on cache lines:

    offset  bytes  field
    0       8      magic number
    8       2      version, 2
    10      1      element type, 1 for float32
    11      1      hash size, bytes
    12      4      flags, bit 0: rows are of unit length
    16      8      entries
    24      4      dimensions
    28      4      CRC-32 of the vectors
    32      4      CRC-32 of the hashes
    36      24     embedding profile, UTF-8, padded with NUL
    60      4      CRC-32 of the 60 bytes before

Everything is little-endian. Sizes are checked before a file is mapped, in Python's unbounded integers.
"""

from __future__ import annotations

import functools
import mmap
import os
import resource
import struct
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_atomically, write_together
from accelerator.errors import DumpCorrupt, DumpError, DumpMismatch, DumpTruncated

MAGIC = b"\x89LVDUMP\n"
UNIT_TOLERANCE = 1e-5

_V1 = struct.Struct("<IIII")
_V2 = struct.Struct("<8sHBBIQIII24s")
_CRC = struct.Struct("<I")
_FLOAT32 = 1
_NORMALISED = 1
_FLOAT_BYTES = 4
_PROFILE_BYTES = 24
_MOST_DESCRIPTORS = 65_536


@dataclass(frozen=True, slots=True)
class Layout:
    """A dump's header. `hash_bytes` is the size of one hash; checksums are None in version 1."""

    version: int
    entries: int
    dimensions: int
    hash_bytes: int
    normalised: bool = False
    profile: str = ""
    vectors_crc: int | None = None
    hashes_crc: int | None = None

    @property
    def header_bytes(self) -> int:
        """Where the vectors begin."""
        return _V1.size if self.version == 1 else _V2.size + _CRC.size

    @property
    def vectors_bytes(self) -> int:
        """Size of the vectors' section."""
        return self.entries * self.dimensions * _FLOAT_BYTES

    @property
    def file_bytes(self) -> int:
        """Size of the whole file."""
        return self.header_bytes + self.vectors_bytes + self.entries * self.hash_bytes

    def pack(self) -> bytes:
        """The header as it stands in the file."""
        if self.version == 1:
            return _V1.pack(self.entries, self.hash_bytes, self.dimensions * _FLOAT_BYTES, self.dimensions)
        flags = _NORMALISED if self.normalised else 0
        head = _V2.pack(
            MAGIC, 2, _FLOAT32, self.hash_bytes, flags, self.entries, self.dimensions,
            self.vectors_crc, self.hashes_crc, self.profile.encode(),
        )  # fmt: skip
        return head + _CRC.pack(zlib.crc32(head))

    @classmethod
    def unpack(cls, head: bytes) -> Layout:
        """Read a header from a file's first 64 bytes. Raises DumpTruncated, DumpCorrupt or DumpError."""
        # The second word of version 1 is 8 or 16, that of the magic number neither: they cannot be confused.
        if head[: len(MAGIC)] == MAGIC:
            return cls._unpack_v2(head)
        return cls._unpack_v1(head)

    @classmethod
    def _unpack_v1(cls, head: bytes) -> Layout:
        if len(head) < _V1.size:
            raise DumpTruncated(f"is too short for a header: {len(head)} bytes")
        entries, hash_bytes, vector_bytes, dimensions = _V1.unpack_from(head)
        if hash_bytes not in (8, 16) or not dimensions or vector_bytes != dimensions * _FLOAT_BYTES:
            raise DumpCorrupt("does not begin like a vector dump")
        return cls(1, entries, dimensions, hash_bytes)

    @classmethod
    def _unpack_v2(cls, head: bytes) -> Layout:
        if len(head) < _V2.size + _CRC.size:
            raise DumpTruncated(f"is too short for a header: {len(head)} bytes")
        if _CRC.unpack_from(head, _V2.size)[0] != zlib.crc32(head[: _V2.size]):
            raise DumpCorrupt("has a damaged header")
        fields = _V2.unpack_from(head)
        _, version, element, hash_bytes, flags, entries, dimensions, vectors_crc, hashes_crc, profile = fields
        if version != 2 or element != _FLOAT32 or not dimensions or not hash_bytes:
            raise DumpError(f"is of version {version}, element type {element}: not known here")
        name = profile.rstrip(b"\0").decode(errors="replace")
        normalised = bool(flags & _NORMALISED)
        return cls(2, entries, dimensions, hash_bytes, normalised, name, vectors_crc, hashes_crc)


@dataclass(frozen=True, slots=True, eq=False)
class Dump:
    """A dump mapped read-only. The map lasts as long as an array from it, even when the file is replaced or removed.

    `vectors` is float32 (n, d), `hashes` uint8 (n, hash size); row i of both belongs to chunk i.
    """

    path: Path
    layout: Layout
    vectors: NDArray[np.float32]
    hashes: NDArray[np.uint8]

    @classmethod
    def open(cls, path: Path, *, profile: str | None = None, dimensions: int | None = None) -> Dump:
        """Map `path`. Reads the header alone; `verify` reads everything.

        Raises DumpTruncated, DumpCorrupt, DumpMismatch (other profile or dimensions than asked for; version 1 carries
        no profile and so fits none), OSError.
        """
        # Not blocking: a pipe in the file's place would be waited for without end.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return cls(path, *_map(descriptor, profile, dimensions))
        except DumpError as error:
            raise type(error)(f"{path} {error}") from None
        finally:
            os.close(descriptor)

    @property
    def dimensions(self) -> int:
        """Width of a vector."""
        return self.layout.dimensions

    @property
    def normalised(self) -> bool:
        """Whether every row is known to be of unit length."""
        return self.layout.normalised

    def __len__(self) -> int:
        return self.layout.entries

    def verify(self) -> None:
        """Read everything and compare with the checksums; version 1 is checked for finite values alone.

        Raises DumpCorrupt.
        """
        layout = self.layout
        if layout.vectors_crc is not None and layout.vectors_crc != zlib.crc32(self.vectors.data):
            raise DumpCorrupt(f"{self.path} has vectors that do not fit their checksum")
        if layout.hashes_crc is not None and layout.hashes_crc != zlib.crc32(self.hashes.data):
            raise DumpCorrupt(f"{self.path} has hashes that do not fit their checksum")
        if not np.isfinite(self.vectors).all():
            raise DumpCorrupt(f"{self.path} has vectors that are not finite")


def write_dump(
    path: Path,
    vectors: NDArray[np.float32],
    hashes: NDArray[np.uint8],
    *,
    profile: str,
    normalised: bool = True,
    version: int = 2,
) -> None:
    """Write a dump in one step, replacing an older one.

    vectors: float32 (n, d), finite, of unit length where `normalised`. hashes: uint8 (n, 16), MD5. profile: at most 24
    bytes of UTF-8; version 1 cannot keep it. No rows are fine. Raises DumpError, OSError.
    """
    parts = _packed(vectors, hashes, profile=profile, normalised=normalised, version=version)
    write_atomically(path, parts, kind="dump")


def write_dumps(dumps: Mapping[Path, tuple[NDArray[np.float32], NDArray[np.uint8]]], *, profile: str) -> None:
    """Write many dumps of version 2 and of rows of unit length, vectors and hashes by path, synced together.

    See `write_dump`, and `write_together` for what is left when it fails. Raises DumpError, OSError.
    """
    packed = {path: _packed(vectors, hashes, profile=profile) for path, (vectors, hashes) in dumps.items()}
    write_together(packed, kind="dump")


def _packed(
    vectors: NDArray[np.float32],
    hashes: NDArray[np.uint8],
    *,
    profile: str,
    normalised: bool = True,
    version: int = 2,
) -> tuple[bytes | memoryview, ...]:
    """Header, vectors and hashes as they stand in the file. Raises DumpError."""
    _check_rows(vectors, hashes, normalised=normalised)
    if version not in (1, 2):
        raise DumpError(f"Version {version} of vector dumps is not known")
    if len(profile.encode()) > _PROFILE_BYTES or "\0" in profile:
        raise DumpError(f"An embedding profile has at most {_PROFILE_BYTES} bytes and no NUL: {profile!r}")
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    marks = np.ascontiguousarray(hashes)
    layout = Layout(version, rows.shape[0], rows.shape[1], marks.shape[1])
    if version == 2:
        sums = {"vectors_crc": zlib.crc32(rows.data), "hashes_crc": zlib.crc32(marks.data)}
        layout = replace(layout, normalised=normalised, profile=profile, **sums)
    return layout.pack(), rows.data, marks.data


def _check_rows(vectors: NDArray[Any], hashes: NDArray[Any], *, normalised: bool) -> None:
    if vectors.dtype != np.float32 or vectors.ndim != 2 or not vectors.shape[1]:
        raise DumpError(f"Vectors must be float32 (n, d), not {vectors.dtype} {vectors.shape}")
    if hashes.dtype != np.uint8 or hashes.shape != (len(vectors), 16):
        raise DumpError(f"Hashes must be uint8 ({len(vectors)}, 16), not {hashes.dtype} {hashes.shape}")
    if not np.isfinite(vectors).all():
        raise DumpError("Vectors must be finite")
    if normalised and len(vectors):
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
        if np.abs(lengths - 1).max() > UNIT_TOLERANCE:
            raise DumpError("Vectors must be of unit length, or be written with normalised=False")


def _map(
    descriptor: int, profile: str | None, dimensions: int | None
) -> tuple[Layout, NDArray[np.float32], NDArray[np.uint8]]:
    layout = Layout.unpack(os.pread(descriptor, _V2.size + _CRC.size, 0))
    size = os.fstat(descriptor).st_size
    if size != layout.file_bytes:
        fault = "is truncated" if size < layout.file_bytes else "is too long"
        raise DumpTruncated(f"{fault}: expected {layout.file_bytes} bytes, got {size}")
    if profile is not None and layout.profile != profile:
        raise DumpMismatch(f"was made with the profile {layout.profile or 'unknown'}, not {profile}")
    if dimensions is not None and layout.dimensions != dimensions:
        raise DumpMismatch(f"has {layout.dimensions} dimensions, not {dimensions}")
    _allow_many_maps()
    mapped = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    cells = layout.entries * layout.dimensions
    vectors = np.frombuffer(mapped, dtype="<f4", count=cells, offset=layout.header_bytes)
    hashes = np.frombuffer(mapped, dtype=np.uint8, offset=layout.header_bytes + layout.vectors_bytes)
    return layout, vectors.reshape(layout.entries, layout.dimensions), hashes.reshape(layout.entries, layout.hash_bytes)


@functools.cache
def _allow_many_maps() -> None:
    """Raise this process's limit of open files: before Python 3.13 each map holds a descriptor; macOS starts at 256."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ceiling = 10_240 if sys.platform == "darwin" else _MOST_DESCRIPTORS
    wanted = ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
