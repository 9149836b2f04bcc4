"""The rules that are drawn on a PDF's page, and the grids that they make.

A rule is a straight stroke or a filled box as thin as one; what is but filled is the ground of rows. Rules that cross
or meet belong to one grid; where one is missing between two of its fields, these are one cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from rag_core.domain import Box
from rag_core.reading.pdf_text import Geometry, Rect

# In points: how thick a rule may be, how short; how far rules that meet may miss each other.
_THICK, _SHORT, _OFF = 4.0, 6.0, 3.0
# Pages with more than this are drawings.
_MOST_OBJECTS, _MOST_SEGMENTS, _MOST_RULES, _DEPTH = 3_000, 60, 1_000, 3
# Of the page's width: the least of what rules without columns go over.
_WIDE = 0.2
# A grid has more edges of rows and of columns than this; one with more fields is graph paper.
_LEAST, _MOST_FIELDS = 2, 5_000

Matrix = tuple[float, float, float, float, float, float]


class Rule(NamedTuple):
    """A straight line along the page or across it: where it stands, and from where to where it goes, in points."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Cell:
    """Of a grid: from which row and column it goes up to which, exclusive."""

    row: int
    column: int
    row_end: int
    column_end: int


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of rules: where its rows and columns begin and end, in fractions of the page; the cell of each field."""

    rows: tuple[float, ...]
    columns: tuple[float, ...]
    fields: Mapping[tuple[int, int], Cell]

    @property
    def box(self) -> Box:
        """Where it stands."""
        return Box(self.columns[0], self.rows[0], self.columns[-1], self.rows[-1])

    def holds(self, box: Box) -> bool:
        """Whether the middle of a box stands in the grid."""
        own, across, down = self.box, (box.left + box.right) / 2, box.middle
        return own.left < across < own.right and own.top < down < own.bottom

    def place(self, across: float, down: float) -> Cell:
        """The cell in which a place of the page stands, or the nearest."""
        return self.fields[_nearest_field(self.rows, down), _nearest_field(self.columns, across)]


@dataclass(frozen=True, slots=True)
class Frame:
    """Level rules above each other that begin and end alike: where they stand, from where to where they go."""

    rules: tuple[float, ...]
    left: float
    right: float


def _nearest_field(edges: Sequence[float], at: float) -> int:
    return min(max(sum(edge <= at for edge in edges) - 1, 0), len(edges) - 2)


def page_rules(page: Any, geometry: Geometry, size: tuple[float, float]) -> tuple[list[Grid], list[Frame]]:
    """The grids of a loaded FPDF_PAGE, and the frames of level rules that are of none; size: that of the page that the
    geometry is of, in points."""
    strokes = list(islice(_strokes(page), _MOST_RULES))
    width, height = size
    if len({right - left > top - bottom for left, top, right, bottom in strokes}) < 2:
        # Without rules along and across there are no grids, and short ones are lines under figures.
        strokes = [box for box in strokes if max(box[2] - box[0], box[1] - box[3]) >= _WIDE * min(width, height)]
    if not strokes or len(strokes) == _MOST_RULES:
        return [], []
    upright: list[Rule] = []
    level: list[Rule] = []
    for shown in map(geometry.box, strokes):
        left, right, top, bottom = shown.left * width, shown.right * width, shown.top * height, shown.bottom * height
        if bottom - top <= _THICK and right - left >= _SHORT:
            level.append(Rule((top + bottom) / 2, left, right))
        elif right - left <= _THICK and bottom - top >= _SHORT:
            upright.append(Rule((left + right) / 2, top, bottom))
    level = _joined(level)
    groups = _groups(level, _joined(upright))
    crossed = {rule for group in groups for rule in group[0]}
    frames = [
        Frame(tuple(rule.at / height for rule in rules), rules[0].start / width, rules[0].end / width)
        for rules in _alike([rule for rule in level if rule not in crossed and rule.end - rule.start >= _WIDE * width])
    ]
    return [grid for group in groups if (grid := _grid(group, width, height))], frames


def _alike(level: Sequence[Rule]) -> list[list[Rule]]:
    """Rules that begin and end alike, each two or more, from top to bottom."""
    found: list[list[Rule]] = []
    for rule in level:
        for rules in found:
            if max(abs(rules[0].start - rule.start), abs(rules[0].end - rule.end)) <= _OFF:
                rules.append(rule)
                break
        else:
            found.append([rule])
    return [rules for rules in found if len(rules) > 1]


def _strokes(page: Any) -> Iterator[Rect]:
    """Each thin box or edge that is drawn, in page coordinates."""
    count = pdfium.FPDFPage_CountObjects(page)
    if count <= _MOST_OBJECTS:
        yield from _drawn((pdfium.FPDFPage_GetObject(page, index) for index in range(count)), _DEPTH)


def _drawn(items: Iterable[Any], depth: int) -> Iterator[Rect]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for item in items:
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_PATH and pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            box = left.value, top.value, right.value, bottom.value
            if min(box[2] - box[0], box[1] - box[3]) > _THICK:
                yield from _straight_parts(item)
            elif max(box[2] - box[0], box[1] - box[3]) >= _SHORT and any(_fills_and_strokes(item)):
                yield box
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth:
            yield from _drawn_in_form(item, depth)


def _drawn_in_form(form: Any, depth: int) -> Iterator[Rect]:
    matrix, count = form_matrix(form), min(pdfium.FPDFFormObj_CountObjects(form), _MOST_OBJECTS)
    items = (pdfium.FPDFFormObj_GetObject(form, index) for index in range(count))
    for left, top, right, bottom in _drawn(items, depth - 1):
        yield spanned(moved_by(matrix, left, top), moved_by(matrix, right, bottom))


def spanned(one: tuple[float, float], other: tuple[float, float]) -> Rect:
    """The rectangle between two corners."""
    return min(one[0], other[0]), max(one[1], other[1]), max(one[0], other[0]), min(one[1], other[1])


def _fills_and_strokes(item: Any) -> tuple[bool, bool]:
    """Whether a path is filled, and whether it is stroked; what only clips is neither."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(item, fill, stroke)
    return bool(fill.value), bool(stroke.value)


