"""The tables of a sheet: empty rows set them apart, empty columns those that stand beside each other, and what is said
above a table is no row of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice, takewhile

from rag_core.reading.flowing.blocks import Block, Row
from rag_core.reading.flowing.layout import is_figure

# Rows that are looked at whole: in longer runs of rows tables are not looked for beside each other.
_MOST_ROWS = 2000
_LEAST_COLUMNS, _MOST_PREAMBLE, _CLOSE = 3, 20, 1
_DAY = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{2,4}")
_KINDS_OF_FORM = 3  # of what rows of a name and a value say where no table stands below them


def tables(rows: Iterable[Row]) -> Iterator[Block]:
    """The tables in the rows of a sheet, read as they are asked for."""
    held: list[list[Row]] = []  # what may be a letterhead, until what stands below it is seen
    for filled, group in groupby(rows, key=lambda row: any(row)):
        rows_here = iter(group)
        first = list(islice(rows_here, _MOST_ROWS)) if filled else []
        if _may_be_letterhead(first):
            held.append(first)
        elif first:
            yield from _above(held, is_letterhead=_is_head(first[0]))
            held = []
            yield from _together(first, rows_here)
    yield from _above(held, is_letterhead=False)


def _above(held: Sequence[list[Row]], *, is_letterhead: bool) -> Iterator[Block]:
    """Rows of a name and what it stands for: lines where a table stands below them, else as they are."""
    for rows in held:
        yield from (_lines(rows),) if is_letterhead else _together(rows, iter(()))


def _together(first: list[Row], rows: Iterator[Row]) -> Iterator[Block]:
    """The tables in rows that no empty one parts."""
    behind = next(rows, None)
    if behind is None and (column := _parting(first)):
        for side in ([row[:column] for row in first], [row[column:] for row in first]):
            yield from tables(side)
    else:
        yield from _table(first, chain([] if behind is None else [behind], rows))


def _table(first: list[Row], rest: Iterator[Row]) -> Iterator[Block]:
    """What is said above a table, as lines, and the table."""
    above = _preamble(first)
    yield from (_lines(first[:above]),) if above else ()
    if above < len(first):
        yield Block("table", rows=chain(first[above:], rest))


def _preamble(rows: Sequence[Row]) -> int:
    """The rows above a table's head that each say one thing, "Account: 4711", as exports of banks begin; all rows of a
    form."""
    said = list(takewhile(_says_one, islice(rows, _MOST_PREAMBLE)))
    if len(said) == len(rows):
        pairs = [row for row in said if _filled(row) > 1]
        is_form = len(_kinds(pairs[1:])) >= _KINDS_OF_FORM and len({row[0] for row in pairs}) == len(pairs)
        return len(said) if pairs and (is_form or all(map(_is_named, pairs))) else 0
    return len(said) if _is_head(rows[len(said)]) and any(_filled(row) > 1 for row in said) else 0


def _is_head(row: Row) -> bool:
    return _filled(row) >= _LEAST_COLUMNS and not any(map(is_figure, row))


def _may_be_letterhead(rows: Sequence[Row]) -> bool:
    """Whether rows each say one thing, and not all of them the same kind of thing, as the cells of a column do."""
    pairs = [row for row in rows if _filled(row) > 1] if len(rows) <= _MOST_PREAMBLE else []
    is_column = all(is_figure(row[1]) for row in pairs[1:])
    return len(_kinds(pairs)) > 1 and not is_column and all(map(_says_one, rows))


def _kinds(pairs: Sequence[Row]) -> set[str]:
    """Of what kinds are the values of names: figures, days, what has digits, words."""
    return {_kind(row[1] or "") for row in pairs}


def _kind(value: str) -> str:
    if is_figure(value):
        return "figure"
    return "day" if _DAY.fullmatch(value) else "code" if any(map(str.isdigit, value)) else "words"


def _says_one(row: Row) -> bool:
    """Whether a row has a cell, or a name and what it stands for, from its first column on."""
    return bool(row[0]) and all(cell == "" for cell in row[2:])


def _is_named(row: Row) -> bool:
    return (row[0] or "").rstrip().endswith(":") and any(row[1:2])


def _lines(rows: Sequence[Row]) -> Block:
    return Block("paragraph", "\n".join(map(_line, rows)))


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
