"""The archive of a backup: one zip file with a manifest, sealed as a whole.

    tables/NAME     a table as PostgreSQL's COPY writes it in binary
    files/ID        the original bytes of a document
    manifest.json   format, migrations, profile, counts, and the SHA-256 and size of every other member; written last

The zip's comment, and so the end of the file, is a seal: the SHA-256 of every byte before it. One pass over the file
thus tells whether a single bit of it changed or its end is missing, in whatever field of the zip it was.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_core.domain import Profile
from rag_core.errors import ConfigurationError, StoreCorrupt
from rag_core.runtime.closing import Closing

Block = bytes | bytearray | memoryview
FORMAT = "lectern-backup"
VERSION = 1
MANIFEST = "manifest.json"

_SEAL = b"lectern-sha256:"
_DIGEST_CHARS = 64
_BLOCK_BYTES = 2**20
_MANIFEST_BYTES = 2**28
# What Python's zip reader raises for archives that are sealed and yet no archives of ours.
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, ValueError, RuntimeError, RecursionError)
_DAMAGED_HELP = "Nothing was changed. Take another backup, or copy this one again from where it was kept."


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Member(_Closed):
    """Size and SHA-256 of a member's bytes."""

    size_bytes: int
    sha256: str


class Table(_Closed):
    """Columns of a table in the order of its member, and how many rows it has."""

    columns: tuple[str, ...]
    rows: int


class Manifest(_Closed):
    """What an archive holds. `left_out`: documents in its tables whose removal began while it was made."""

    format: str
    version: int
    created_at: datetime
    migrations: tuple[str, ...]
    profile: Profile | None
    tables: dict[str, Table]
    members: dict[str, Member]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ArchiveWriter:
    """Makes an archive as a stream of parts, of which only a few are in memory at a time."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1)

    def add(self, name: str, blocks: Iterable[Block], *, packed: bool = True) -> Iterator[bytes]:
        """The parts of one more member. `packed` compresses lightly; documents' files mostly are already."""
        digest = hashlib.sha256()
        size = 0
        with self._zip.open(name if packed else zipfile.ZipInfo(name), "w", force_zip64=True) as member:
            for block in blocks:
                digest.update(block)
                size += len(block)
                member.write(block)
                if self._sink.size_bytes >= _BLOCK_BYTES:
                    yield self._sink.take()
        self.members[name] = Member(size_bytes=size, sha256=digest.hexdigest())

    def finish(self, manifest: Manifest) -> Iterator[bytes]:
        """The last parts: manifest, directory and seal."""
        self._zip.writestr(MANIFEST, manifest.model_dump_json())
        self._zip.comment = _SEAL + bytes(_DIGEST_CHARS)
        self._zip.close()
        yield self._sink.take(keep_bytes=_DIGEST_CHARS)
        yield self._sink.digest.hexdigest().encode()


