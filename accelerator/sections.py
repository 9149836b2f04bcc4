"""Files of named arrays that are mapped, not read: a header, a directory, then sections on cache lines.

    offset  bytes  field
    0       8      magic number
    8       4      version, 1
    12      4      size of the directory, bytes
    16      4      CRC-32 of the directory
    20      4      CRC-32 of the 20 bytes before
    24      40     zero
    64             the directory: JSON, padded with blanks

The directory holds `meta` (what the writer wishes) and, for each section, its element type, shape, place and CRC-32.
Everything is little-endian. Sizes are checked before a file is mapped, in Python's unbounded integers.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_by
from accelerator.errors import DumpCorrupt, DumpError, DumpTruncated

MAGIC = b"\x89LSEGMT\n"
_VERSION = 1
_HEAD = struct.Struct("<8sIII")
_CRC = struct.Struct("<I")
_HEADER_BYTES = 64
_LINE = 64
_MOST_DIRECTORY = 2**20
_TYPES = {name: np.dtype(name) for name in ("<f4", "<u4", "|i1", "|u1")}
_READ_BYTES = 2**26

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Where an array lies in the file. `crc` is that of its bytes, 0 until they are written."""

    dtype: str
    shape: Shape
    offset: int
    crc: int = 0

    @property
    def size_bytes(self) -> int:
        """Size of the array."""
        return math.prod(self.shape) * _TYPES[self.dtype].itemsize


