"""Addresses and files that were added by themselves, looked at again: changed, moved, or gone."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rag_core.domain import FollowedSource, KnownSource, Visit, WebAddress
from rag_core.errors import SourceUnavailable
from rag_core.sources import (
    Found,
    Item,
    Looking,
    Refused,
    Unchanged,
    container_items,
    container_of,
    file_item,
    guarded,
    is_folder,
    location,
)
from rag_core.storage.postgres.sources import SourceStore

_KEPT = "Its last version is kept."
_ELSEWHERE = f"{_KEPT} If it is elsewhere now, add it there: this place is then looked at no more."
# The regular files of a folder by size in bytes and time of change in nanoseconds, which a rename leaves as they are.
_Names = dict[tuple[int, int], list[str]]


class FilesAgain:
    """One pass over what was added by address or path. `shared`: folders that others than the owner may write in."""

    def __init__(self, sources: SourceStore, shared: Sequence[Path]) -> None:
        self._sources = sources
        self._shared = shared
        self._listed: dict[Path, _Names] = {}

    def found(self, sites: Sequence[FollowedSource], files: Sequence[KnownSource], looking: Looking) -> Iterator[Found]:
        """What is found at addresses, and at files outside watched folders."""
        from rag_core.sources.web import crawl

        for site in sites:
            address = WebAddress(site.location, site.depth, site.pages, site.delay_s)
            yield from guarded(site.location, crawl(address, looking))
        held: dict[Path, list[KnownSource]] = defaultdict(list)
        for one in files:
            if (container := container_of(one.visit.location)) is not None:
                held[container].append(one)
            else:
                yield from guarded(one.name, self._file(one))
        for path, inside in held.items():
            yield from guarded(str(path), self._container(path, inside, looking))

    def _file(self, known: KnownSource) -> Iterator[Found]:
        """A file that was added by its path: to be read where it changed."""
        seen, path = known.visit, Path(known.visit.location)
        try:
            if is_as_seen(seen):
                yield Unchanged(known.name, known.document_id, seen)
                return
        except (FileNotFoundError, NotADirectoryError):
            yield self._moved(known, path)
            return
        except OSError as error:
            gone = f"The file cannot be looked at: {error.strerror}."
            yield Refused(known.name, SourceUnavailable(gone, help=_KEPT))
            return
        within = next((folder for folder in self._shared if path.is_relative_to(folder)), None)
        yield Item(known.name, path, Visit(seen.location, "file"), within=within)

    def _container(self, path: Path, inside: Sequence[KnownSource], looking: Looking) -> Iterator[Found]:
        """What an archive or a mailbox holds of which documents came; what it holds no longer is told of once."""
        start = len(location(path)) + 1
        name = inside[0].name.removesuffix(inside[0].visit.location[start - 1 :])
        within = next((folder for folder in self._shared if path.is_relative_to(folder)), None)
        found, is_whole = set[str](), True
        for one in container_items(file_item(path, name, within=within), looking):
            is_whole = is_whole and not isinstance(one, Refused)
            if isinstance(one, Item | Unchanged):
                found.add(one.visit.location)
            yield one
        for known in inside if is_whole else ():
            if known.visit.location not in found:
                self._sources.settle(known.document_id, known.visit.location)
                gone = SourceUnavailable("It is in its archive no longer, and is looked for no more.", help=_KEPT)
                yield Refused(known.name, gone)

    def _moved(self, known: KnownSource, path: Path) -> Found:
        """A file that is gone: where the same one is now, or how it is to be told of, once where that is final."""
        if (other := self._other(known)) is not None:
            self._sources.settle(known.document_id, known.visit.location)
            return Unchanged(known.name, known.document_id, other)
        if not is_folder(path.parent):  # a drive, perhaps, that comes back
            return Refused(known.name, SourceUnavailable("Its folder is not there.", help=_ELSEWHERE))
        renamed = self._renamed(known, path)
        if renamed is None:
            self._sources.settle(known.document_id, known.visit.location)
            error = SourceUnavailable("The file is gone, and is looked for no more.", help=_KEPT)
            return Refused(known.name, error)
        name = str(Path(known.name).with_name(renamed.name))
        visit = replace(known.visit, location=location(renamed))
        self._sources.move(known.document_id, known.visit.location, name, visit)
        return Unchanged(name, known.document_id, visit)

    def _other(self, known: KnownSource) -> Visit | None:
        """Another place that the same document came from, where it is still."""
        for one in self._sources.of(known.document_id).values():
            try:
                if one.visit.kind == "file" and one.visit.location != known.visit.location and is_as_seen(one.visit):
                    return one.visit
            except OSError:
                continue
        return None

    def _renamed(self, known: KnownSource, path: Path) -> Path | None:
        """The file of its folder that has its bytes."""
        seen = known.visit
        names = self._names(path.parent).get((seen.size_bytes, seen.modified_ns), [])
        return next((path.with_name(name) for name in names if holds(path.with_name(name), known.document_id)), None)

    def _names(self, folder: Path) -> _Names:
        if folder not in self._listed:
            names: _Names = defaultdict(list)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat()
                        names[status.st_size, status.st_mtime_ns].append(entry.name)
            self._listed[folder] = names
        return self._listed[folder]


def is_as_seen(visit: Visit) -> bool:
    """Whether a file has the size and the time of change that it had. Raises OSError where it is gone."""
    status = Path(visit.location).stat()
    return (status.st_size, status.st_mtime_ns) == (visit.size_bytes, visit.modified_ns)


def holds(path: Path, document_id: str) -> bool:
    """Whether a file has a document's bytes: its id begins their SHA-256."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest().startswith(document_id)
    except OSError:
        return False