def _straight_parts(item: Any) -> Iterator[Rect]:
    """The parts of a path that is stroked."""
    count = pdfium.FPDFPath_CountSegments(item)
    if count > _MOST_SEGMENTS or not _fills_and_strokes(item)[1]:
        return
    matrix = form_matrix(item)
    x, y = ctypes.c_float(), ctypes.c_float()
    begun = last = (0.0, 0.0)
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        here, kind = moved_by(matrix, x.value, y.value), pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begun = here
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield spanned(last, here)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield spanned(here, begun)
        last = here


def form_matrix(item: Any) -> Matrix:
    """How an FPDF_PAGEOBJECT is put onto what it is on."""
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, found):
        return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0
    return found.a, found.b, found.c, found.d, found.e, found.f


def moved_by(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """Where a matrix puts a point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _joined(rules: Sequence[Rule]) -> list[Rule]:
    """Rules along one line that overlap or nearly meet, as one; a double rule is one too."""
    found: list[Rule] = []
    first = 0  # of those that are near enough
    for rule in sorted(rules):
        while first < len(found) and rule.at - found[first].at > _OFF:
            first += 1
        place = next((place for place in range(first, len(found)) if _overlap(found[place], rule)), None)
        if place is None:
            found.append(rule)
        else:
            other = found[place]
            found[place] = Rule(other.at, min(rule.start, other.start), max(rule.end, other.end))
    return found


def _overlap(one: Rule, other: Rule) -> bool:
    return one.start <= other.end + _OFF and other.start <= one.end + _OFF


def _groups(level: Sequence[Rule], upright: Sequence[Rule]) -> list[tuple[set[Rule], list[Rule]]]:
    """Level and upright rules that meet, directly or through others."""
    groups: list[tuple[set[Rule], list[Rule]]] = []
    for rule in upright:
        met = {line for line in level if _meet(line, rule)}
        apart = [group for group in groups if met.isdisjoint(group[0])]
        touched = [group for group in groups if not met.isdisjoint(group[0])]
        lines = met.union(*(group[0] for group in touched))
        groups = [*apart, (lines, [rule, *(other for group in touched for other in group[1])])]
    return groups


def _meet(level: Rule, upright: Rule) -> bool:
    across = level.start - _OFF <= upright.at <= level.end + _OFF
    return across and upright.start - _OFF <= level.at <= upright.end + _OFF


def _grid(group: tuple[set[Rule], list[Rule]], width: float, height: float) -> Grid | None:
    level, upright = group
    if not level:
        return None
    sides = [min(rule.start for rule in level), max(rule.end for rule in level)]
    rows, columns = _edges([rule.at for rule in level]), _edges([*(rule.at for rule in upright), *sides])
    if min(len(rows), len(columns)) <= _LEAST or len(rows) * len(columns) > _MOST_FIELDS:
        return None
    cells = _cells(rows, columns, _near(rows, level), _near(columns, upright))
    fields = {
        (row, column): cell
        for cell in cells
        for row in range(cell.row, cell.row_end)
        for column in range(cell.column, cell.column_end)
    }
    return Grid(tuple(at / height for at in rows), tuple(at / width for at in columns), fields)


def _near(edges: Sequence[float], rules: Iterable[Rule]) -> list[list[Rule]]:
    """The rules at each edge."""
    found = list(rules)
    return [[rule for rule in found if abs(rule.at - at) <= _OFF] for at in edges]


def _edges(places: Sequence[float]) -> list[float]:
    """Places that differ, from the first to the last."""
    found: list[float] = []
    for at in sorted(places):
        if not found or at - found[-1] > _OFF:
            found.append(at)
    return found


def _cells(
    rows: Sequence[float], columns: Sequence[float], level: Sequence[list[Rule]], upright: Sequence[list[Rule]]
) -> Iterator[Cell]:
    """The cells of a grid: each goes on to the right, then down, as long as no rule is between."""
    taken: set[tuple[int, int]] = set()
    row_middles, column_middles = ([(a + b) / 2 for a, b in pairwise(edges)] for edges in (rows, columns))
    for row, down in enumerate(row_middles):
        for column in range(len(column_middles)):
            if (row, column) in taken:
                continue
            right, bottom = column + 1, row + 1
            while right < len(column_middles) and not _go_past(upright[right], down):
                right += 1
            across = column_middles[column:right]
            while bottom < len(row_middles) and not any(_go_past(level[bottom], middle) for middle in across):
                bottom += 1
            taken |= {(r, c) for r in range(row, bottom) for c in range(column, right)}
            yield Cell(row, column, bottom, right)


def _go_past(rules: Iterable[Rule], middle: float) -> bool:
    """Whether a rule goes past the middle of a field."""
    return any(rule.start <= middle <= rule.end for rule in rules)
