"""Blocks to pages of text: headings with their places, and tables as lines whose cells are set apart by tabs.

A chunk of a long table must say what its figures are: every few rows its head is said again, behind an empty line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from rag_core.domain import Figure
from rag_core.errors import LimitExceeded
from rag_core.reading.base import Heading
from rag_core.reading.flowing.blocks import PICTURE, Block, Row
from rag_core.reading.flowing.figures import Placed, figures_of
from rag_core.reading.text import PAGE_CHARS, clean
from rag_core.text.figures import caption_likelihood
from rag_core.text.tables import LONG_PIECE_CHARS, NO_LABEL, PIECE_CHARS, counted_chars, has_short_cells

# Pages that the document itself does not end are ended before the first block behind this many characters.
# A piece of a table has no fewer rows than these; of how many on it is long, and has more rows of short cells in each.
PIECE_ROWS, SHORT_PIECES = 4, 200
MAX_HEADING_CHARS, MAX_LEVEL = 300, 9
MAX_HEAD_ROWS = 4

_FIGURE_CHARS = 40
_FIGURE = re.compile(
    r"[-+(−–]*\s*(?:[A-Z]{0,3}[$€£¥])?\s*\(?[-−–]?\.?\d[\d.,' ]*\s*[%)€£$]*(?:\s?\[\d{1,2}\]|[¹²³⁰⁴-⁹]{1,2})?"
)
# Anything but letters, digits and the signs that a cell keeps, with single blanks between words and a cell at the end.
_UNUSUAL = re.compile(r"[^\t !-#&-(*-~À-ÖØ-öø-ſ]|  | \t|\t |^ |[ \t]$")
# The mark of a note at a figure; behind a ten it is a power.
_NOTED = re.compile(r"(?<=[\d%)€£$])(?<!\b10)[¹²³⁰⁴-⁹]{1,2}$")
_CURRENCY, _SIGN = re.compile(r"[A-Z]{0,3}[$€£¥]"), re.compile(r"[%)]+")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Layout:
    """Pages being written. `pages` and `headings` are whole after `finish`; `alive` is called at each page's end."""

    def __init__(self, max_chars: int, alive: Callable[[], None] = lambda: None) -> None:
        self.pages: list[str] = []
        self.headings: list[Heading] = []
        self._max_chars = max_chars
        self._alive = alive
        self._written = 0
        self._page: list[str] = []
        self._length = 0
        self._notes: list[str] = []
        self._last = ""
        self._blocks = 0
        self._placed: list[Placed] = []

    def add(self, block: Block) -> None:
        """Write one block. Raises LimitExceeded beyond the most characters that a document may have."""
        if block.kind == "page":
            self._end_page()
        elif block.kind == "note":
            self._notes.append(clean(block.text).strip())
        elif block.kind == "table":
            self._table(block.rows)
        elif (
            text := _one_line(block.text) if block.kind == "heading" else clean(block.text).replace("\f", "\n").strip()
        ):
            self._begin(block.kind)
            if block.kind == "heading":
                level = min(max(block.level, 1), MAX_LEVEL)
                self.headings.append(Heading(text[:MAX_HEADING_CHARS], level, len(self.pages) + 1, self._length))
            start = self._length
            self._write(f"{block.mark} {text}" if block.kind == "item" else text)
            self._place(block, start)
        elif block.pictures:
            self._place(block, self._length)

    @property
    def figures(self) -> dict[int, tuple[Figure, ...]]:
        """The figures of each page that has some."""
        return figures_of(self._placed)

    @property
    def is_begun(self) -> bool:
        """Whether anything has been written."""
        return self._written > 0

    def finish(self) -> None:
        """End the last page; empty ones at the end are none."""
        self._end_page()
        while len(self.pages) > 1 and not self.pages[-1]:
            self.pages.pop()

    def _place(self, block: Block, start: int) -> None:
        """Note where a block stands that was written from a place of the page on."""
        self._blocks += 1
        is_caption = block.is_caption or caption_likelihood(block.text) > 1
        if block.pictures or is_caption:
            end = self._length if is_caption or PICTURE in block.text else start
            self._placed.append(Placed(self._blocks, len(self.pages) + 1, start, end, block.pictures, is_caption))

    def _begin(self, kind: str) -> None:
        """The blank line before a block, or a new page."""
        if self._length > PAGE_CHARS:
            self._end_page()
        if self._length:
            self._write("\n" if kind == self._last == "item" else "\n\n")
        self._last = kind

    def _table(self, rows: Iterable[Row]) -> None:
        for piece in _pieces(rows):
            self._begin("table")
            self._write("\n".join(piece))

    def _end_page(self) -> None:
        for note in filter(None, self._notes):
            self._write("\n\n" if self._length else "")
            self._write(note)
        self.pages.append("".join(self._page))
        self._alive()
        self._page, self._length, self._notes, self._last = [], 0, [], ""

    def _write(self, text: str) -> None:
        self._page.append(text)
        self._length += len(text)
        self._written += counted_chars(text)
        if self._written > self._max_chars:
            raise LimitExceeded(f"The file holds more than {self._max_chars:,} characters.")


