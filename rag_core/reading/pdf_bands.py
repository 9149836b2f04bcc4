"""Tables without rules between their columns: columns are told by the gaps between cells, rows by what stands level.

A band is what stands beside each other. Bands that follow closely are one row where the lower one goes on with cells of
the upper one, as a label or a text of two lines does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_core.domain import Line
from rag_core.reading.pdf_order import Piece
from rag_core.reading.pdf_rules import Cell, Frame
from rag_core.reading.pdf_tables import AMOUNT, Boxes, Fields, is_figure, leaves_of, put_in, table_row
from rag_core.text.spans import united

# Of a line's height: gaps between words that may set cells apart, and that do; how far lines of two rows may overlap;
# by how much blanks differ that are not the same; the most blank between lines of one cell.
_GAP, _WIDE_GAP, _OVERLAP, _OTHER, _LEADING = 0.45, 1.1, 0.15, 0.25, 0.9

# Of a table's cells: the least that hold anything, the most that hold two figures.
_FILLED, _CROWDED = 0.4, 0.05
# Marks that stand apart from their figures.
_MARK_BEFORE, _SIGN_AFTER = re.compile(r"[$€£¥(]+"), re.compile(r"[%)]+")

Band = list[Line]
"""Leaves beside each other, from left to right."""


Span = tuple[float, float]
"""From where to where something reaches across the page."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is known of a page: its text, where a span of that stands, its height over its width."""

    text: str
    boxes: Boxes
    shape: float

    def height(self, leaf: Line) -> float:
        """The height of a leaf, in fractions of the page's width."""
        return leaf.box.height * self.shape


@dataclass(frozen=True, slots=True)
class _Table:
    """Bands from top to bottom, the edges between their columns, and the rules between them."""

    text: str
    bands: list[Band]
    edges: list[float]
    rules: Sequence[float]

    def column(self, leaf: Line) -> int:
        """The column in which a leaf stands, of several the first."""
        at = leaf.box.left if self.crossed(leaf) else (leaf.box.left + leaf.box.right) / 2
        return sum(edge <= at for edge in self.edges)

    def crossed(self, leaf: Line) -> int:
        """How many edges a leaf goes over."""
        return sum(leaf.box.left < edge < leaf.box.right for edge in self.edges)

    def gap(self, at: int) -> float:
        """The blank above a band."""
        return _top(self.bands[at]) - _bottom(self.bands[at - 1])

    def is_parted(self, at: int) -> bool:
        """Whether there is a rule above a band."""
        return any(
            _bottom(self.bands[at - 1]) < rule + 1e-3 and rule - 1e-3 < _top(self.bands[at]) for rule in self.rules
        )


def in_frames(sheet: Sheet, pieces: Sequence[Piece], frames: Iterable[Frame]) -> list[Piece]:
    """The pieces, those of tables between level rules as rows of these."""
    found = list(pieces)
    for frame in frames:
        for leaves in _regions(frame, found):
            if rows := rows_of(sheet, leaves, frame.rules):
                columns = sorted({cell.column for fields in rows for cell in fields})
                made = [piece for fields in rows for piece in table_row(sheet.text, fields, columns, found)]
                found = put_in(found, set(leaves), made)
    return found


def _regions(frame: Frame, pieces: Sequence[Piece]) -> Iterator[list[Line]]:
    """The leaves between rules that follow each other, where tables are that reach no further than these."""
    region: list[Line] = []
    for top, bottom in pairwise(frame.rules):
        level = [leaves_of(piece) for piece in pieces if not piece.cells and top < piece.line.box.middle < bottom]
        rows = [leaves for leaves in level if any(_is_within(leaf, frame) for leaf in leaves)]
        own = [leaf for leaves in rows for leaf in leaves if _is_within(leaf, frame)]
        if len(own) == sum(map(len, rows)) and _is_tabular(bands_of(own), frame):
            region += own
        elif region:
            yield region
            region = []
    if region:
        yield region


def _is_tabular(bands: Sequence[Band], frame: Frame) -> bool:
    """Whether bands have cells: most of them, or some among lines that are too short for text."""
    beside = sum(len(band) > 1 for band in bands)
    widest = max((leaf.box.right - leaf.box.left for band in bands for leaf in band), default=0.0)
    return beside > 0 and (2 * beside >= len(bands) or 2 * widest <= frame.right - frame.left)


def _is_within(leaf: Line, frame: Frame) -> bool:
    return frame.left < (leaf.box.left + leaf.box.right) / 2 < frame.right


