"""Where documents come from, and what was seen there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SourceKind = Literal["upload", "file", "web"]


@dataclass(frozen=True, slots=True)
class WebAddress:
    """A page to add, and those that it links to within its host and path.

    depth: how many links away from it a page may be. pages: most addresses fetched. delay_s: least time between two
    requests, seconds; a longer one that the site asks for is kept.
    """

    address: str
    depth: int = 0
    pages: int = 50
    delay_s: float = 0.5

    @property
    def name(self) -> str:
        """What its first page is told of by."""
        return self.address


@dataclass(frozen=True, slots=True)
class Visit:
    """What was seen at a source. Uploads have none of it.

    location: an absolute path, or an address. root: the watched folder, or the address that was added, which led there.
    modified_ns: nanoseconds since 1970. etag and last_modified are as the server said them.
    """

    location: str = ""
    kind: SourceKind = "upload"
    root: str = ""
    size_bytes: int = 0
    modified_ns: int = 0
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source as the library knows it. `state` and `byte_size` are those of the document that it led to."""

    visit: Visit
    name: str
    document_id: str
    state: str
    byte_size: int
    looked_at: datetime


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document that the user removed, and the size and time of change that its file had then: it stays out."""

    document_id: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class FollowedSource:
    """A watched folder, or an address that was added.

    tags: what its documents get. problem: why it could not be followed the last time. device: of the file system that
    held the folder when files were last seen in it.
    """

    location: str
    kind: Literal["folder", "web"]
    tags: tuple[str, ...] = ()
    depth: int = 0
    pages: int = 0
    delay_s: float = 0.0
    looked_at: datetime | None = None
    problem: str = ""
    device: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a watched folder is read, as of the last look.

    files: those that are found there. ready: how many of them are read. unread: each that could not be, why, and what
    to do. passed_over: those of kinds that are not taken from folders. note: what is said of these in short.
    """

    location: str
    files: int
    ready: int
    unread: tuple[tuple[str, str, str], ...] = ()
    passed_over: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How a visit ended: documents that are new or changed, sources as before, and what failed, why, and what to do.

    notes: what else is to be said, such as which files were passed over. private: the `host:port` of each place that
    was kept from, as it is of this machine or its network.
    """

    ready: int = 0
    unchanged: int = 0
    failed: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
