"""Tables within rules: what stands in a field of a grid is one cell, on however many lines it is written.

Rules are trusted where most fields have text and hardly any has figures of two columns. A field that holds figures of
several rows, as where rules part but head, body and sum, is taken apart line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from rag_core.domain import Box, Line
from rag_core.reading.base import Face
from rag_core.reading.pdf_order import TABLE, Piece
from rag_core.reading.pdf_rules import Cell, Grid

# Of a grid's fields: the least share that has text, the most that has figures beside each other.
_FILLED, _CROWDED = 0.3, 0.1
# Words of a field: more are a part of the page.
_MOST_WORDS = 150
# A row of one cell that is longer is a text of several lines.
_ALONE_CHARS = 160
AMOUNT = re.compile(r"[$€£¥(\-–—−+]*\d[\d,.]*\)?")
_FIGURE = re.compile(r"[\s$€£¥(\-–—−+<>~≈±]*(?:\d[\d,.\s/×±^−]*|[—–-])(?:\s?%)?[)\s%*†‡a-eKMB]{0,3}")

Boxes = Callable[[int, int], Box | None]
"""Where a span of the page's text stands."""
Fields = dict[Cell, list[Line]]


def in_grids(text: str, pieces: Sequence[Piece], grids: Iterable[Grid], boxes: Boxes) -> list[Piece]:
    """The pieces, those within trusted grids as rows of these."""
    found = list(pieces)
    for grid in grids:
        leaves = [leaf for piece in found for leaf in leaves_of(piece) if not piece.cells and grid.holds(leaf.box)]
        fields = _fields(text, grid, leaves, boxes)
        if _is_trusted(text, fields):
            found = put_in(found, set(leaves), list(_rows(text, grid, fields, found)))
    return found


def put_in(pieces: Sequence[Piece], leaves: Collection[Line], rows: Sequence[Piece]) -> list[Piece]:
    """The pieces with rows in the place of leaves, where the first of these was written."""
    found: list[Piece] = []
    left = list(rows)
    for piece in pieces:
        own = [leaf for leaf in leaves_of(piece) if leaf in leaves]
        if not own:
            found.append(piece)
            continue
        found += [*left, *(Piece(leaf, piece.face) for leaf in leaves_of(piece) if leaf not in leaves)]
        left = []
    return found


def leaves_of(piece: Piece) -> tuple[Line, ...]:
    """The cells of a line, or the line."""
    return piece.line.cells or (piece.line,)


def _fields(text: str, grid: Grid, leaves: Iterable[Line], boxes: Boxes) -> Fields:
    """What stands in each cell of a grid."""
    found: Fields = {}
    for leaf in leaves:
        for part in _parts(text, grid, leaf, boxes):
            found.setdefault(_cell(grid, part.box), []).append(part)
    return found


def _cell(grid: Grid, box: Box) -> Cell:
    return grid.place((box.left + box.right) / 2, box.middle)


def _parts(text: str, grid: Grid, leaf: Line, boxes: Boxes) -> Iterator[Line]:
    """A line's parts that stand in different cells."""
    if _stands_in_one(grid, leaf.box):
        yield leaf
        return
    placed = list(_placed(text, grid, leaf, boxes))
    start = 0
    for at in range(1, len(placed) + 1):
        if at == len(placed) or placed[at][1] != placed[start][1]:
            first, last = placed[start][0][0], placed[at - 1][0][1]
            if box := boxes(first, last):
                yield Line(first, last, box)
            start = at


def _placed(text: str, grid: Grid, leaf: Line, boxes: Boxes) -> Iterator[tuple[tuple[int, int], Cell]]:
    """The words of a line, each with its cell; letters, of a word that goes through several."""
    for word in re.finditer(r"\S+", text[leaf.start : leaf.end]):
        span = leaf.start + word.start(), leaf.start + word.end()
        box = boxes(*span)
        if box and _stands_in_one(grid, box):
            yield span, _cell(grid, box)
            continue
        for at in range(*span):
            if letter := boxes(at, at + 1):
                yield (at, at + 1), _cell(grid, letter)


def _stands_in_one(grid: Grid, box: Box) -> bool:
    return _cell(grid, box) == grid.place(box.left, box.middle) == grid.place(box.right, box.middle)


