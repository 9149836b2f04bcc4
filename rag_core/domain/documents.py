"""Documents and their chunks, and the steps of adding one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

from rag_core.domain.pages import Box, Page, Section
from rag_core.errors import EncryptedDocument, LecternError

_SHEETS = (
    "text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.oasis.opendocument.spreadsheet",
)  # fmt: skip
_MARKED = (
    "text/markdown", "text/html", "application/epub+zip", "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)  # fmt: skip
Stage = Literal["waiting", "fetching", "reading", "embedding", "storing", "ready", "failed", "cancelled"]
State = Literal["pending", "stored", "ready", "failed", "removing"]
# Cards of an earlier version are made again, from the text of the pages alone: without the sizes of lines the titles of
# PDFs are read worse. A migration asks for those of some kinds of files.
CARD_VERSION = 3


@dataclass(frozen=True, slots=True)
class DocumentCard:
    """What a person would call a document, each part empty where it is not known.

    title: the whole name ("Apple Inc. 10-K annual report 2020"). organisation: the company or body it is of. kind:
    "handbook", "earnings release", "invoice". period: in the document's words ("first quarter 2023"). year: the one it
    is about, else of. language: as of RFC 5646 ("en", "zh-Hant"). doi, abstract: of
    a paper, as its first pages have them. modified: the ISO date that the file says it was last changed on.
    """

    title: str
    organisation: str = ""
    authors: str = ""
    kind: str = ""
    period: str = ""
    year: int | None = None
    language: str = ""
    doi: str = ""
    abstract: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What reading makes of a file's bytes. `title`, `authors`, `year`, `modified` are as the file says, or its name.

    to_recognise: the pages whose text is a picture that text recognition has yet to read.
    """

    media_type: str
    pages: tuple[Page, ...]
    title: str = ""
    authors: str = ""
    year: int | None = None
    language: str = ""
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    card: DocumentCard | None = None
    to_recognise: tuple[int, ...] = ()
    modified: str = ""

    @property
    def found_title(self) -> str:
        """The title that its card says, whatever the user calls it: what vectors are made with."""
        return self.card.title if self.card else self.title

    @property
    def main_language(self) -> str:
        """The language that its card found (ISO 639-1), English where there is none."""
        return (self.card.language if self.card else "") or "en"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded: a span of one page. `md5` is of the text's UTF-8 bytes, in hexadecimal.

    corrected: a user gave it another text than its span has. hidden: some of it is not to be seen on the page.
    """

    document_id: str
    index: int
    page: int
    start: int
    end: int
    text: str
    md5: str
    section: str = ""
    boxes: tuple[Box, ...] = ()
    token_count: int = 0
    corrected: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class GuideLine:
    """A sentence of a document with its page and its span there."""

    page: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Guide:
    """What a document is about in a few lines, and its main figures."""

    lines: tuple[GuideLine, ...] = ()
    figures: tuple[GuideLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkEdit:
    """What a user made of a chunk, which is named by the span of its page, `start` to `end`.

    original: its text as read; text: as corrected, or the same. left_out: it is not searched. One that is not
    `in_place` fits no chunk: its document was cut otherwise since, or came in a new version.
    """

    document_id: str
    page: int
    start: int
    end: int
    section: str
    original: str
    text: str
    left_out: bool
    in_place: bool
    edited_at: datetime | None = None

    @property
    def corrected(self) -> bool:
        """Whether its text is another than was read."""
        return self.text != self.original


CONTEXT_MARK = "-c"
"""What a profile's revision says of chunks that were embedded with title and section before them."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What makes vectors comparable: the embedding model and its settings. `id` is a short hash of the rest."""

    id: str
    name: str
    revision: str
    dimensions: int
    pooling: str
    precision: str

    @property
    def in_context(self) -> bool:
        """Whether a chunk's vector is of its title, section and text, or of its text alone."""
        return CONTEXT_MARK in self.revision


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the library. `id` is made from the SHA-256 of its bytes; `sources` are its names.

    `title` is what the user calls it, else what its card says; `authors` and `year` are as its card says, else as the
    file does; `tags` are in alphabetical order. `to_recognise` counts the pages that text recognition has yet to read.
    `is_lasting` says of one that failed that it fails again whenever it is read.
    """

    id: str
    title: str
    media_type: str
    byte_size: int
    state: State
    page_count: int = 0
    chunk_count: int = 0
    sources: tuple[str, ...] = ()
    authors: str = ""
    year: int | None = None
    language: str = ""
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    help: str = ""
    added_at: datetime | None = None
    card: DocumentCard | None = None
    tags: tuple[str, ...] = ()
    to_recognise: int = 0
    is_lasting: bool = False

    @property
    def has_page_images(self) -> bool:
        """Whether its pages can be drawn."""
        return self.media_type == "application/pdf" or self.media_type.startswith("image/")

    @property
    def is_locked(self) -> bool:
        """Whether it could not be read for want of its password."""
        return self.state == "failed" and self.help == EncryptedDocument.default_help

    @property
    def is_recording(self) -> bool:
        """Whether it is sound or film, whose pages are its minutes."""
        return self.media_type.startswith(("audio/", "video/"))

    @property
    def is_recognisable(self) -> bool:
        """Whether it may have pages whose text is a picture, or is said."""
        return self.has_page_images or self.is_recording

    @property
    def is_sheet(self) -> bool:
        """Whether it is a table, or a workbook of them."""
        return self.media_type in _SHEETS

    @property
    def marks_headings(self) -> bool:
        """Whether its headings are known as such, so that a short line by itself is none."""
        return self.media_type in _MARKED and len(self.sections) > 1

    @property
    def is_code(self) -> bool:
        """Whether it is source code, whose lines are shown as they stand."""
        return self.media_type == "text/x-source"

    @property
    def is_mail(self) -> bool:
        """Whether it is a message, which begins with its heads."""
        return self.media_type == "message/rfc822"

    @property
    def file_name(self) -> str:
        """Its first file's name without the ending; "" of a web page, and where it has none."""
        return PurePosixPath(self.sources[0]).stem if self.sources and not self.address else ""

    @property
    def found_title(self) -> str:
        """The title that its card says, whatever the user calls it: what vectors are made with."""
        return self.card.title if self.card else self.title

    @property
    def main_language(self) -> str:
        """The language that its card found (ISO 639-1), English where there is none."""
        return (self.card.language if self.card else "") or "en"

    @property
    def address(self) -> str:
        """Where it stands on the web; empty where it came from elsewhere."""
        return next((name for name in self.sources if name.startswith(("http://", "https://"))), "")


@dataclass(frozen=True, slots=True)
class Upload:
    """Bytes with a name, as a browser hands them over."""

    name: str
    data: bytes = field(repr=False)


KNOWN = "already in the library"
"""The note of what was added before."""


@dataclass(frozen=True, slots=True)
class AddEvent:
    """One step of adding a source.

    `done` of `total` counts addresses of a site when fetching, pages when reading and chunks when embedding.
    """

    source: str
    stage: Stage
    done: int = 0
    total: int = 0
    document: Document | None = None
    error: LecternError | None = None
    note: str = ""
