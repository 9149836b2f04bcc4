"""Lines of a picture to a page's text in reading order: columns, rows, paragraphs, each line with its box.

Blocks are found by cutting the page where no line is (Nagy and Seth, "Hierarchical representation of optically scanned
documents", 1984): beside each other where both sides look like columns of prose, else above each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_core.domain import Box, Line, Page
from rag_core.reading.base import Face, RawPage
from rag_core.reading.front import ems
from rag_core.reading.hyphens import SOFT_HYPHEN
from rag_core.reading.ocr.base import Found, FoundLine, certainty

# A column of prose has at least so many rows, and its usual row so many characters.
_COLUMN_ROWS = 4
_COLUMN_CHARS = 18
# What is further apart than this many times a line's height stands in another column, cell or paragraph.
_COLUMN_GAP = 0.6
_CELL_GAP = 1.1
_PARAGRAPH_GAP = 0.55
_INDENT = 1.2
# Lines whose heights differ by more than this are set in another size.
_SAME_SIZE = 1.3
# A line's box is this much higher than its type is large.
_BOX_SHARE = 1.15
_HYPHENATED = re.compile(r"[^\W\d_]-$")


@dataclass(frozen=True, slots=True)
class _Item:
    """A line with its box in pixels, levelled: as it would stand were the page not askew."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    box: Box

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def type(self) -> float:
        """The size of its type, about: its box may be too high, by half where it is short."""
        return (self.right - self.left) / ems(self.text)


_Row = list[_Item]


def page_of(number: int, found: Found, size_pt: tuple[float, float], recogniser: str) -> RawPage:
    """The page that the lines of a picture make. size_pt: width and height of the page as it came, in points."""
    width, height = size_pt if found.turned in (0, 180) else size_pt[::-1]
    items = list(_items(found))
    usual = median(item.height for item in items) if items else 1.0
    rows = [row for block in _blocks(items, usual) for row in _with_breaks(_rows(block))]
    usual_type = median(item.type for item in items) if items else 1.0
    text, lines, faces = _set(rows, usual_type, usual / found.height * height / _BOX_SHARE)
    page = Page(
        number, text, width_pt=width, height_pt=height, lines=tuple(lines), recogniser=recogniser,
        certainty=certainty(found.lines), turned=found.turned,
    )  # fmt: skip
    return RawPage(page, tuple(faces))


def _items(found: Found) -> Iterator[_Item]:
    slope = _slope(found.lines)
    for line in found.lines:
        xs, ys = zip(*line.corners, strict=True)
        left, right = min(xs), max(xs)
        # The corners of a line that is askew reach over its neighbours': its middle and its own height do not.
        middle = sum(ys) / 4 - slope * sum(xs) / 4
        high = min(math.dist(line.corners[0], line.corners[3]), max(ys) - min(ys))
        box = Box(*(_unit(value) for value in (
            left / found.width, min(ys) / found.height, right / found.width, max(ys) / found.height
        )))  # fmt: skip
        yield _Item(" ".join(line.text.split()), left, middle - high / 2, right, middle + high / 2, box)


def _slope(lines: Sequence[FoundLine]) -> float:
    """How much the page's lines rise or fall, pixels down for each to the right."""
    slopes = [
        ((line.corners[1][1] - line.corners[0][1]) / (line.corners[1][0] - line.corners[0][0]), len(line.text))
        for line in lines
        if line.corners[1][0] - line.corners[0][0] > 1
    ]
    long = [slope for slope, characters in slopes if characters >= _COLUMN_CHARS]
    return median(long) if long else 0.0


def _blocks(items: Sequence[_Item], usual: float) -> Iterator[Sequence[_Item]]:
    """Parts of a page that are read one after the other."""
    if columns := _columns(items, usual):
        for column in columns:
            yield from _blocks(column, usual)
        return
    rows = _rows(items)
    # Where a title or a table stands above columns, cutting below it leaves the most lines in columns.
    cuts = [(_in_columns(rows[:at], usual) + _in_columns(rows[at:], usual), at) for at in range(1, len(rows))]
    gain, at = max(cuts, default=(0, 0))
    if gain:
        for part in (rows[:at], rows[at:]):
            yield from _blocks([item for row in part for item in row], usual)
    elif items:
        yield items


