"""The heads of a PDF's tables: lines that are stacked over the figures of a first row are one row of heads.

A head that reaches over several columns stays a line of its own, above the row of those that do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from rag_core.domain import Box, Line
from rag_core.reading.pdf_bands import Band, Sheet, bands_of, column_edges, parts_at
from rag_core.reading.pdf_order import Piece
from rag_core.reading.pdf_rules import Cell
from rag_core.reading.pdf_tables import Fields, is_figure, leaves_of, table_row

# Most lines of a head, characters of one, rows below that tell the columns.
_MOST_LINES, _MOST_CHARS, _ROWS = 20, 60, 12
# Of a line's height: the blank between lines of a head, of one cell, and between two heads; of the page's width: how
# far left of the figures a head may stand.
_APART, _CLOSE, _GAP, _OFF = 1.5, 0.9, 0.6, 0.01
_YEAR = re.compile(r"\s*(?:19|20)\d\d\s*")


def with_heads(sheet: Sheet, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, those stacked over the first row of a table as rows of heads."""
    found = list(pieces)
    for at in range(len(pieces) - 1, 0, -1):
        if _is_row(sheet, pieces[at]) and not _is_row(sheet, pieces[at - 1]):
            start = _start(pieces, at)
            rows = list(takewhile(lambda piece: _is_row(sheet, piece), pieces[at : at + _ROWS]))
            if at - start > 1 and (heads := list(_heads(sheet, pieces[start:at], rows))):
                found[start:at] = heads
    return found


def _is_row(sheet: Sheet, piece: Piece) -> bool:
    """Whether a line has figures behind its first cell, and not years alone."""
    if piece.cells:
        return False
    figures = (cell for cell in piece.line.cells[1:] if is_figure(sheet.text, cell))
    return any(not _YEAR.fullmatch(sheet.text, cell.start, cell.end) for cell in figures)


def _start(pieces: Sequence[Piece], row: int) -> int:
    """The number of the first line that stands closely over a row's figures, or beside one that does."""
    left, top = pieces[row].line.cells[1].box.left - _OFF, pieces[row].box.top
    first = row
    while first and row - first < _MOST_LINES and _is_near(pieces[first - 1], top):
        first -= 1
        top = min(top, pieces[first].box.top)
    over = [piece.box for piece in pieces[first:row] if piece.box.left >= left]
    last_other = (
        at
        for at in range(row - 1, first - 1, -1)
        if not any(box.top < pieces[at].box.middle < box.bottom for box in (*over, *_own(pieces[at], left)))
    )
    return next(last_other, first - 1) + 1


def _own(piece: Piece, left: float) -> tuple[Box, ...]:
    return (piece.box,) if piece.box.left >= left else ()


def _is_near(piece: Piece, top: float) -> bool:
    length = piece.line.end - piece.line.start
    return (
        not piece.cells
        and length <= _MOST_CHARS * max(len(piece.line.cells), 1)
        and (top - piece.box.bottom <= _APART * piece.height)
    )


def _heads(sheet: Sheet, lines: Sequence[Piece], rows: Sequence[Piece]) -> Iterator[Piece]:
    """The rows of a table's head; none where no two heads stand beside each other, or two in one column."""
    leaves = [leaf for piece in (*lines, *rows) for leaf in leaves_of(piece)]
    edges = column_edges(sheet, bands_of(leaves), _GAP)
    bands = bands_of(
        part for piece in lines for leaf in leaves_of(piece) for part in parts_at(sheet, leaf, edges, _GAP)
    )
    columns = [[_reach(leaf, edges)[0] for leaf in band] for band in bands]
    if any(len(set(own)) < len(own) for own in columns):
        return
    over = [any(_reach(leaf, edges)[1] for leaf in band) for band in bands]
    last = max((at for at in range(len(bands)) if over[at] or _is_over_several(bands, columns, at)), default=-1)
    fields = _fields((leaf for band in bands[last + 1 :] for leaf in band), edges)
    if len(fields) > 1:
        for own in (*(_fields(band, edges) for band in bands[: last + 1]), fields):
            yield from table_row(sheet.text, own, sorted(cell.column for cell in own), lines)


def _is_over_several(bands: Sequence[Band], columns: Sequence[Sequence[int]], at: int) -> bool:
    """Whether a line that stands alone is over several columns, and not the first lines of one head.

    The latter follow each other closely; what is right over a row of heads belongs to all of them.
    """
    if len(bands[at]) > 1 or at + 1 == len(bands):
        return False
    leaf, column = bands[at][0], columns[at][0]
    goes_on = at > 0 and columns[at - 1] == [column]
    lower = (pair for place in range(at + 1, len(bands)) for pair in zip(bands[place], columns[place], strict=True))
    below = next((other for other, own in lower if own == column), None)
    is_close = below is not None and below.box.top - leaf.box.bottom <= _CLOSE * leaf.box.height
    is_whole = len(bands[at + 1]) > 1 and {one for own in columns[at + 1 :] for one in own} == {*columns[at + 1]}
    return not goes_on and (not is_close or is_whole)


def _reach(leaf: Line, edges: Sequence[float]) -> tuple[int, int]:
    """The first column in which a leaf stands, and the edges that it goes over."""
    over = sum(leaf.box.left < edge < leaf.box.right for edge in edges)
    at = leaf.box.left if over else (leaf.box.left + leaf.box.right) / 2
    return sum(edge <= at for edge in edges), over


def _fields(leaves: Iterable[Line], edges: Sequence[float]) -> Fields:
    found: dict[int, list[Line]] = {}
    for leaf in leaves:
        found.setdefault(_reach(leaf, edges)[0], []).append(leaf)
    return {Cell(0, column, 1, column + 1): own for column, own in found.items()}