def rows_of(sheet: Sheet, leaves: Sequence[Line], rules: Sequence[float]) -> list[Fields]:
    """The rows of a table; none where what stands there has no columns."""
    edges = column_edges(sheet, bands_of(leaves))
    if not edges:
        return []
    parts = [part for leaf in leaves for part in parts_at(sheet, leaf, edges)]
    table = _Table(sheet.text, bands_of(parts), edges, rules)
    rows = [_fields(table, bands) for bands in _in_rows(table)]
    crowded = sum(_is_crowded(sheet.text, leaves) for fields in rows for leaves in fields.values())
    filled = sum(map(len, rows)) >= _FILLED * len(rows) * (len(edges) + 1)
    return rows if filled and crowded <= _CROWDED * len(parts) else []


def _is_crowded(text: str, leaves: Iterable[Line]) -> bool:
    """Whether a cell holds figures of two columns."""
    words = [word for leaf in leaves for word in text[leaf.start : leaf.end].split()]
    return sum(AMOUNT.fullmatch(word) is not None for word in words) > 1 and not any(map(str.isalpha, words))


def bands_of(leaves: Iterable[Line]) -> list[Band]:
    """Leaves as bands from top to bottom."""
    bands: list[Band] = []
    bottom = 0.0
    for leaf in sorted(leaves, key=lambda leaf: leaf.box.top):
        if bands and bottom - leaf.box.top > _OVERLAP * leaf.box.height:
            bands[-1].append(leaf)
            bottom = max(bottom, leaf.box.bottom)
        else:
            bands.append([leaf])
            bottom = leaf.box.bottom
    return [sorted(band, key=lambda leaf: leaf.box.left) for band in bands]


def parts_at(sheet: Sheet, leaf: Line, edges: Sequence[float] | None = None, gap: float = _GAP) -> Iterator[Line]:
    """The parts of a leaf between gaps that are wider than a blank, at edges alone where these are given."""
    if edges is not None and not any(leaf.box.left < at < leaf.box.right for at in edges):
        yield leaf
        return
    spans = [word.span() for word in re.finditer(r"\S+", sheet.text[leaf.start : leaf.end])]
    placed = [(leaf.start + start, leaf.start + end) for start, end in spans]
    words = [Line(start, end, box) for start, end in placed if (box := sheet.boxes(start, end))]
    first = 0
    for at in range(1, len(words) + 1):
        if at < len(words):
            left, right = words[at - 1].box.right, words[at].box.left
            is_edge = edges is None or any(left <= edge <= right for edge in edges)
            word, following = (sheet.text[one.start : one.end] for one in words[at - 1 : at + 1])
            is_one = _MARK_BEFORE.fullmatch(word) or _SIGN_AFTER.fullmatch(following)
            if is_one or not is_edge or right - left < gap * sheet.height(leaf):
                continue
        if box := sheet.boxes(words[first].start, words[at - 1].end):
            yield Line(words[first].start, words[at - 1].end, box)
        first = at


def column_edges(sheet: Sheet, rows: Sequence[Band], gap: float = _GAP) -> list[float]:
    """Where columns part.

    Columns are what no gap goes through in any band, those left out that reach over several cells of most others. Two
    are one where they never stand beside each other with a wide gap between, as heads and figures that are not aligned
    alike. With which neighbour they are is tried in three orders: the one is best that leaves the fewest fields empty,
    and then has the least blank within columns.
    """
    bands = [[part for leaf in band for part in parts_at(sheet, leaf, None, gap)] for band in rows]
    spans = [united((leaf.box.left, leaf.box.right) for leaf in band) for band in bands]
    own = [(leaf, at) for at, band in enumerate(bands) for leaf in band if not _reaches_over(leaf, spans)]
    columns = [
        _Column(*span, {at for leaf, at in own if span[0] <= leaf.box.left <= span[1]})
        for span in united((leaf.box.left, leaf.box.right) for leaf, _ in own)
    ]
    heights = [sheet.height(leaf) for band in bands for leaf in band]
    if not heights:
        return []
    least = _WIDE_GAP * median(heights)
    tried = [_merged(columns, spans, least, order) for order in _ORDERS]
    best = max(tried, key=lambda found: (round(_filled(found, len(bands)), 2), -sum(column.blank for column in found)))
    return [(one.right + other.left) / 2 for one, other in pairwise(best)]


@dataclass(frozen=True, slots=True)
class _Column:
    """From where to where it reaches, the numbers of the bands that have something in it, and the blank within."""

    left: float
    right: float
    bands: set[int]
    blank: float = 0.0

    def joined(self, other: _Column) -> _Column:
        """The two as one."""
        blank = self.blank + other.blank + other.left - self.right
        return _Column(self.left, other.right, self.bands | other.bands, blank)


