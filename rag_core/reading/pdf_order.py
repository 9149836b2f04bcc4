"""The order in which a page's lines are read: down each column, not across them.

A PDF gives its lines in the order in which they were written. That order is kept within blocks, lines that follow each
other closely; blocks are put in order where one is written before what stands above it or left of it (the two rules of
T. Breuel, "High performance document layout analysis", 2003). Lines that were written across two columns are divided
first. A table's row stays one line, and a table one block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean, median

from rag_core.domain import Box, Line
from rag_core.reading.base import Face

# All in heights of a line: how far below a line the next of its block may begin, how far above it one may that stands
# beside it (a table's cells and heads are often written one after the other), and one that does not.
_NEXT, _BESIDE_UP, _UP = 1.3, 12.0, 1.0
# Lines of so many characters are raised notes and marks: they stay where they are written.
_TINY = 4
# Least share of a line's height that two lines beside each other have in common, and most of a block's that one below
# another has.
_BESIDE, _SHARED = 0.5, 0.3
# Pages with more blocks than this are drawings, whose words have no order.
_MOST_BLOCKS = 120
# Most lines of what stands alone above or below all else of a page.
_MARGIN_LINES = 2
# Columns: rows that are written across them, words and letters of a line, how much of its column's width it fills.
_ROWS, _WORDS, _LETTERS, _FILLED = 5, 3.5, 16, 0.7
# In heights of a line: the most between rows of columns.
_ROW_GAP = 4.0
# Of the page's width: the least gap between columns.
_GUTTER = 0.008
# Footnotes: where they stand on the page, and their type against that of the page.
_FOOT, _SMALLER = 0.55, 0.93
TABLE = -2
_MARK = re.compile(r"\W{0,2}(?:\d{1,3}|[*†‡§¶a-z])\W{0,2}\s?\w")


@dataclass(frozen=True, slots=True)
class Piece:
    """A line, or a part of one that crossed columns, with its place in the page's text. column: which one of several
    that were written across, from 0; TABLE of a table; else -1. cells: the parts of lines that are in each column of a
    table's row, whose `line` says but where it stands."""

    line: Line
    face: Face
    column: int = -1
    cells: tuple[tuple[Line, ...], ...] = ()

    @property
    def box(self) -> Box:
        """Where it stands."""
        return self.line.box

    @property
    def height(self) -> float:
        """Of its box, in fractions of the page's."""
        return self.line.box.height

    @property
    def middle(self) -> float:
        """Of its box, across the page."""
        return (self.line.box.left + self.line.box.right) / 2


@dataclass(frozen=True, slots=True)
class _Block:
    pieces: tuple[Piece, ...]
    box: Box


@dataclass(frozen=True, slots=True)
class _Row:
    """Lines beside each other."""

    pieces: tuple[Piece, ...]

    @property
    def parts(self) -> list[Piece]:
        """The lines, of those with cells these."""
        return [
            replace(piece, line=part)
            for piece in self.pieces
            for part in (piece.line.cells if len(piece.line.cells) > 1 else (piece.line,))
        ]


def in_order(text: str, pieces: Sequence[Piece], face: Callable[[Line], Face]) -> list[Piece]:
    """The page's lines in reading order. face: of a part of a line."""
    lines = [piece.line for piece in pieces]
    across = _are_across(lines)
    if not across and not _go_up(lines):
        return list(pieces)
    blocks = list(_blocks(_by_columns(text, pieces, face) if across else pieces))
    return [piece for block in _ordered(text, blocks) for piece in block.pieces]


def _are_across(lines: Sequence[Line]) -> bool:
    """Whether enough rows have long parts beside each other for these to be columns."""
    rows = sum(sum(map(_is_long, line.cells)) > 1 for line in lines if line.cells)
    rows += sum(
        _is_long(one) and _is_long(other) and stand_beside(one.box, other.box) for one, other in pairwise(lines)
    )
    return rows >= _ROWS


def _is_long(line: Line) -> bool:
    return line.end - line.start >= _LETTERS


def stand_beside(one: Box, other: Box) -> bool:
    """Whether two boxes stand on one line, next to each other."""
    if other.top >= one.bottom or one.top >= other.bottom or not (other.left >= one.right or one.left >= other.right):
        return False
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared > _BESIDE * min(one.height, other.height)


