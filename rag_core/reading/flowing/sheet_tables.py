"""The tables of a sheet: empty rows set them apart, empty columns those that stand beside each other, and what is said
above a table is no row of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice, takewhile

from rag_core.reading.flowing.blocks import Block, Row
from rag_core.reading.flowing.layout import is_figure

# Rows that are looked at whole: in longer runs of rows tables are not looked for beside each other.
_MOST_ROWS = 2000
_LEAST_COLUMNS, _MOST_PREAMBLE, _CLOSE = 3, 20, 1


def tables(rows: Iterable[Row]) -> Iterator[Block]:
    """The tables in the rows of a sheet, read as they are asked for."""
    for filled, group in groupby(rows, key=lambda row: any(row)):
        if filled:
            yield from _together(group)


def _together(rows: Iterator[Row]) -> Iterator[Block]:
    """The tables in rows that no empty one parts."""
    first = list(islice(rows, _MOST_ROWS))
    behind = next(rows, None)
    if behind is None and (column := _parting(first)):
        for side in ([row[:column] for row in first], [row[column:] for row in first]):
            yield from tables(side)
    else:
        yield from _table(first, chain([] if behind is None else [behind], rows))


def _table(first: list[Row], rest: Iterator[Row]) -> Iterator[Block]:
    """What is said above a table, as lines, and the table."""
    above = _preamble(first)
    yield from (Block("paragraph", "\n".join(_line(row) for row in first[:above])),) if above else ()
    if above < len(first):
        yield Block("table", rows=chain(first[above:], rest))


def _preamble(rows: Sequence[Row]) -> int:
    """The rows above a table's head that each say one thing, "Account: 4711", as exports of banks begin."""
    said = list(takewhile(_says_one, islice(rows, _MOST_PREAMBLE)))
    if len(said) == len(rows):
        pairs = [row for row in said if _filled(row) > 1]
        return len(said) if pairs and all(map(_is_named, pairs)) else 0
    head = rows[len(said)]
    is_head = _filled(head) >= _LEAST_COLUMNS and not any(map(is_figure, head))
    return len(said) if is_head and any(_filled(row) > 1 for row in said) else 0


def _says_one(row: Row) -> bool:
    """Whether a row has a cell, or a name and what it stands for, from its first column on."""
    return bool(row[0]) and all(cell == "" for cell in row[2:])


def _is_named(row: Row) -> bool:
    return (row[0] or "").rstrip().endswith(":") and any(row[1:2])


def _line(row: Row) -> str:
    name, value = ((row[place] or "").strip() if place < len(row) else "" for place in (0, 1))
    return f"{name.rstrip(': ')}: {value}" if value else name


def _filled(row: Row) -> int:
    return sum(bool(cell) for cell in row)


def _parting(rows: Sequence[Row]) -> int:
    """The column with which a second table begins beside the first; 0 where there is none.

    Empty columns are within many tables too: what stands behind them is a table of its own that has words for its
    rows, and a title, a head that repeats the first one's, other rows or a wide gap of its own.
    """
    width = max(map(len, rows))
    used = [any(place < len(row) and row[place] != "" for row in rows) for place in range(width)]
    for column in range(2, width):
        if used[column] and not used[column - 1] and any(used[:column]):
            right = [row[column:] for row in rows]
            own = list(takewhile(lambda place: used[place], range(column, width)))
            gap = len(list(takewhile(lambda place: not used[place], range(column - 1, -1, -1))))
            left = [row[: column - gap] for row in rows]
            apart = gap > _CLOSE or _is_titled(right) or list(map(any, left)) != list(map(any, right))
            apart = apart or _has_same_head(left, right)
            if len(own) > 1 and apart and _has_labels(right):
                return column
    return 0


def _has_labels(rows: Sequence[Row]) -> bool:
    """Whether the first column of a table has words for its rows, below its head."""
    labels = [row[0] for row in rows if any(row)][1:]
    return bool(labels) and all(label and not is_figure(label) for label in labels)


def _has_same_head(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """Whether two tables have the same words above their columns, as those of two years have."""
    heads = [{cell for cell in next(filter(any, side), ()) if cell} for side in (left, right)]
    return len(heads[1]) > 1 and heads[1] <= heads[0] and not any(map(is_figure, heads[1]))


def _is_titled(rows: Sequence[Row]) -> bool:
    filled = [_filled(row) for row in rows]
    return len(filled) > 2 and filled[0] == 1 < filled[1]
