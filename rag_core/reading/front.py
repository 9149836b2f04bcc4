"""The front of a document: the lines of its first pages, of which its card is made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from rag_core.domain import Line, Page

# Pages with text that are looked at, and how far in: covers are often pictures.
PAGES = 3
_WITHIN = 8
_LINES_OF_PAGE = 90
_LINE_CHARS = 300
_TEXT_CHARS = 20_000
_SIDEWAYS = 12.0  # times the height of others

# Rules drawn with characters, and the marks of headings in plain text, Markdown and wikis.
_DECORATION = re.compile(r"^[\s#=*_~\-–—|+.]*(?=\w|[(\"“‘'«¿¡])|[\s#=*_~\-–—|+]+$|_{3,}|\.{4,}")
_TALL = re.compile(r"[A-Z0-9bdfhijklt(\[/'\"]")
_NARROW, _WIDE = frozenset("fijlrtI .,:;!|'()[]"), frozenset("mwMW@%")
_SQUARE = "\u2e80"  # from which on scripts have letters as wide as high
_DEEP = re.compile(r"[gjpqy(),;\[/]")


@dataclass(frozen=True, slots=True)
class FrontLine:
    """A line without decoration. `size` is that of its type in usual lines, 1.0 where that is not known.

    top, bottom: fractions of the page's height, both 0 where it has no boxes. alone: blank lines around it. row: cells
    of a table, where that is known of a page without boxes. cells: what stands side by side in it, far apart, where
    that is more than one.
    """

    text: str
    page: int
    size: float = 1.0
    top: float = 0.0
    bottom: float = 0.0
    alone: bool = False
    row: bool = False
    cells: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands side by side in it: its cells, or the line itself."""
        return self.cells or (self.text,)

    @property
    def is_sideways(self) -> bool:
        """Whether it runs up the page, as archives stamp their numbers."""
        return self.size > _SIDEWAYS


@dataclass(frozen=True, slots=True)
class Front:
    """The lines of the first pages that have text, and all of that text on one line."""

    lines: tuple[FrontLine, ...]
    text: str

    @property
    def first(self) -> tuple[FrontLine, ...]:
        """The lines of the first page that has some."""
        return tuple(line for line in self.lines if line.page == self.lines[0].page)


def front_of(pages: Sequence[Page]) -> Front:
    """The front of a document with these pages; `lines` is empty where none of them has text."""
    shown = [page for page in pages[:_WITHIN] if page.text.strip()][:PAGES]
    # A title page has few lines, and none of them of the usual height.
    heights = [_height(page, line) for page in shown for line in page.lines if line.end - line.start > 2]
    usual = median(heights) if heights else 1.0
    lines = tuple(front_line for page in shown for front_line in _lines(page, usual))
    return Front(lines, " ".join(" ".join(line.text for line in lines).split()))


def _lines(page: Page, usual: float) -> Iterator[FrontLine]:
    if not page.lines:
        yield from _text_lines(page)
        return
    for line in page.lines[:_LINES_OF_PAGE]:
        if any(span.start <= line.start < span.end for span in page.hidden):
            continue  # what nobody sees names nothing
        written = page.text[line.start : line.end]
        if text := bare(written):
            size = _height(page, line) / usual if usual else 1.0
            yield FrontLine(text, page.number, size, line.box.top, line.box.bottom, cells=_cells(written))


def _height(page: Page, line: Line) -> float:
    """The size of a line's type, about: its box fits its letters, which reach up or down as they do.

    Boxes of text recognition are as high as may be, by half: there the width that the letters take tells it.
    """
    if page.recogniser:
        part = line.cells[0] if line.cells else line
        return (part.box.right - part.box.left) * (page.width_pt or 1.0) / ems(page.text[part.start : part.end])
    ink = ink_share(page.text[line.start : line.end])
    return line.box.height * (page.height_pt or 1.0) / ink


def ems(text: str) -> float:
    """How wide a text is in usual type, in its size."""
    return sum(_em(character) for character in text) or 1.0


def _em(character: str) -> float:
    if character in _NARROW:
        return 0.3
    if character >= _SQUARE:
        return 1.0
    return 0.85 if character in _WIDE else 0.67 if character.isupper() else 0.52


def ink_share(text: str) -> float:
    """The height of a line's letters as a share of the type's size: 0.48 for "xxx", 0.93 for "Type"."""
    if not text.isascii():
        return 0.93
    return (0.72 if _TALL.search(text) else 0.48) + (0.21 if _DEEP.search(text) else 0.0)


def _text_lines(page: Page) -> Iterator[FrontLine]:
    rows = page.text[:_TEXT_CHARS].splitlines()[:_LINES_OF_PAGE]
    texts = ["", *map(bare, rows), ""]
    blank = [not text for text in texts]
    for number, text in enumerate(texts):
        if text:
            cells = _cells(rows[number - 1])
            alone = blank[number - 1] and blank[number + 1]
            yield FrontLine(text, page.number, alone=alone, row=bool(cells), cells=cells)


def _cells(line: str) -> tuple[str, ...]:
    """What tabs divide in a line, () where that is one part."""
    parts = tuple(filter(None, map(bare, line.split("\t"))))
    return parts if len(parts) > 1 else ()


def bare(line: str) -> str:
    """A line without rules, bullets of headings and more than one blank, at most 300 characters."""
    return " ".join(_DECORATION.sub(" ", line[: 2 * _LINE_CHARS]).split())[:_LINE_CHARS]