def _go_up(lines: Sequence[Line]) -> bool:
    """Whether any line is written after one that it must be read before."""
    last: Box | None = None
    for line in lines:
        if line.end - line.start > _TINY:
            if last and line.box.top < last.top and not _goes_on(last, last, line.box):
                return True
            last = line.box
    return False


def _by_columns(text: str, pieces: Sequence[Piece], face: Callable[[Line], Face]) -> Iterator[Piece]:
    """The pieces, those of rows that are written across columns column by column, each with its own face."""
    rows = list(_rows(pieces))
    at = 0
    while at < len(rows):
        end, columns = _columns(text, rows, at) if len(rows[at].parts) > 1 else (at, [])
        if not columns:
            yield from rows[at].pieces
            at += 1
            continue
        for number, (left, right) in enumerate(pairwise(columns)):
            parts = (part for row in rows[at:end] for part in row.parts)
            yield from (Piece(part.line, face(part.line), number) for part in parts if left <= part.middle < right)
        at = end


def _rows(pieces: Sequence[Piece]) -> Iterator[_Row]:
    """Pieces that follow each other and stand beside each other."""
    row: list[Piece] = []
    for piece in pieces:
        if row and not stand_beside(row[-1].box, piece.box):
            yield _Row(tuple(row))
            row = []
        row.append(piece)
    if row:
        yield _Row(tuple(row))


def _columns(text: str, rows: Sequence[_Row], first: int) -> tuple[int, list[float]]:
    """Where the rows end, from a first one on, that leave the same gaps free, and the edges of the columns between
    these; no edges where they are not lines of text."""
    spans: list[tuple[float, float]] = []
    end = first
    for row in rows[first:]:
        if end > first and _is_elsewhere(rows[end - 1], row):
            break
        joined = list(_joined([*spans, *((part.box.left, part.box.right) for part in row.parts)]))
        if len(joined) < 2:
            break
        spans, end = joined, end + 1
    run = rows[first:end]
    edges = [0.0, *((one[1] + other[0]) / 2 for one, other in pairwise(spans)), 1.0]
    is_text = sum(len(row.parts) > 1 for row in run) >= _ROWS and all(
        _is_text(text, [part for row in run for part in row.parts if left <= part.middle < right], width)
        for (left, right), width in zip(pairwise(edges), (right - left for left, right in spans), strict=True)
    )
    return end, edges if is_text else []


def _is_elsewhere(row: _Row, below: _Row) -> bool:
    """Whether a row is not the next one down the page."""
    gap = below.pieces[0].box.top - row.pieces[-1].box.bottom
    return not -_BESIDE < gap / max(row.pieces[-1].height, 1e-6) < _ROW_GAP