# Of several pairs of neighbours that may be one column: the first, the last, the nearest (number, blank between).
_ORDERS: tuple[Callable[[tuple[int, float]], float], ...] = (
    lambda pair: pair[0],
    lambda pair: -pair[0],
    lambda pair: pair[1],
)


def _merged(
    columns: Sequence[_Column],
    bands: Sequence[Sequence[Span]],
    least: float,
    order: Callable[[tuple[int, float]], float],
) -> list[_Column]:
    found = list(columns)
    while pairs := [
        (at, other.left - one.right)
        for at, (one, other) in enumerate(pairwise(found))
        if not _are_parted(one, other, bands, least)
    ]:
        at = min(pairs, key=order)[0]
        found[at : at + 2] = [found[at].joined(found[at + 1])]
    return found


def _are_parted(one: _Column, other: _Column, bands: Sequence[Sequence[Span]], least: float) -> bool:
    """Whether any band has a wide gap where a column ends and the next begins."""
    return any(
        before[1] <= one.right + 1e-6 and other.left <= behind[0] + 1e-6 and behind[0] - before[1] >= least
        for at in one.bands & other.bands
        for before, behind in pairwise(bands[at])
    )


def _filled(columns: Sequence[_Column], bands: int) -> float:
    """The share of a table's fields that have something in them."""
    return sum(len(column.bands) for column in columns) / max(len(columns) * bands, 1)


def _reaches_over(leaf: Line, bands: Sequence[Sequence[Span]]) -> bool:
    """Whether more bands have several cells above or below a leaf than have one there."""
    counts = [sum(left < leaf.box.right and leaf.box.left < right for left, right in band) for band in bands]
    return sum(count > 1 for count in counts) >= max(sum(count == 1 for count in counts), 1)


def _in_rows(table: _Table) -> Iterator[list[Band]]:
    """The bands, those of one row together."""
    for group in _groups(table):
        if _is_row(table, group):
            yield [table.bands[at] for at in group]
            continue
        row: list[Band] = []
        for at in group:
            if row and not _goes_on(table, row, at):
                yield row
                row = []
            row.append(table.bands[at])
        yield row


def _groups(table: _Table) -> Iterator[list[int]]:
    """The numbers of bands that follow each other as closely as lines of one cell do, without a rule between."""
    gaps = [table.gap(at) for at in range(1, len(table.bands)) if not table.is_parted(at)]
    height = median(leaf.box.height for band in table.bands for leaf in band)
    most = min(min(gaps, default=0.0) + _OTHER * height, _LEADING * height)
    group = [0]
    for at in range(1, len(table.bands)):
        if table.is_parted(at) or table.gap(at) > most:
            yield group
            group = []
        group.append(at)
    yield group


def _is_row(table: _Table, group: Sequence[int]) -> bool:
    """Whether bands have no two figures in one column, and but one label among them, or one on several lines, or are
    the head above a rule."""
    columns = [{table.column(leaf) for leaf in table.bands[at]} for at in group]
    figures = [[table.column(leaf) for leaf in table.bands[at] if is_figure(table.text, leaf)] for at in group]
    is_head = group[0] == 0 and len(group) < len(table.bands) and table.is_parted(group[-1] + 1) and not any(figures)
    is_label = not any(figures[1:]) and all(len(own) < len(columns[0]) for own in columns[1:])
    stacked = [column for own in figures for column in own]
    return (sum(0 in own for own in columns) <= 1 or is_head or is_label) and len(set(stacked)) == len(stacked)


def _goes_on(table: _Table, row: Sequence[Band], at: int) -> bool:
    """Whether a band goes on with the row above it: without a label, with fewer cells, all below that row's, and no
    figure below another."""
    band, above = table.bands[at], [leaf for other in row for leaf in other]
    columns, own = ({table.column(leaf) for leaf in leaves} for leaves in (above, band))
    figures = [any(is_figure(table.text, leaf) for leaf in leaves) for leaves in (above, band)]
    return 0 not in own and own < columns and not all(figures)


def _fields(table: _Table, bands: Sequence[Band]) -> Fields:
    found: dict[int, list[Line]] = {}
    for leaf in (leaf for band in bands for leaf in band):
        found.setdefault(table.column(leaf), []).append(leaf)
    over = {column: max(map(table.crossed, leaves)) for column, leaves in found.items()}
    return {Cell(0, column, 1, column + 1 + over[column]): leaves for column, leaves in found.items()}


def _top(band: Band) -> float:
    return min(leaf.box.top for leaf in band)


def _bottom(band: Band) -> float:
    return max(leaf.box.bottom for leaf in band)
