"""What archives hold (ZIP, TAR, what gzip, bzip2 and xz pack), file by file, within limits; nothing goes to a disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple

from rag_core.errors import LimitExceeded, UnreadableDocument, UnsupportedDocument

MAX_MEMBERS = 20_000
MAX_UNFOLDED_BYTES = 4 * 2**30
MAX_MEMBER_BYTES = 512 * 2**20
# As for Office files: documents unfold to about 20 times their size; what is smaller than the least may do so more.
MAX_RATIO, LEAST_BYTES = 150, 32 * 2**20
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_ENCRYPTED = 1
_HEAD_BYTES = 2**20
_SHORT = {".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar"}
_PACKERS: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)


class Member(NamedTuple):
    """A file that a container holds. read: its bytes; before the next one is asked for, or never."""

    name: str
    size_bytes: int
    read: Callable[[], bytes]


@dataclass(slots=True)
class Budget:
    """What may still be unfolded of a container of `size_bytes`, those within it included."""

    size_bytes: int
    members: int = 0
    unfolded: int = 0

    def count(self, most: int = MAX_MEMBERS) -> None:
        """One more member. Raises LimitExceeded for one too many."""
        self.members += 1
        if self.members > most:
            raise LimitExceeded(
                f"The archive holds more than {most:,} files: those behind them were not read.",
                help="Divide it, or unpack it and add its folder.",
            )

    def spend(self, size_bytes: int) -> None:
        """So much more is unfolded. Raises LimitExceeded where that is too much."""
        self.unfolded += size_bytes
        if self.unfolded > min(MAX_UNFOLDED_BYTES, max(LEAST_BYTES, MAX_RATIO * self.size_bytes)):
            raise LimitExceeded(
                f"The archive of {self.size_bytes:,} bytes unfolds to {self.unfolded:,} and more: that was not read.",
                help="If it is meant to be so large, unpack it and add its folder.",
            )


@contextmanager
def faults_told(what: str) -> Iterator[None]:
    """What is damaged or locked is said in words."""
    try:
        yield
    except RuntimeError as error:  # zipfile's for a file with a password
        raise UnsupportedDocument(
            f"{what} is protected by a password.", help="Unpack it with its password and add what it holds."
        ) from error
    except NotImplementedError as error:
        raise UnsupportedDocument(
            f"{what} is packed in a way that is not read.", help="Unpack it and add what it holds."
        ) from error
    except _DAMAGED as error:
        raise UnreadableDocument(f"{what} is damaged: it is cut off, or was changed on its way.") from error


def zip_members(stream: BinaryIO, name: str, budget: Budget) -> Iterator[Member]:
    """The files of a ZIP archive. Raises UnreadableDocument for a damaged one, LimitExceeded for one of too many."""
    with faults_told("The archive"):
        archive = zipfile.ZipFile(stream)
    with archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                budget.count()
                yield Member(entry.filename, entry.file_size, partial(_read_entry, archive, entry, budget))


def packed_members(stream: BinaryIO, name: str, budget: Budget) -> Iterator[Member]:
    """The files of a TAR archive, packed or not, in its order; or the one file that is packed. Raises the same."""
    head = stream.read(8)
    stream.seek(0)
    unpack = next((unpack for mark, unpack in _PACKERS if head.startswith(mark)), None)
    with faults_told("The archive"):
        unfolded: Any = io.BufferedReader(_Counted(unpack(stream) if unpack else stream, budget))
        is_tar = unfolded.peek(512)[_TAR_MARK_AT:].startswith(_TAR_MARK)
    if is_tar or not unpack:
        yield from _tar_members(unfolded, budget)
        return
    path = PurePosixPath(name.replace("\\", "/"))
    inner = path.stem + _SHORT.get(path.suffix.lower(), "")
    budget.count()
    yield Member(inner, -1, partial(_read_whole, unfolded))


def _tar_members(unfolded: Any, budget: Budget) -> Iterator[Member]:
    with faults_told("The archive"):
        archive = tarfile.open(fileobj=unfolded, mode="r|", tarinfo=_Entry)  # noqa: SIM115 - closed with its stream
        entry = archive.next()
    while entry is not None:
        if not entry.isdir():
            budget.count()
            size = entry.size if entry.isreg() and not entry.issparse() else 0
            yield Member(entry.name, size, partial(_read_tar_entry, archive, entry))
        with faults_told("The archive"):
            archive.members = []  # type: ignore[attr-defined]  # it would keep all
            entry = archive.next()


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> bytes:
    with faults_told("It"):
        if entry.flag_bits & _ENCRYPTED:
            raise RuntimeError
        _check_size(entry.file_size)
        budget.spend(entry.file_size)  # zipfile gives no more than the list says
        return archive.read(entry)


def _read_tar_entry(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    if not entry.isreg() or entry.issparse():
        raise UnreadableDocument("It is a link, or no ordinary file.", help="Put the file itself there.")
    _check_size(entry.size)
    with faults_told("It"):
        file = archive.extractfile(entry)
        data = file.read() if file else b""
        if len(data) < entry.size:
            raise EOFError
        return data


def _read_whole(unfolded: Any) -> bytes:
    with faults_told("It"):
        data: bytes = unfolded.read(MAX_MEMBER_BYTES + 1)
    _check_size(len(data))
    return data


def _check_size(size_bytes: int) -> None:
    if size_bytes > MAX_MEMBER_BYTES:
        most = MAX_MEMBER_BYTES // 2**20
        raise LimitExceeded(f"It has {size_bytes / 2**20:.0f} MB; at most {most} MB are taken out of an archive.")


class _Entry(tarfile.TarInfo):
    """An entry whose name and notes, which tarfile takes into memory, are not beyond measure."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if not (self.isreg() or self.issparse()) and self.size > _HEAD_BYTES:
            raise LimitExceeded("The archive has an entry whose head is too large: what is behind was not read.")
        return super()._proc_member(archive)  # type: ignore[misc]


class _Counted(io.RawIOBase):
    """A stream whose bytes are counted as they are unfolded, also those that nobody wants."""

    def __init__(self, stream: Any, budget: Budget) -> None:
        self._stream = stream
        self._budget = budget

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer. Raises LimitExceeded for a stream that unfolds to too much."""
        data = self._stream.read(len(buffer))
        self._budget.spend(len(data))
        buffer[: len(data)] = data
        return len(data)
