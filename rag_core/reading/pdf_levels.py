"""Tables whose rows are not written one after the other, column by column say: what stands level is a row of them.

Nothing is asked of pages on which all that stands level is written together, as nearly all are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from statistics import mean

from rag_core.domain import Line
from rag_core.reading.pdf_bands import Sheet, rows_of
from rag_core.reading.pdf_order import Piece, stand_beside
from rag_core.reading.pdf_tables import Fields, is_figure, leaves_of, put_in, table_row

# Rows that make a table, and the most cells of one; lines below a row that may go on with its cells; words of a line of
# prose, on the mean.
_LEAST_ROWS, _MOST_CELLS, _MOST_LINES, _WORDS = 3, 3_000, 3, 1.8
# Of a line's height: the most blank between two rows; of the page's width, how far a cell's lines may be out of line.
_APART, _OFF = 3.0, 0.01
_WORD = re.compile(r"[^\W\d_]{3}")

_Level = list[tuple[int, Piece]]
"""Pieces beside each other, from left to right, with their places in the order of writing."""


def in_levels(sheet: Sheet, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, those of tables that are written in another order than row by row as rows of these."""
    found = list(pieces)
    if all(other.box.bottom > one.box.top for one, other in pairwise(pieces)):
        return found  # written from the top to the bottom
    for levels in _regions(_levels(pieces)):
        leaves = [leaf for level in levels for _, piece in level for leaf in leaves_of(piece)]
        rows = rows_of(sheet, leaves, ()) if len(leaves) <= _MOST_CELLS else []
        if not rows or not _are_cells(sheet.text, rows):
            continue
        columns = sorted({cell.column for fields in rows for cell in fields})
        made = [piece for fields in rows for piece in table_row(sheet.text, fields, columns, found)]
        found = put_in(found, set(leaves), made)
    return found


def _levels(pieces: Sequence[Piece]) -> list[_Level]:
    """All lines, from the top, those that stand beside each other together."""
    levels: list[_Level] = []
    for at, piece in sorted(enumerate(pieces), key=lambda pair: pair[1].box.top + pair[1].box.bottom):
        if levels and all(stand_beside(other.box, piece.box) for _, other in levels[-1]):
            levels[-1].append((at, piece))
        else:
            levels.append([(at, piece)])
    return [sorted(level, key=lambda pair: pair[1].box.left) for level in levels]


def _regions(levels: Sequence[_Level]) -> Iterator[Sequence[_Level]]:
    """Levels that follow each other closely from the first that is written apart to the last, and what goes on below
    cells of them."""
    at = 0
    while at < len(levels):
        end = last = at
        row = levels[at]
        while end < len(levels) and end - last < _MOST_LINES and (end == at or _follows(levels[end - 1], levels[end])):
            row = levels[end] if len(levels[end]) > 1 else row
            end += 1
            last = end if row is levels[end - 1] or _is_behind(row, levels[end - 1]) else last
        region = levels[at:last]
        if sum(map(_is_written_apart, region)) >= _LEAST_ROWS:
            yield region
        at = max(last, at + 1)


def _is_behind(row: _Level, level: _Level) -> bool:
    """Whether a single line goes on below a cell behind the first of a row."""
    return len(row) > 1 and level[0][1].box.left >= row[1][1].box.left - _OFF


def _follows(above: _Level, below: _Level) -> bool:
    bottom, top = max(piece.box.bottom for _, piece in above), min(piece.box.top for _, piece in below)
    is_row = any(piece.cells for _, piece in (*above, *below))
    return not is_row and top - bottom < _APART * max(piece.height for _, piece in below)


def _is_written_apart(level: _Level) -> bool:
    """Whether something else is written between what stands level."""
    places = sorted(at for at, _ in level)
    return places[-1] - places[0] >= len(places)


def _are_cells(text: str, rows: Sequence[Fields]) -> bool:
    """Whether most rows have a word first and a figure behind it, and no column is prose; what is at the axes of a
    chart has no words."""
    columns: dict[int, list[Sequence[Line]]] = {}
    for fields in rows:
        for cell, leaves in fields.items():
            columns.setdefault(cell.column, []).append(leaves)
    named = sum(_has_name(text, [fields[cell] for cell in sorted(fields, key=attrgetter("column"))]) for fields in rows)
    return 2 * named > len(rows) and not any(_is_prose(text, own) for own in columns.values())


def _has_name(text: str, cells: Sequence[Sequence[Line]]) -> bool:
    """Whether a row begins with a word and has a figure."""
    first = cells[0][0]
    is_named = _WORD.search(text, first.start, first.end) is not None
    return is_named and any(is_figure(text, leaves[0]) for leaves in cells[1:])


def _is_prose(text: str, cells: Sequence[Sequence[Line]]) -> bool:
    lines = [leaf for leaves in cells for leaf in leaves]
    words = mean(len(text[line.start : line.end].split()) for line in lines)
    small = sum(text[line.start].islower() for line in lines)
    return words >= _WORDS and 2 * small > len(lines)
