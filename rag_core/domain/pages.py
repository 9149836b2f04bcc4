"""Pages of a document as they are read: their lines, figures, tables and headings, and where these stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

# The recogniser of what is heard.
WHISPER = "Whisper"
_EDGES = 4  # of a box


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in fractions of its width and height from the top left."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, boxes: Iterable[Box]) -> Box:
        """The least box that holds some, at least one."""
        lefts, tops, rights, bottoms = zip(*((box.left, box.top, box.right, box.bottom) for box in boxes), strict=True)
        return cls(min(lefts), min(tops), max(rights), max(bottoms))

    @property
    def height(self) -> float:
        """In fractions of the page's."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Half way down it."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page: its span in the page's text and where it stands. cells: of a table's row, else none."""

    start: int
    end: int
    box: Box
    cells: tuple[Line, ...] = ()

    def moved(self, by: int) -> Line:
        """The same so many characters further on."""
        cells = tuple(cell.moved(by) for cell in self.cells)
        return Line(self.start + by, self.end + by, self.box, cells)


@dataclass(frozen=True, slots=True)
class HiddenText:
    """A span of a page's text that nobody sees there, and why: "zero width", "white", "tiny" and their like."""

    start: int
    end: int
    why: str

    def behind(self, at: int, by: int) -> HiddenText:
        """The same once so many characters are put into the page's text at a place."""
        return HiddenText(*_behind((self.start, self.end), at, by), self.why)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture or chart of a page, `start` to `end` its caption, or what else stands for it, in the page's text; an
    empty span where nothing does.

    box: where it stands on the page, None where the document has no pages of its own. part: the picture's name in the
    file then, empty where the file does not hold it. words: of a picture that may hold some, the span of what text
    recognition read in it, empty until it has looked; None where there is nothing to recognise.
    """

    start: int
    end: int
    box: Box | None = None
    part: str = ""
    words: tuple[int, int] | None = None

    @property
    def awaits(self) -> bool:
        """Whether text recognition has yet to look at it."""
        return self.words is not None and self.words[0] == self.words[1]

    def says(self, start: int, end: int) -> bool:
        """Whether a span of the page's text has words that were recognised in it."""
        return self.words is not None and start < self.words[1] and self.words[0] < end

    @property
    def row(self) -> list[int | str | float]:
        """As plain values: its span, its part, the four fractions of its box and the span of its words, if it has
        these."""
        return [self.start, self.end, self.part, *(astuple(self.box) if self.box else ()), *(self.words or ())]

    def behind(self, at: int, by: int) -> Figure:
        """The same once so many characters are put into the page's text at a place."""
        moved = by if self.start >= at else 0
        words = self.words and _behind(self.words, at, by)
        return replace(self, start=self.start + moved, end=self.end + moved, words=words)

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Figure:
        """The figure that gave a row."""
        start, end, part, *places = row
        box, words = (places[:4], places[4:]) if len(places) >= _EDGES else ([], places)
        span = (int(words[0]), int(words[1])) if words else None
        return cls(int(start), int(end), Box(*box) if box else None, part, span)


def _behind(span: tuple[int, int], at: int, by: int) -> tuple[int, int]:
    return (span[0] + by, span[1] + by) if span[0] >= at else span


@dataclass(frozen=True, slots=True)
class Page:
    """One page as read. `error` says why it could not be read; its text is then empty.

    body: the span of its text that is cut into chunks; None for all of it.
    recogniser: what read its text off a picture, empty where the file holds the text; certainty: then, of its
    characters, 0 to 1. turned: degrees clockwise by which the page is turned to stand upright, as its boxes do.
    """

    number: int
    text: str
    label: str = ""
    width_pt: float = 0.0
    height_pt: float = 0.0
    lines: tuple[Line, ...] = ()
    error: str | None = None
    body: tuple[int, int] | None = None
    recogniser: str = ""
    certainty: float = 0.0
    turned: int = 0
    hidden: tuple[HiddenText, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def is_heard(self) -> bool:
        """Whether its text was not seen but heard."""
        return self.recogniser == WHISPER


@dataclass(frozen=True, slots=True)
class Section:
    """A heading: from the outline of a PDF or the headings of another document. `start` is its place on the page."""

    title: str
    level: int
    page: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class AmountNote:
    """What a document says the amounts behind it are in: "(in millions)". It begins at `start` on `page` and holds to
    the page and place `until`, None for the document's end."""

    text: str
    page: int
    start: int
    until: tuple[int, int] | None = None

    def holds_at(self, page: int, place: int) -> bool:
        """Whether it holds for what stands there."""
        return (self.page, self.start) < (page, place) and (self.until is None or (page, place) < self.until)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page's text, `start` to `end`, with its caption, if it has one. The first `heads` rows are its head;
    a row of one cell names a group of rows."""

    page: int
    start: int
    end: int
    caption: str
    rows: tuple[tuple[str, ...], ...]
    heads: int = 1


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page drawn as PNG, with the boxes of the passage asked for, in fractions of its size."""

    png: bytes = field(repr=False)
    width_px: int
    height_px: int
    boxes: tuple[Box, ...] = ()
