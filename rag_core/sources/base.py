"""What connectors find, and what they are given. A connector is a function from a source to what is found there.

Another kind of source is a file with its connector, and a line in `_found` of `rag_core/sources/__init__.py`, which
`expand` asks; one that is not a path, an upload or an address also has a class in `Source` below, and one that is to be
looked at again its way in `rag_core/services/following.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rag_core.domain import FollowedSource, KnownSource, LeftOut, Upload, Visit, WebAddress
from rag_core.errors import LecternError
from rag_core.settings import SourcesSettings

_NAMED = 20
# A file that was written in the moment in which it was read may have changed since, with the same time and size.
_MOMENT_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Keyed:
    """A file or an upload whose events have `key` as their source, so that namesakes are told apart."""

    key: str
    source: Path | Upload


@dataclass(frozen=True, slots=True)
class Inside:
    """A file or a folder, of which nothing is taken that lies outside of `folder`, whatever links there are."""

    path: Path
    folder: Path

    def __str__(self) -> str:
        return str(self.path)


Source = str | Path | Upload | WebAddress | Keyed | Inside


@dataclass(frozen=True, slots=True)
class Item:
    """Bytes to be read, or the file that holds them.

    name: the file name, or address, that its document has. key: what its events call it. within: the folder in which
    the file must lie; None for any. unless: a document that the user removed; where the bytes are its own still, it
    stays out.
    """

    name: str
    data: bytes | Path = field(repr=False)
    visit: Visit = field(default_factory=Visit)
    key: str = ""
    within: Path | None = None
    unless: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", self.name)


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A source whose document is in the library and as it was."""

    name: str
    document_id: str
    visit: Visit


@dataclass(frozen=True, slots=True)
class Refused:
    """A source that cannot be taken."""

    name: str
    error: LecternError


@dataclass(frozen=True, slots=True)
class Fetching:
    """A step: an address is fetched, the `done`th of `total` that are known of so far."""

    name: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Files of a folder, by their paths from there, that are of no kind that is taken from folders.

    ends: whether that was all of a folder that was added; what fails of it is told of once more with them, at the end.
    """

    name: str
    files: tuple[str, ...]
    ends: bool = False

    @property
    def note(self) -> str:
        """What is said of them, the first ones by name; nothing where there are none."""
        if not self.files:
            return ""
        more = f" and {len(self.files) - _NAMED} more" if len(self.files) > _NAMED else ""
        named = ", ".join(self.files[:_NAMED])
        return f"Passed over, as kinds that are not taken from folders: {named}{more}. One named by itself is tried."


Found = Item | Unchanged | Refused | Fetching | PassedOver


@dataclass(frozen=True, slots=True)
class Looking:
    """What a connector may ask.

    known: what was seen at these locations, by location. known_below: the same for those that begin so. original: the
    kept bytes of a document, None where they are lost; kept: their sizes, by document. stopped: whether the source of a
    name is not to go on. follow: keeps an address that may be looked at again. again: whether what a user removed stays
    out, and what failed is not tried once more unless it changed.
    """

    settings: SourcesSettings
    suffixes: frozenset[str]
    known: Callable[[Sequence[str]], Mapping[str, KnownSource]]
    known_below: Callable[[str], Mapping[str, KnownSource]]
    left_out: Callable[[], Mapping[str, LeftOut]]
    original: Callable[[str], bytes | None]
    kept: Callable[[], Mapping[str, int]]
    stopped: Callable[[str], bool]
    follow: Callable[[FollowedSource], None]
    again: bool = False


class Before(NamedTuple):
    """What the library knows of places, by location: what was seen there, sizes of kept bytes by document, removals."""

    known: Mapping[str, KnownSource]
    kept: Mapping[str, int]
    left_out: Mapping[str, LeftOut]

    @classmethod
    def below(cls, place: str, looking: Looking) -> Before:
        """The same of all that is below a place."""
        known = looking.known_below(f"{place.rstrip('/')}/")
        return cls(known, looking.kept() if known else {}, looking.left_out() if looking.again else {})


def is_as_it_was(seen: KnownSource, visit: Visit, kept: Mapping[str, int], looking: Looking) -> bool:
    """Whether a file leads to the document that it led to before, which is whole. kept: sizes of bytes, by document."""
    before = seen.visit
    looked_ns = int(seen.looked_at.timestamp() * 1e9)
    if (before.size_bytes, before.modified_ns) != (visit.size_bytes, visit.modified_ns):
        return False
    if before.modified_ns > looked_ns - _MOMENT_NS or (visit.root and before.root != visit.root):
        return False
    if seen.state == "ready":
        return kept.get(seen.document_id) == seen.byte_size
    return looking.again
