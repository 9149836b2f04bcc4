"""Archives and mailboxes: files that hold documents, each of which is one of its own, by its path inside.

"letters.zip" with "2023/a.pdf" leads to the document "letters.zip/2023/a.pdf", as a folder of that name would. Nothing
is unpacked to a disk. A container within another is opened as well, no deeper. A kind is a line in `_KINDS`: what names
end in, and a function from a stream to `Member`s.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from rag_core.domain import Visit
from rag_core.errors import Cancelled, LecternError, UnreadableDocument, UnsupportedDocument
from rag_core.sources.archives import Budget, Member, packed_members, zip_members
from rag_core.sources.base import Before, Found, Item, Looking, PassedOver, Refused, Unchanged, is_as_it_was
from rag_core.sources.files import open_item
from rag_core.sources.mailbox import mailbox_members

_Opener = Callable[[BinaryIO, str, Budget], Iterator[Member]]
_KINDS: Mapping[str, _Opener] = {
    ".zip": zip_members,
    **dict.fromkeys((".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".gz", ".bz2", ".xz"), packed_members),
    **dict.fromkeys((".mbox", ".mbx"), mailbox_members),
}
CONTAINERS = frozenset(_KINDS)
"""The endings of files that hold documents."""
# A document that is an archive itself says what it is in one of these.
_OF_DOCUMENTS = {"[Content_Types].xml", "META-INF/container.xml", "mimetype"}
_OUTSIDE = re.compile(r"^/|^[A-Za-z]:|(?:^|/)\.\.(?:/|$)|[\x00-\x1f\x7f]")
_OF_SYSTEMS = re.compile(r"(?:^|/)(?:__MACOSX/|\.[^/]|~\$|Thumbs\.db$|desktop\.ini$)", re.IGNORECASE)
_DEEPEST = 1


def is_container(name: str) -> bool:
    """Whether a file of this name holds documents."""
    return _suffix(name) in CONTAINERS


def container_of(place: str) -> Path | None:
    """The container that holds the document of a location; None for a file, and for what is gone."""
    for path in Path(place).parents:
        if is_container(path.name) and path.is_file():
            return path
    return None


def container_items(item: Item, looking: Looking, before: Before | None = None) -> Iterator[Found]:
    """The documents that a container holds, as items or as unchanged; or the item itself, where it is a document.

    What is wrong with one of them is told of by its name, what is wrong with the container by its own. before: what is
    known of its folder, where that was asked for already.
    """
    try:
        with open_item(item) as (stream, seen):
            if _is_document(item.name, stream):
                yield item
            else:
                yield from _Container(item, looking, seen, before or _known(item, looking)).found(stream)
    except LecternError as error:
        yield Refused(item.key, error)


@dataclass(slots=True)
class _Container:
    """A container while its members are gone through. seen: its own size and time of change."""

    item: Item
    looking: Looking
    seen: Visit
    before: Before
    others: list[str] = field(default_factory=list)

    def found(self, stream: BinaryIO) -> Iterator[Found]:
        """What it holds, and at the end what of that is passed over."""
        any_found = False
        for one in self._within("", stream, self.item.name, Budget(self.seen.size_bytes), 0):
            any_found = True
            yield one
        if self.others and any_found:
            yield PassedOver(self.item.key, tuple(sorted(self.others)))
        elif not any_found:
            note = f" {PassedOver('', tuple(sorted(self.others))).note}" if self.others else ""
            raise UnsupportedDocument(f"It holds no file of a kind that Lectern reads.{note}")

    def _within(self, way: str, stream: BinaryIO, name: str, budget: Budget, depth: int) -> Iterator[Found]:
        """way: what the names of its members begin with."""
        for member in _KINDS[_suffix(name)](stream, name, budget):
            if self.looking.stopped(self.item.key):
                raise Cancelled("Cancelled.")
            path = member.name.replace("\\", "/").removeprefix("./").encode(errors="replace").decode()
            if _OF_SYSTEMS.search(path):
                continue
            if _OUTSIDE.search(path):
                outside = UnreadableDocument("Its path leads out of the archive: it is passed over.")
                yield Refused(self._key(f"{way}{path!r}"), outside)
            elif is_container(path) and depth < _DEEPEST:
                yield from self._nested(f"{way}{path}", member, budget, depth)
            elif is_container(path):
                deep = UnsupportedDocument(
                    "It is an archive within one that is within another: it was not opened.",
                    help="Unpack it and add what it holds.",
                )
                yield Refused(self._key(f"{way}{path}"), deep)
            elif PurePosixPath(path).suffix.lower() in self.looking.suffixes:
                yield from self._member(f"{way}{path}", member)
            else:
                self.others.append(f"{way}{path}")

    def _nested(self, path: str, member: Member, budget: Budget, depth: int) -> Iterator[Found]:
        try:
            data = member.read()
            if _is_document(path, BytesIO(data)):
                yield from self._member(path, Member(member.name, len(data), lambda: data))
            else:
                yield from self._within(f"{path}/", BytesIO(data), path, budget, depth + 1)
        except Cancelled:
            raise
        except LecternError as error:
            yield Refused(self._key(path), error)

    def _member(self, path: str, member: Member) -> Iterator[Found]:
        """A document: what is known of it and did not change, or its bytes."""
        place = self.item.visit.location
        location = f"{place}/{path}" if place else ""
        name, known = f"{self.item.name}/{path}", self.before.known.get(location)
        removed = self.before.left_out.get(location)
        size = known.visit.size_bytes if known and member.size_bytes < 0 else member.size_bytes
        visit = replace(self.seen, location=location, size_bytes=size)
        if known and is_as_it_was(known, visit, self.before.kept, self.looking):
            yield Unchanged(name, known.document_id, visit)
        elif removed is None or removed.modified_ns != visit.modified_ns:
            try:
                data = member.read()
            except LecternError as error:
                yield Refused(self._key(path), error)
                return
            yield Item(name, data, visit, self._key(path), unless=removed.document_id if removed else "")

    def _key(self, path: str) -> str:
        return f"{self.item.key}/{path}"


def _known(item: Item, looking: Looking) -> Before:
    return Before.below(item.visit.location, looking) if item.visit.location else Before({}, {}, {})


def _is_document(name: str, stream: BinaryIO) -> bool:
    """Whether what is called an archive is a document that comes in one, as Office files and books do."""
    if _suffix(name) != ".zip":
        return False
    with suppress(zipfile.BadZipFile, OSError, ValueError, NotImplementedError), zipfile.ZipFile(stream) as archive:
        return not _OF_DOCUMENTS.isdisjoint(archive.namelist())
    stream.seek(0)
    return False


def _suffix(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()
