"""What can be added: uploads, files and folders; their names, and their bytes."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rag_core.domain import Upload
from rag_core.errors import LecternError, LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.reading import SUFFIXES


@dataclass(frozen=True, slots=True)
class Keyed:
    """A file or an upload whose events have `key` as their source, so that namesakes are told apart."""

    key: str
    source: Path | Upload


Source = str | Path | Upload | Keyed
# What programs leave in folders of source code.
_NOT_ENTERED = {"node_modules", "__pycache__"}


class Found(NamedTuple):
    """A source as it is added: what its events call it, the file name that its document has, and where its bytes are,
    or why there are none."""

    key: str
    name: str
    source: str | Path | Upload | LecternError


def expand(sources: Iterable[Source]) -> Iterator[Found]:
    """Sources with their names; folders become the files below them that Lectern reads."""
    for source in sources:
        if isinstance(source, Keyed):
            yield Found(source.key, source.source.name, source.source)
        elif isinstance(source, Upload):
            yield Found(source.name, source.name, source)
        elif isinstance(source, str) and source.startswith(("http://", "https://")):
            error = UnsupportedDocument("Web addresses are not read yet.", help="Save the page and add the file.")
            yield Found(source, source, error)
        elif not str(source):  # Path would take it for the working directory
            yield Found("", "", UnreadableDocument("The file has no name.", help="Name a file or a folder."))
        elif _is(Path.is_dir, Path(source)):
            yield from _files(Path(source))
        else:
            yield Found(Path(source).name, Path(source).name, source)


def _files(folder: Path) -> Iterator[Found]:
    found = sorted(path for path in folder.rglob("*") if _is_wanted(path, folder) and _is(Path.is_file, path))
    if not found:
        error = UnsupportedDocument("The folder holds no file of a kind that Lectern reads.")
        yield Found(str(folder), str(folder), error)
    for path in found:
        name = str(path.relative_to(folder))
        yield Found(name, name, path)


def _is_wanted(path: Path, folder: Path) -> bool:
    """Whether a file below a folder is of a kind that is read and stands in no hidden folder."""
    inside = path.relative_to(folder).parts[:-1]
    hidden = any(part.startswith(".") or part in _NOT_ENTERED for part in inside)
    # What Office programs keep beside an open file, ~$report.docx, is no document.
    return path.suffix.lower() in SUFFIXES and not hidden and not path.name.startswith("~$")


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """Whether a path is a folder or a file; no where the system refuses to say, as for a name that is too long."""
    try:
        return kind(path)
    except OSError:
        return False


def read_source(source: str | Path | Upload, max_bytes: int) -> bytes:
    """The bytes of an upload or a file. Raises UnreadableDocument, UnsupportedDocument or LimitExceeded."""
    if isinstance(source, Upload):
        _check_size(len(source.data), max_bytes)
        return source.data
    path = Path(source)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a device or a pipe may never end
            raise UnsupportedDocument("This is not an ordinary file.")
        _check_size(status.st_size, max_bytes)
        return path.read_bytes()
    # ValueError: a name that no file system takes, as it holds NUL.
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableDocument(
            f"The file cannot be read: {reason}.", help="Check its name and your right to read it."
        ) from error


def _check_size(size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise LimitExceeded(f"The file has {size_bytes / 2**20:.0f} MB; at most {max_bytes / 2**20:.0f} MB are taken.")
