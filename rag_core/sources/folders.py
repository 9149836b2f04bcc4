"""Folders: the files below them that Lectern reads. What did not change since it was added costs one `stat`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from rag_core.domain import Visit
from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.sources.base import Before, Found, Looking, PassedOver, Refused, Unchanged, is_as_it_was
from rag_core.sources.containers import container_items, is_container
from rag_core.sources.files import file_item, is_inside, leads_out, location, no_file

# What programs leave in folders of source code.
_NOT_ENTERED = {"node_modules", "__pycache__"}
# What every data folder of a library has: its own files are no documents.
_OF_A_LIBRARY = {"owner.lock", "dumps", "files", "lexical"}


@dataclass(slots=True)
class Listing:
    """What stands below a folder: size in bytes and time of change in nanoseconds since 1970, by path from there.

    unread: the folders that the system did not let us look into, as paths from there; "" is the folder itself. The rest
    is passed over. outside: links that lead out of where they may. odd: what has the name of a file to be read and is
    none, such as a pipe, or a link that leads nowhere. others: files of other kinds, and links to folders.
    """

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def refused(self) -> Iterator[Refused]:
        """What is not read though its name is that of a file to be read, and why."""
        yield from (Refused(name, leads_out(name)) for name in sorted(self.outside))
        yield from (Refused(name, no_file(name)) for name in sorted(self.odd))

    def passed_over(self, name: str) -> PassedOver:
        """The files of other kinds, below the folder of this name."""
        return PassedOver(name, tuple(sorted(self.others)))


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; no where the system refuses to say, as for a name that is too long."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def list_folder(folder: Path, suffixes: Collection[str], within: Path | None = None) -> Listing:
    """The files below a folder whose names end so, none of them in hidden folders or in a library's own;
    links to folders are not entered.

    within: links to files are taken that lead to what lies in this folder alone; None for any.
    """
    found, waiting = Listing(), [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(folder / inside) as scanned:
                entries = list(scanned)
                if {entry.name for entry in entries} >= _OF_A_LIBRARY:
                    continue
                for entry in entries:
                    name = f"{inside}/{entry.name}" if inside else entry.name
                    _note(entry, name, suffixes, found, waiting, within)
        except OSError:
            found.unread.append(inside)
    return found


def folder_items(
    folder: Path, looking: Looking, root: str = "", listing: Listing | None = None, within: Path | None = None
) -> Iterator[Found]:
    """The files below a folder in alphabetical order, as items, or as unchanged. `root`: of a watched one, its own.

    within: nothing is taken that lies outside of this folder.
    """
    listing = listing or list_folder(folder, looking.suffixes, within)
    for inside in sorted(listing.unread):
        yield Refused(
            str(folder / inside), UnreadableDocument("The folder cannot be looked into.", help="Check your right to.")
        )
    yield from (refused := list(listing.refused()))
    if not (listing.files or listing.unread or refused):
        nothing = "The folder holds no file of a kind that Lectern reads."
        told = f"{nothing} {listing.passed_over('').note}" if listing.others else nothing
        yield Refused(str(folder), UnsupportedDocument(told))
    before = Before.below(location(folder), looking) if listing.files else Before({}, {}, {})
    for name in sorted(listing.files, key=lambda one: one.split("/")):
        item = file_item(folder / name, name, root, within)
        if is_container(name):
            yield from container_items(item, looking, before)
            continue
        visit = Visit(item.visit.location, "file", root, *listing.files[name])
        seen = before.known.get(visit.location)
        if seen and is_as_it_was(seen, visit, before.kept, looking):
            yield Unchanged(name, seen.document_id, visit)
        elif (removed := before.left_out.get(visit.location)) is None:
            yield item
        elif (removed.size_bytes, removed.modified_ns) != listing.files[name]:
            yield replace(item, unless=removed.document_id)
    if listing.files and (listing.others or not root):
        yield replace(listing.passed_over(str(folder)), ends=not root)


def _note(
    entry: os.DirEntry[str], name: str, suffixes: Collection[str], found: Listing, waiting: list[str],
    within: Path | None,
) -> None:  # fmt: skip
    """Note a file, or a folder to be looked into."""
    try:
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith(".") and entry.name not in _NOT_ENTERED:
                waiting.append(name)
        # What Office programs keep beside an open file, ~$report.docx, is no document.
        elif entry.name.startswith("~$"):
            return
        elif (kind := _leads_to(entry)) == "folder":
            _tell(f"{name}/", found.others, entry)
        elif PurePath(entry.name).suffix.lower() not in suffixes:
            _tell(name, found.others, entry)
        elif not kind:
            _tell(name, found.odd, entry)  # editors lock a file by a hidden link that leads nowhere
        else:
            if within is not None and entry.is_symlink() and not is_inside(Path(entry.path), within):
                found.outside.append(name)
                return
            status = entry.stat()
            found.files[name] = (status.st_size, status.st_mtime_ns)
    except OSError:  # removed meanwhile
        return


def _tell(name: str, passed_over: list[str], entry: os.DirEntry[str]) -> None:
    """Note what is passed over; of hidden ones nobody wants to hear."""
    if not entry.name.startswith("."):
        passed_over.append(name)


def _leads_to(entry: os.DirEntry[str]) -> str:
    """What a name stands for, links followed: a file, a folder, or "" for a pipe, a device, a link to nothing."""
    try:
        return "file" if entry.is_file() else "folder" if entry.is_dir() else ""
    except OSError:  # a link that leads to itself
        return ""
