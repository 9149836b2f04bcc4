"""Files by their paths, and the bytes of whatever was found."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from rag_core.domain import Visit
from rag_core.errors import LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.sources.base import Item


def file_item(path: Path, name: str = "", root: str = "", within: Path | None = None) -> Item:
    """A file that is read when its turn comes. root: the watched folder that led to it. within: where it must lie."""
    return Item(name or path.name, path, Visit(location(path), "file", root), within=within)


def location(path: Path) -> str:
    """What a file or folder is known by: its absolute path, or its address where a name is no text."""
    absolute = os.path.abspath(path)  # noqa: PTH100  (Path.resolve would follow links)
    try:
        absolute.encode()
    except UnicodeEncodeError:
        return "file://" + quote(absolute.encode(errors="surrogatepass"))
    return absolute


def location_of(named: str) -> str:
    """The location of what a person names: an address, a location itself, or a folder or file by any of its paths."""
    return named if named.startswith(("http://", "https://", "file://")) else location(path_of(named))


def path_of(named: str | Path) -> Path:
    """A path as a person writes it, `~` at its beginning for their home."""
    return Path(os.path.expanduser(named))  # noqa: PTH111  (Path's own raises where nobody has such a name)


def read_item(item: Item, max_bytes: int) -> tuple[bytes, Visit]:
    """Its bytes, and what was seen. Raises UnreadableDocument, UnsupportedDocument or LimitExceeded."""
    if isinstance(item.data, bytes):
        _check_size(len(item.data), max_bytes)
        return item.data, replace(item.visit, size_bytes=len(item.data))
    with open_item(item) as (file, seen):
        _check_size(seen.size_bytes, max_bytes)
        try:
            return file.read(), seen
        except OSError as error:
            raise unreadable(error.strerror or error) from error


@contextmanager
def open_item(item: Item) -> Iterator[tuple[BinaryIO, Visit]]:
    """Its bytes as a stream, for one that is not read whole, and what was seen. Raises as `read_item` does."""
    if isinstance(item.data, bytes):
        yield BytesIO(item.data), replace(item.visit, size_bytes=len(item.data))
        return
    try:
        _check_kind(item.data.stat())
        file = item.data.open("rb") if item.within is None else _open_inside(item, item.data, item.within)
    # ValueError: a name that no file system takes, as it holds NUL.
    except (OSError, ValueError) as error:
        raise unreadable(getattr(error, "strerror", None) or error) from error
    with file:
        yield file, _seen(item, os.fstat(file.fileno()))


def leads_out(name: object) -> UnreadableDocument:
    """A link that is not followed."""
    return UnreadableDocument(
        f"{name} is a link that leads out of its folder: it is passed over.", help="Put the file itself there."
    )


def no_file(name: object) -> UnreadableDocument:
    """A pipe, a socket, a device, or a link that leads to nothing, among the files of a folder."""
    return UnreadableDocument(
        f"{name} is no ordinary file, or a link that leads nowhere: it is passed over.",
        help="Put the file itself there.",
    )


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to what lies within a folder, all links of both followed. Raises OSError for none."""
    return path.resolve(strict=True).is_relative_to(folder.resolve(strict=True))


def _open_inside(item: Item, path: Path, folder: Path) -> BinaryIO:
    """A file that lies within a folder, or a link to one that does. Raises OSError too.

    It is opened step by step without following a link, for one may take a folder's place after it was looked at.
    """
    base = folder.resolve(strict=True)
    real = path.resolve(strict=True)
    if not real.is_relative_to(base):
        raise leads_out(item.name)
    place = os.open(base, os.O_RDONLY)
    try:
        for part in real.relative_to(base).parts:
            before, place = place, os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
            os.close(before)
        _check_kind(os.fstat(place))
    except BaseException:
        os.close(place)
        raise
    return os.fdopen(place, "rb")


def _seen(item: Item, status: os.stat_result) -> Visit:
    return replace(item.visit, size_bytes=status.st_size, modified_ns=status.st_mtime_ns)


def _check_kind(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):  # a device or a pipe may never end
        raise UnsupportedDocument("This is not an ordinary file.")


def unreadable(reason: object) -> UnreadableDocument:
    """A file that the system does not give."""
    return UnreadableDocument(f"The file cannot be read: {reason}.", help="Check its name and your right to read it.")


def _check_size(size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise LimitExceeded(f"The file has {size_bytes / 2**20:.0f} MB; at most {max_bytes / 2**20:.0f} MB are taken.")