def _pieces(rows: Iterable[Row]) -> Iterator[list[str]]:
    """The lines of a table in pieces that each begin with its head, and with the line that names its group of rows."""
    body = (row for row in rows if any(cell and cell.strip() for cell in row))
    first = list(islice(body, 24))
    indent = min((_indent(row) for row in first), default=0)
    heads = first[: _head_count(first)]
    head = [_line(_spread(row), indent) for row in heads]
    piece, group, length, count, most = list(head), "", sum(map(len, head)), 0, PIECE_CHARS
    for row in chain(first[len(heads) :], body):
        line = _line(row, indent)
        is_anew = heads and _is_head_anew(row, heads[-1])
        if is_anew or (length + len(line) > most and len(piece) >= len(head) + PIECE_ROWS):
            yield piece
            count += 1
            is_long = count >= SHORT_PIECES and has_short_cells("\n".join(piece))
            most = LONG_PIECE_CHARS if is_long else PIECE_CHARS
            head, group = ([line], "") if is_anew else (head, group)
            piece = [] if is_anew else [*head, group] if group and "\t" in line else list(head)
            length = sum(map(len, piece))
        piece.append(line)
        length += len(line)
        group = group if "\t" in line else line
    if piece:
        yield piece


def _is_head_anew(row: Row, head: Row) -> bool:
    """Whether a row begins another table below the first, with as many heads: those of another year, for instance."""
    goes_on = not row[0] or row[0] == head[0]
    return goes_on and 1 < _filled(row) == _filled(head) and not any(map(is_figure, row))


def _indent(row: Row) -> int:
    return next((place for place, cell in enumerate(row) if cell), len(row))


def _head_count(rows: Sequence[Row]) -> int:
    """The rows above the first that has a figure, none of a list. Behind one that has a cell for every column only
    those without a label go on, as units do: others begin a table of words."""
    if all(len(row) < 2 for row in rows):
        return 0
    widest, is_whole = max(map(_filled, rows)), False
    for place, row in enumerate(rows[: MAX_HEAD_ROWS + 1]):
        if any(map(is_figure, row)) or (is_whole and row[0]):
            return place
        is_whole = is_whole or _filled(row) == widest
    return 1


def _filled(row: Row) -> int:
    """The cells behind the first, which heads may leave empty."""
    return sum(bool(cell) for cell in row[1:])


def is_figure(cell: str | None) -> bool:
    """Whether a cell holds a figure; a year is none, as heads are years."""
    bare = (cell or "").strip()
    return len(bare) <= _FIGURE_CHARS and _FIGURE.fullmatch(bare) is not None and not _YEAR.fullmatch(bare)


def _spread(row: Row) -> list[str]:
    """A head's row in which a cell that reaches over several columns stands over each."""
    found: list[str] = []
    for cell in row:
        found.append((found[-1] if found else "") if cell is None else cell)
    return found


def _line(row: Row, indent: int) -> str:
    """A row as one line. What alone stands in its row is a line without cells, as a group's name is."""
    if (plain := _plain(row)) and not indent:
        return plain
    cells = _with_marks([_noted(_one_line(cell or "")) for cell in row])
    while cells and not cells[-1]:
        cells.pop()
    cells = cells[min(indent, _indent(cells)) :]
    if len(cells) > 1 and not cells[0]:
        cells[0] = NO_LABEL
    return "\t".join(cells)


def _plain(row: Row) -> str:
    """A row whose cells stand as they are: most of a long table's do. Empty where there is something to do."""
    line = "\t".join(cell or "" for cell in row)
    is_plain = line[:1] not in ("", "\t") and line.count("\t") == len(row) - 1 and not _UNUSUAL.search(line)
    return line if is_plain else ""


def _with_marks(cells: list[str]) -> list[str]:
    """Cells in which currencies and signs that have one of their own, as on web pages, stand with their figures."""
    for place in range(len(cells) - 1):
        here, behind = cells[place : place + 2]
        if _CURRENCY.fullmatch(here) and is_figure(behind):
            cells[place : place + 2] = ["", here + behind]
        elif is_figure(here) and _SIGN.fullmatch(behind):
            cells[place : place + 2] = [here + behind, ""]
    return cells


def _noted(cell: str) -> str:
    """A cell in which the mark of a note behind a figure stands in brackets, as those of Word's notes do."""
    if cell.isascii() or not is_figure(cell):
        return cell
    return _NOTED.sub(lambda mark: f"[{unicodedata.normalize('NFKC', mark[0])}]", cell)


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