def _is_trusted(text: str, fields: Fields) -> bool:
    rows, columns = ({getattr(cell, side) for cell in fields} for side in ("row", "column"))
    if min(len(rows), len(columns)) < 2 or len(fields) < _FILLED * len(rows) * len(columns):
        return False
    words = max(sum(len(text[leaf.start : leaf.end].split()) for leaf in leaves) for leaves in fields.values())
    crowded = sum(any(_figures(text, line) > 1 for line in by_lines(leaves)) for leaves in fields.values())
    return words <= _MOST_WORDS and crowded <= _CROWDED * len(fields)


def _figures(text: str, leaves: Iterable[Line]) -> int:
    return sum(is_figure(text, leaf) for leaf in leaves)


def is_figure(text: str, leaf: Line) -> bool:
    """Whether a leaf is an amount, or the stroke for none."""
    return _FIGURE.fullmatch(text[leaf.start : leaf.end]) is not None


def by_lines(leaves: Iterable[Line]) -> list[list[Line]]:
    """Leaves as lines from top to bottom, each from left to right."""
    lines: list[list[Line]] = []
    for leaf in sorted(leaves, key=lambda leaf: leaf.box.middle):
        last = lines[-1][0] if lines else leaf
        height = max(one.box.height for one in (leaf, last))
        if lines and leaf.box.middle - last.box.middle < height / 2:
            lines[-1].append(leaf)
        else:
            lines.append([leaf])
    return [sorted(line, key=lambda leaf: leaf.box.left) for line in lines]


def _rows(text: str, grid: Grid, fields: Fields, pieces: Sequence[Piece]) -> Iterator[Piece]:
    columns = sorted({cell.column for cell in fields})
    for row in range(len(grid.rows) - 1):
        own = {cell: leaves for cell, leaves in fields.items() if cell.row == row}
        for cells in _taken_apart(text, own) if own else ():
            yield from table_row(text, cells, columns, pieces)


def _taken_apart(text: str, fields: Fields) -> list[Fields]:
    """A row, or those that it is: where two of its fields have figures on several lines, or one has and all have as
    many lines."""
    stacks = [by_lines(leaves) for leaves in fields.values()]
    stacked = sum(sum(_figures(text, line) > 0 for line in lines) > 1 for lines in stacks)
    if not stacked or (stacked < 2 and len({len(lines) for lines in stacks}) > 1):
        return [fields]
    lines = by_lines(leaf for lines in stacks if len(lines) > 1 for line in lines for leaf in line)
    rows: list[Fields] = [{} for _ in lines]
    for cell, leaves in fields.items():
        for leaf in leaves:
            rows[_line_of(leaf, lines)].setdefault(cell, []).append(leaf)
    return rows


def _line_of(leaf: Line, lines: Sequence[Sequence[Line]]) -> int:
    """The number of the line in which a leaf stands; of one that stands between two, as what is of all rows, the
    first."""
    near = [abs(leaf.box.middle - line[0].box.middle) < leaf.box.height / 2 for line in lines]
    return near.index(True) if True in near else 0


def table_row(text: str, fields: Fields, columns: Sequence[int], pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The piece that a row of a table is; its lines, where one long text is all that stands in it."""
    cells: list[tuple[Line, ...]] = [()] * len(columns)
    for cell, leaves in fields.items():
        cells[columns.index(cell.column)] = tuple(leaf for line in by_lines(leaves) for leaf in line)
    leaves = [leaf for cell in cells for leaf in cell]
    length = sum(leaf.end - leaf.start for leaf in leaves)
    if len(fields) == 1 and length > _ALONE_CHARS:
        yield from (Piece(leaf, face_of(leaf, pieces), TABLE) for leaf in leaves)
        return
    # What alone stands in its row, before all columns or over several, is a line without cells.
    is_alone = len(fields) == 1 and (bool(cells[0]) or next(iter(fields)).column_end - next(iter(fields)).column > 1)
    line = Line(leaves[0].start, leaves[0].start + length, Box.around(leaf.box for leaf in leaves))
    yield Piece(line, face_of(leaves[0], pieces), TABLE, (tuple(leaves),) if is_alone else tuple(cells))


def face_of(leaf: Line, pieces: Iterable[Piece]) -> Face:
    """The face of the line that a leaf is of."""
    faces = (piece.face for piece in pieces if not piece.cells and piece.line.start <= leaf.start < piece.line.end)
    return next(faces, Face(0.0, False))