class SectionWriter:
    """Takes the arrays of a file that is being written, each section's parts in order, the sections in any."""

    def __init__(self, descriptor: int, sections: Mapping[str, Section]) -> None:
        self._descriptor = descriptor
        self._sections = sections
        self._written = dict.fromkeys(sections, 0)
        self._crcs = dict.fromkeys(sections, 0)

    def append(self, name: str, part: NDArray[Any]) -> None:
        """Write the next part of a section. Raises OSError."""
        section = self._sections[name]
        data = np.ascontiguousarray(part, dtype=section.dtype).reshape(-1).view(np.uint8).data
        _write_at(self._descriptor, data, section.offset + self._written[name])
        self._written[name] += data.nbytes
        self._crcs[name] = zlib.crc32(data, self._crcs[name])

    def finished(self) -> dict[str, Section]:
        """The sections with their checksums. Raises DumpError when one was not filled exactly."""
        for name, section in self._sections.items():
            if self._written[name] != section.size_bytes:
                raise DumpError(f"{name} has {self._written[name]} bytes, not {section.size_bytes}")
        return {
            name: Section(section.dtype, section.shape, section.offset, self._crcs[name])
            for name, section in self._sections.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """A mapped file. The map lasts as long as an array from it, even when the file is replaced or removed."""

    path: Path
    meta: dict[str, Any]
    directory: dict[str, Section]
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def open(cls, path: Path) -> Sections:
        """Map `path`. Reads header and directory alone; `verify` reads everything.

        Raises DumpTruncated, DumpCorrupt, OSError.
        """
        # Not blocking: a pipe in the file's place would be waited for without end.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            meta, directory = _unpacked(descriptor)
            mapped = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        except DumpError as error:
            raise type(error)(f"{path} {error}") from None
        finally:
            os.close(descriptor)
        arrays = {
            name: np.frombuffer(mapped, section.dtype, math.prod(section.shape), section.offset).reshape(section.shape)
            for name, section in directory.items()
        }
        return cls(path, meta, directory, arrays)

    def verify(self, *names: str) -> None:
        """Read some sections, or all, and compare with the checksums. Raises DumpCorrupt."""
        for name in names or self.directory:
            data = self.arrays[name].reshape(-1).view(np.uint8)
            crc = 0
            for start in range(0, len(data), _READ_BYTES):
                crc = zlib.crc32(data[start : start + _READ_BYTES].data, crc)
            if crc != self.directory[name].crc:
                raise DumpCorrupt(f"{self.path} has {name} that do not fit their checksum")


def write_sections(
    path: Path,
    arrays: Mapping[str, tuple[str, Shape]],
    meta: Mapping[str, Any],
    fill: Callable[[SectionWriter], None],
    *,
    kind: str,
) -> None:
    """Write a file in one step, replacing an older one. `arrays` says each section's element type and shape.

    `fill` writes them through a SectionWriter. `kind` names the fault points, as in `write_atomically`. Raises
    DumpError when `fill` leaves a section out, OSError.
    """
    # Offsets, checksums and a number in `meta` grow until it is written.
    reserved = len(_packed(meta, _laid_out(arrays, 0))) + 32 * len(arrays) + 64
    sections = _laid_out(arrays, -(-(_HEADER_BYTES + reserved) // _LINE) * _LINE)

    def write(descriptor: int) -> None:
        writer = SectionWriter(descriptor, sections)
        fill(writer)
        end = max((section.offset + section.size_bytes for section in sections.values()), default=_HEADER_BYTES)
        directory = _packed(meta, writer.finished()).ljust(reserved)
        if len(directory) > reserved:
            raise DumpError("The directory has outgrown its place")
        head = _HEAD.pack(MAGIC, _VERSION, reserved, zlib.crc32(directory))
        head += _CRC.pack(zlib.crc32(head))
        os.ftruncate(descriptor, end)
        _write_at(descriptor, memoryview(head.ljust(_HEADER_BYTES, b"\0") + directory), 0)

    write_by(path, write, kind=kind)


def _laid_out(arrays: Mapping[str, tuple[str, Shape]], start: int) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    for name, (dtype, shape) in arrays.items():
        sections[name] = Section(dtype, shape, start)
        start += -(-sections[name].size_bytes // _LINE) * _LINE
    return sections


def _packed(meta: Mapping[str, Any], sections: Mapping[str, Section]) -> bytes:
    entries = {name: [part.dtype, part.shape, part.offset, part.crc] for name, part in sections.items()}
    return json.dumps({"meta": meta, "sections": entries}, separators=(",", ":")).encode()


def _unpacked(descriptor: int) -> tuple[dict[str, Any], dict[str, Section]]:
    size = os.fstat(descriptor).st_size
    head = os.pread(descriptor, _HEADER_BYTES, 0)
    if len(head) < _HEADER_BYTES:
        raise DumpTruncated(f"is too short for a header: {len(head)} bytes")
    magic, version, length, crc = _HEAD.unpack_from(head)
    if magic != MAGIC or _CRC.unpack_from(head, _HEAD.size)[0] != zlib.crc32(head[: _HEAD.size]):
        raise DumpCorrupt("does not begin like a segment")
    if version != _VERSION or length > _MOST_DIRECTORY:
        raise DumpCorrupt(f"is of version {version}: not known here")
    packed = os.pread(descriptor, length, _HEADER_BYTES)
    if zlib.crc32(packed) != crc:
        raise DumpCorrupt("has a damaged directory")
    meta, directory = _read_directory(packed)
    expected = max((part.offset + part.size_bytes for part in directory.values()), default=_HEADER_BYTES)
    if size != expected:
        raise DumpTruncated(
            f"{'is truncated' if size < expected else 'is too long'}: expected {expected} bytes, got {size}"
        )
    return meta, directory


def _read_directory(packed: bytes) -> tuple[dict[str, Any], dict[str, Section]]:
    try:
        content = json.loads(packed)
        directory = {
            name: Section(kind, tuple(map(int, shape)), int(offset), int(crc))
            for name, (kind, shape, offset, crc) in content["sections"].items()
        }
        if any(part.dtype not in _TYPES or min(*part.shape, part.offset) < 0 for part in directory.values()):
            raise ValueError("a section that cannot be")
        return dict(content["meta"]), directory
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DumpCorrupt(f"has a directory that cannot be used: {error}") from error


def _write_at(descriptor: int, data: memoryview, offset: int) -> None:
    while data.nbytes:
        written = os.pwrite(descriptor, data[:_READ_BYTES], offset)
        data, offset = data[written:], offset + written
