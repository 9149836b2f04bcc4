"""What every format offers: pages, details about the document and, for some, pictures.

A new format is one new file with an `OpenDocument` and one line in `worker.FORMATS`; one whose text flows is a file in
`flowing` and a line in `worker.FLOWING`. Its media type has a name below, and what its bytes and name look like stands
in `detect`. CONTRIBUTING.md goes through it step by step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rag_core.domain import Box, Page, PageImage
from rag_core.errors import UnsupportedDocument

PDF = "application/pdf"
TEXT = "text/plain"
CODE = "text/x-source"
MARKDOWN = "text/markdown"
HTML = "text/html"
CSV = "text/csv"
MAIL = "message/rfc822"
RTF = "application/rtf"
SUBTITLES = "text/vtt"
LATEX = "text/x-tex"
CALENDAR = "text/calendar"
CARD = "text/vcard"
RST = "text/x-rst"
ORG = "text/x-org"
ASCIIDOC = "text/asciidoc"
SVG = "text/svg+xml"
JSON = "application/json"
YAML = "application/yaml"
XML = "application/xml"
NOTEBOOK = "application/x-ipynb+json"
EPUB = "application/epub+zip"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
DOC = "application/msword"
XLS = "application/vnd.ms-excel"
PPT = "application/vnd.ms-powerpoint"
MSG = "application/vnd.ms-outlook"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"
WEBP = "image/webp"
BMP = "image/bmp"
GIF = "image/gif"
AVIF = "image/avif"
HEIC = "image/heic"
MP3 = "audio/mpeg"
M4A = "audio/mp4"
WAV = "audio/wav"
OGG = "audio/ogg"
FLAC = "audio/flac"
AAC = "audio/aac"
AMR = "audio/amr"
MP4 = "video/mp4"
WEBM = "video/webm"
LOCKABLE = (PDF, DOCX, XLSX, PPTX, XLSB, DOC, XLS, PPT)
"""Kinds whose files may ask for a password."""
PICTURED = (DOCX, PPTX, EPUB, HTML, MARKDOWN)
"""Kinds whose files may hold pictures that are shown in their text, and whose words are recognised."""
SHEETS = (XLSX, XLSB, XLS, ODS)
IMAGES = (PNG, JPEG, TIFF, WEBP, BMP, GIF, AVIF, HEIC)
SOUNDS = (MP3, M4A, WAV, OGG, FLAC, AAC, AMR, MP4, WEBM)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as a format gives it. `start` is an offset on the page, `top` a fraction of its height."""

    title: str
    level: int
    page: int
    start: int | None = None
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """What a document says about itself. `labels` maps page numbers to printed labels. modified: an ISO date."""

    title: str = ""
    authors: str = ""
    year: int | None = None
    language: str = ""
    headings: tuple[Heading, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    modified: str = ""


class Face(NamedTuple):
    """How a line is set: size in points, and whether it is bold or slanted from its first character to its last."""

    size: float
    bold: bool
    italic: bool = False


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page with what only reading needs: the faces of its lines, and whether most of its text is a picture."""

    page: Page
    faces: tuple[Face, ...] = ()
    pictures: bool = False

    @property
    def awaits(self) -> bool:
        """Whether text recognition may read more of it, all of the page or the pictures on it."""
        return self.pictures or any(figure.awaits for figure in self.page.figures)


class OpenDocument(ABC):
    """A document opened in a reading process. Used by one thread."""

    page_count: int

    def prepare(self, alive: Callable[[], None]) -> None:
        """Do what takes long before pages can be counted, calling `alive` now and then. Raises as opening does."""
        return None

    @abstractmethod
    def read_page(self, number: int, max_chars: int) -> RawPage:
        """Read one page, counted from 1. Raises LimitExceeded when it holds more than `max_chars` characters."""

    @abstractmethod
    def details(self) -> Details:
        """Title, authors, headings and labels. What cannot be read is left out and named in the notes."""

    def page_image(self, number: int, width_px: int) -> PageImage:
        """Draw a page as PNG. Raises UnsupportedDocument for formats without a fixed layout."""
        raise UnsupportedDocument("Pictures of pages exist for PDF documents alone.", help="Read the text instead.")

    def page_boxes(self, number: int, spans: Sequence[tuple[int, int]], text: str | None) -> list[tuple[Box, ...]]:
        """Where spans of a page's text stand on its picture, the boxes of each; none where nothing is known of it.

        text: that as it was stored, where it was.
        """
        return [() for _ in spans]

    def close(self) -> None:
        """Free what the document holds."""
        return None


# path, password, most characters -> the opened document
Opener = Callable[[Path, str | None, int], OpenDocument]
