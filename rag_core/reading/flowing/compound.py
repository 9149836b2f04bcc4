"""Compound files (MS-CFB), in which Office programs before 2007 and Outlook keep what they write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import olefile

from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading.base import Details

# What olefile raises for a file that is cut off, or whose parts lead to each other.
_DAMAGED = (OSError, IndexError, ValueError, TypeError, AttributeError, RecursionError)

_FIRST_YEAR = 1980


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a compound file. Raises UnreadableDocument for one that is damaged."""
    try:
        file = olefile.OleFileIO(str(path))
    except _DAMAGED as error:
        raise UnreadableDocument("The file is damaged: it is cut off, or was changed on its way.") from error
    with file:
        yield file


def stream(file: Any, *names: str) -> bytes:
    """What the first of these streams that the file has holds, as far as it can be read; empty for none."""
    for name in names:
        if file.exists(name):
            try:
                return bytes(file.openstream(name).read())
            except _DAMAGED as error:
                raise UnreadableDocument(f"The file is damaged: {name.lstrip('_')} is not in it whole.") from error
    return b""


def details(file: Any) -> Details:
    """What the file says of itself."""
    try:
        said = file.get_metadata()
    except _DAMAGED:
        return Details()
    page = f"cp{said.codepage & 0xFFFF}" if said.codepage else "cp1252"
    # Programs that know no time write the first one that there is, of 1601.
    saved = said.last_saved_time if said.last_saved_time and said.last_saved_time.year >= _FIRST_YEAR else None
    modified = saved.date().isoformat() if saved else ""
    return Details(_text(said.title, page), _text(said.author, page), modified=modified)


def locked() -> UnsupportedDocument:
    """What is said of a file with a password."""
    return UnsupportedDocument(
        "The file is protected by a password.", help="Save it without a password and add it again."
    )


def number(data: bytes, at: int, size: int = 4) -> int:
    """The number of so many bytes at a place, the lowest byte first. Raises IndexError behind the end."""
    if at < 0 or at + size > len(data):
        raise IndexError(at)
    return int.from_bytes(data[at : at + size], "little")


def _text(said: bytes | None, page: str) -> str:
    try:
        return (said or b"").decode("utf-8" if page == "cp65001" else page, errors="replace").strip("\0 ")
    except LookupError:
        return (said or b"").decode("cp1252", errors="replace").strip("\0 ")