def _joined(spans: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Spans across the page, from left to right, those joined between which there is no gutter."""
    spans.sort()
    left, right = spans[0]
    for other_left, other_right in spans[1:]:
        if other_left > right + _GUTTER:
            yield left, right
            left = other_left
        right = max(right, other_right)
    yield left, right


def _is_text(text: str, parts: Sequence[Piece], width: float) -> bool:
    """Whether what stands in a column is lines of running text, not a table's cells."""
    words = [text[part.line.start : part.line.end].split() for part in parts]
    long = mean(max(len(line), sum(map(len, line)) / 8) for line in words) >= _WORDS
    return long and median(part.box.right - part.box.left for part in parts) >= _FILLED * width


def _blocks(pieces: Iterable[Piece]) -> Iterator[_Block]:
    """Pieces that follow each other closely."""
    block: list[Piece] = []
    box = last = Box(0.0, 0.0, 0.0, 0.0)
    for piece in pieces:
        is_tiny = piece.line.end - piece.line.start <= _TINY
        if block and (block[-1].column != piece.column or not (is_tiny or _goes_on(last, box, piece.box))):
            yield _Block(tuple(block), box)
            block = []
        box = Box.around((box, piece.box)) if block and not is_tiny else box if block else piece.box
        last = last if block and is_tiny else piece.box
        block.append(piece)
    if block:
        yield _Block(tuple(block), box)


def _goes_on(last: Box, block: Box, box: Box) -> bool:
    """Whether a line goes on below the last one of a block, or beside it, or below all of the block."""
    height = max(min(last.height, box.height), 1e-6)
    down = (box.top - last.bottom) / height
    if down >= 0:
        return down < _NEXT or box.top - block.bottom < _NEXT * height
    beside = box.left >= last.right or last.left >= box.right
    return down > (-_BESIDE_UP if beside else -1 - _UP)


def _ordered(text: str, blocks: Sequence[_Block]) -> list[_Block]:
    """The blocks as they are read; as they are written where nothing says otherwise."""
    if len(blocks) > _MOST_BLOCKS:
        return list(blocks)
    places = _places(blocks)
    before = [
        {other for other in range(len(blocks)) if other != number and _is_before(places, other, number)}
        for number in range(len(blocks))
    ]
    left = list(range(len(blocks)))
    result: list[int] = []
    while left:
        free = next((number for number in left if before[number].isdisjoint(left)), left[0])
        left.remove(free)
        result.append(free)
    return _footnotes_last(text, [blocks[number] for number in result])


def _places(blocks: Sequence[_Block]) -> list[Box]:
    """The blocks' boxes; running titles and page numbers take all of the page's width, however little they fill."""
    places = [block.box for block in blocks]
    for is_foot in (False, True):
        edge = max(places, key=lambda box: box.bottom) if is_foot else min(places, key=lambda box: box.top)
        row = [at for at, box in enumerate(places) if box.top < edge.bottom and edge.top < box.bottom]
        if all(len(blocks[at].pieces) <= _MARGIN_LINES for at in row):
            for at in row:
                places[at] = Box(0.0, places[at].top, 1.0, places[at].bottom)
    return places


def _is_before(places: Sequence[Box], one: int, other: int) -> bool:
    """Whether a block is read before another: it stands above it, or left of it and nothing that spans both between."""
    a, b = places[one], places[other]
    if _overlaps(a, b):
        return a.top < b.top and a.bottom - b.top < _SHARED * min(a.height, b.height)
    if a.left > b.left:
        return False
    top, bottom = min(a.bottom, b.bottom), max(a.top, b.top)
    return (a.top < b.bottom and b.top < a.bottom) or not any(
        top <= c.top and c.bottom <= bottom and _overlaps(a, c) and _overlaps(b, c) for c in places
    )


def _overlaps(one: Box, other: Box) -> bool:
    """Whether two boxes stand above each other, give or take what a letter reaches over."""
    shared = min(one.right, other.right) - max(one.left, other.left)
    return shared > max(0.1 * min(one.right - one.left, other.right - other.left), 1e-6)


def _footnotes_last(text: str, blocks: Sequence[_Block]) -> list[_Block]:
    """Footnotes of all columns behind the text of all columns; before what stands below them."""
    sizes: Counter[float] = Counter()
    for piece in (piece for block in blocks for piece in block.pieces):
        sizes[piece.face.size] += piece.line.end - piece.line.start
    body = sizes.most_common(1)[0][0]
    notes: list[_Block] = []
    for block in sorted(blocks, key=lambda block: -block.box.top):
        if _is_note(text, block, body) and _is_foot(block, blocks, notes):
            notes.append(block)
    rest = [block for block in blocks if block not in notes]
    end = len(rest)
    while notes and end and rest[end - 1].box.top >= max(note.box.bottom for note in notes):
        end -= 1
    return [*rest[:end], *(block for block in blocks if block in notes), *rest[end:]]


def _is_note(text: str, block: _Block, body: float) -> bool:
    first = block.pieces[0]
    marked = _MARK.match(text, first.line.start)
    return bool(marked) and block.box.top > _FOOT and 0 < first.face.size <= _SMALLER * body


def _is_foot(block: _Block, blocks: Sequence[_Block], notes: Sequence[_Block]) -> bool:
    """Whether nothing but notes, running titles and page numbers stands below a block in its column."""
    below = (other for other in blocks if other.box.top >= block.box.bottom and _overlaps(other.box, block.box))
    return all(other in notes or len(other.pieces) <= _MARGIN_LINES for other in below)