def _in_columns(rows: Sequence[_Row], usual: float) -> int:
    items = [item for row in rows for item in row]
    return len(items) if _columns(items, usual) else 0


def _columns(items: Sequence[_Item], usual: float) -> list[list[_Item]]:
    """The lines of each column from left to right; none where they are not all columns of prose."""
    columns: list[list[_Item]] = []
    right = -math.inf
    for item in sorted(items, key=lambda item: item.left):
        if item.left > right + _COLUMN_GAP * usual:
            columns.append([])
        columns[-1].append(item)
        right = max(right, item.right)
    if len(columns) < 2 or not all(map(_is_prose, columns)):
        return []
    return columns


def _is_prose(column: Sequence[_Item]) -> bool:
    return len(column) >= _COLUMN_ROWS and median(len(item.text) for item in column) >= _COLUMN_CHARS


def _rows(items: Sequence[_Item]) -> list[_Row]:
    """Lines that stand beside each other, from the top, each row from the left."""
    rows: list[_Row] = []
    for item in sorted(items, key=lambda item: item.top + item.bottom):
        if rows and _beside(rows[-1][-1], item):
            rows[-1].append(item)
        else:
            rows.append([item])
    return [sorted(row, key=lambda item: item.left) for row in rows]


def _beside(one: _Item, other: _Item) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    apart = max(one.left, other.left) - min(one.right, other.right)
    height = min(one.height, other.height)
    return shared > 0.5 * height and apart > -0.5 * height


def _with_breaks(rows: list[_Row]) -> Iterator[tuple[_Row, bool]]:
    """The rows of a block, each with whether a paragraph begins with it."""
    edge = min((row[0].left for row in rows), default=0.0)
    gaps = [row[0].top - before[0].bottom for before, row in pairwise(rows)]
    usual = median(gaps) if gaps else 0.0
    before: _Row = []
    for row in rows:
        yield row, not before or _begins(before, row, edge, usual)
        before = row


def _begins(before: _Row, row: _Row, edge: float, gap: float) -> bool:
    height = min(before[0].height, row[0].height)
    sizes = sorted((before[0].height, row[0].height))
    indented = row[0].left - edge > _INDENT * height >= before[0].left - edge
    return row[0].top - before[0].bottom > gap + _PARAGRAPH_GAP * height or sizes[1] > _SAME_SIZE * sizes[0] or indented


def _set(rows: Sequence[tuple[_Row, bool]], usual_type: float, usual_pt: float) -> tuple[str, list[Line], list[Face]]:
    """The text of all rows, its lines and their faces; usual_pt: the size of type of a line of the `usual_type`."""
    text, lines, faces = "", [], []
    for row, begins in rows:
        if text:
            text = _ended(text, row, begins)
        cells = list(_cells(row, len(text)))
        shown = "".join(piece for piece, _ in cells)
        start, end = len(text), len(text) + len(shown)
        text += shown
        parts = tuple(line for _, line in cells) if "\t" in shown else ()
        lines.append(Line(start, end, Box.around([item.box for item in row]), parts))
        faces.append(Face(_size(row, usual_type, usual_pt), False))
    return text, lines, faces


def _ended(text: str, row: _Row, begins: bool) -> str:
    """The text so far with what ends its last line: nothing visible where a word goes on."""
    if not begins and _HYPHENATED.search(text) and row[0].text[:1].islower():
        return text[:-1] + SOFT_HYPHEN
    return text + ("\n\n" if begins else "\n")


def _cells(row: _Row, start: int) -> Iterator[tuple[str, Line]]:
    """The row's pieces, each with what stands before it, and its place."""
    before: _Item | None = None
    for item in row:
        gap = 0.0 if before is None else item.left - before.right
        between = "" if before is None else "\t" if gap > _CELL_GAP * item.height else " "
        start += len(between)
        yield between + item.text, Line(start, start + len(item.text), item.box)
        start += len(item.text)
        before = item


def _size(row: _Row, usual_type: float, usual_pt: float) -> float:
    """The row's size of type in points; of most lines, whose boxes vary with their letters, the usual one."""
    share = max(item.type for item in row) / usual_type
    return round(usual_pt * (share if share > _SAME_SIZE or share < 1 / _SAME_SIZE else 1.0), 1)


def _unit(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 5)