class _Sink(io.RawIOBase):
    """Where the zip writer writes: buffers bytes until they are taken, and hashes what is."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._buffer = bytearray()

    @property
    def size_bytes(self) -> int:
        """Bytes that wait."""
        return len(self._buffer)

    def writable(self) -> bool:
        """Yes; it is not seekable, so that the zip is written from its beginning to its end."""
        return True

    def write(self, data: Any) -> int:
        """Keep bytes."""
        self._buffer += data
        return len(data)

    def take(self, keep_bytes: int = 0) -> bytes:
        """What was written, without the last `keep_bytes`."""
        taken = bytes(self._buffer[: len(self._buffer) - keep_bytes])
        self._buffer.clear()
        self.digest.update(taken)
        return taken


class Archive(Closing):
    """An archive open for reading, found whole. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open and check seal, manifest and every member.

        Raises StoreCorrupt for one that is damaged or truncated, ConfigurationError for what is no archive of ours,
        cannot be opened, or was made by a newer Lectern.
        """
        self.path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise ConfigurationError(
                f"The backup {path} cannot be opened: {error.strerror or error}.", help="Check its name."
            ) from error
        try:
            self.size_bytes = self._check_seal()
            self._zip = zipfile.ZipFile(self._file)
            self.manifest = self._read_manifest()
            self._check_members()
        except _BROKEN as error:
            self._file.close()
            raise damaged(path, str(error)) from error
        except BaseException:
            self._file.close()
            raise

    def blocks(self, name: str) -> Iterator[bytes]:
        """The bytes of a member, checked once more: StoreCorrupt is raised at the end where they changed meanwhile."""
        wanted = self.manifest.members[name]
        digest = hashlib.sha256()
        size = 0
        try:
            with self._zip.open(name) as member:
                while block := member.read(_BLOCK_BYTES):
                    digest.update(block)
                    size += len(block)
                    if size > wanted.size_bytes:
                        break
                    yield block
        except (*_BROKEN, OSError) as error:
            raise damaged(self.path, f"{name}: {error}") from error
        if (size, digest.hexdigest()) != (wanted.size_bytes, wanted.sha256):
            raise damaged(self.path, f"{name} does not have the bytes that its manifest tells of")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check_seal(self) -> int:
        """Check that not a bit changed since it was written. Returns the file's size in bytes."""
        _forget_cached(self._file)
        size = os.fstat(self._file.fileno()).st_size
        if self._file.read(4) != b"PK\x03\x04":
            raise ConfigurationError(f"{self.path} is no backup of Lectern.", help="Name a file that `backup` wrote.")
        seal_bytes = len(_SEAL) + _DIGEST_CHARS
        self._file.seek(max(size - seal_bytes, 0))
        seal = self._file.read(seal_bytes)
        if not seal.startswith(_SEAL):
            raise damaged(self.path, "its end is missing, or it is a zip file of another program")
        self._file.seek(0)
        digest = hashlib.sha256()
        left = size - _DIGEST_CHARS
        while left and (block := self._file.read(min(left, _BLOCK_BYTES))):
            digest.update(block)
            left -= len(block)
        if digest.hexdigest().encode() != seal[len(_SEAL) :]:
            raise damaged(self.path, "its bytes are not those that were written")
        self._file.seek(0)
        return size

    def _read_manifest(self) -> Manifest:
        if self._zip.getinfo(MANIFEST).file_size > _MANIFEST_BYTES:
            raise damaged(self.path, "its manifest is too long")
        values = json.loads(self._zip.read(MANIFEST))
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise ConfigurationError(f"{self.path} is no backup of Lectern.", help="Name a file that `backup` wrote.")
        if values.get("version") != VERSION:
            raise ConfigurationError(
                f"The backup has version {values.get('version')}; this Lectern reads {VERSION}.", help="Update Lectern."
            )
        try:
            return Manifest.model_validate_json(json.dumps(values))
        except ValidationError as error:
            raise damaged(self.path, f"its manifest cannot be read: {error.error_count()} faults") from error

    def _check_members(self) -> None:
        names = sorted(self._zip.namelist())
        if names != sorted([MANIFEST, *self.manifest.members]):
            raise damaged(self.path, "its members are not those that its manifest names")
        for name in self.manifest.members:
            for _ in self.blocks(name):
                pass


def is_backup(path: Path) -> bool:
    """Whether a file begins and ends as an archive of ours does; what is between is not looked at."""
    seal_bytes = len(_SEAL) + _DIGEST_CHARS
    try:
        with path.open("rb") as file:
            begins = file.read(4) == b"PK\x03\x04"
            file.seek(max(os.fstat(file.fileno()).st_size - seal_bytes, 0))
            return begins and file.read(seal_bytes).startswith(_SEAL)
    except OSError:
        return False


def damaged(path: Path, reason: str) -> StoreCorrupt:
    """Why an archive is not restored, as an error of the house."""
    return StoreCorrupt(f"The backup {path} is damaged: {reason}.", help=_DAMAGED_HELP)


def _forget_cached(file: BinaryIO) -> None:
    """Ask for bytes from the disk itself, not from memory where they were just written. Linux alone offers it."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
