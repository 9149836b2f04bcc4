"""Files by their paths, and the bytes of whatever was found."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from rag_core.domain import Visit
from rag_core.errors import LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.sources.base import Item


def file_item(path: Path, name: str = "", root: str = "") -> Item:
    """A file that is read when its turn comes. `root` is the watched folder that led to it."""
    return Item(name or path.name, path, Visit(location(path), "file", root))


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
    try:
        status = item.data.stat()
        if not stat.S_ISREG(status.st_mode):  # a device or a pipe may never end
            raise UnsupportedDocument("This is not an ordinary file.")
        _check_size(status.st_size, max_bytes)
        data = item.data.read_bytes()
        return data, replace(item.visit, size_bytes=status.st_size, modified_ns=status.st_mtime_ns)
    # ValueError: a name that no file system takes, as it holds NUL.
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise unreadable(reason) from error


def unreadable(reason: object) -> UnreadableDocument:
    """A file that the system does not give."""
    return UnreadableDocument(f"The file cannot be read: {reason}.", help="Check its name and your right to read it.")


def _check_size(size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise LimitExceeded(f"The file has {size_bytes / 2**20:.0f} MB; at most {max_bytes / 2**20:.0f} MB are taken.")
