"""The tables of a document, each cell in the column that it stands in: where it does, the boxes of its chunks tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from rag_core.answering.passages import boxed_parts
from rag_core.domain import Box, Chunk, Line, Page, Table
from rag_core.text.tables import GROUP_CHARS, count_heads, lines_of, tables_of

# The mark of an item: its last number counts, or its letter; and what no figure, range or amount has.
_MARK, _WORDS = (
    re.compile(r"\(?(?:\d{1,2}\.)*(\d{1,2}|[A-Za-z])[.):]?"),
    re.compile(r"^[^\W\d_]|[^\W\d_]{2,}\W+[^\W\d_]{2,}"),
)


def tables(pages: Sequence[Page], chunks: Sequence[Chunk]) -> list[Table]:
    """The tables of stored pages, which have no boxes of their own, in order; a numbered list is none."""
    boxes: dict[int, dict[int, Line]] = defaultdict(dict)
    for chunk in chunks:
        if chunk.boxes and not chunk.corrected:
            for (start, end), box in zip(boxed_parts(chunk), chunk.boxes, strict=False):
                boxes[chunk.page][start] = Line(start, end, box)
    return [
        _with_head(table, page.text, boxes[page.number])
        for page in pages
        for table in tables_of(replace(page, lines=tuple(_rows(page.text, boxes[page.number]))))
        if not _is_list(table)
    ]


def _with_head(table: Table, text: str, parts: Mapping[int, Line]) -> Table:
    """The table with its head, where that stands above it line by line, each of them over one of its columns."""
    width = max(map(len, table.rows))
    whole = [row for row in _rows(text, parts) if table.start <= row.start < table.end and len(row.cells) == width]
    columns = [[row.cells[place].box for row in whole] for place in range(width)]
    above = sorted((one for one in parts.values() if one.start < table.start), key=lambda one: -one.start)
    over = list(_lines_over(columns, above, text)) if whole and table.heads == 0 else []
    band = [line.box for place, line in over if place]
    # A line over the labels that stands lower or higher than the others names a group of rows, or a section.
    over = [(place, line) for place, line in over if place or any(_is_beside(line.box, box) for box in band)]
    heads = [" ".join(text[line.start : line.end] for at, line in over[::-1] if at == place) for place in range(width)]
    if not all(0 < len(name) <= GROUP_CHARS and re.search(r"\w", name) for name in heads[1:]):
        return table
    return replace(table, start=over[-1][1].start, rows=(tuple(heads), *table.rows), heads=1)


def _lines_over(columns: Sequence[Sequence[Box]], above: Sequence[Line], text: str) -> Iterator[tuple[int, Line]]:
    """The lines above columns, the lowest first, with the column that each stands over: to the first that stands over
    several, is a figure or, once each column has a head, stands apart."""
    top, open_columns = 1.0, set(range(1, len(columns)))
    for line in above:
        at = [place for place, boxes in enumerate(columns) if any(_is_over(line.box, box) for box in boxes)]
        stands_apart = not open_columns and top - line.box.bottom > line.box.bottom - line.box.top
        if len(at) != 1 or stands_apart or count_heads([("", text[line.start : line.end])]) == 0:
            return
        if at[0]:
            top = min(top, line.box.top)
        open_columns -= {at[0]}
        yield at[0], line


def _is_beside(one: Box, other: Box) -> bool:
    return one.top < other.bottom and other.top < one.bottom


def _is_over(one: Box, other: Box) -> bool:
    return one.left < other.right and other.left < one.right


def _is_list(table: Table) -> bool:
    """Whether a table is a numbered list, as PDFs set them: a mark that counts on and words in each row, no head."""
    rows = [row for row in table.rows if len(row) > 1]
    marks = [_MARK.fullmatch(row[0]) for row in rows]
    counted = [int(mark[1]) if mark[1].isdigit() else ord(mark[1]) for mark in marks if mark]
    is_counted = len(counted) == len(rows) and all(last - first == 1 for first, last in pairwise(counted))
    return is_counted and all(len(row) == 2 and _WORDS.search(row[1]) for row in rows)


def _rows(text: str, parts: Mapping[int, Line]) -> Iterator[Line]:
    """The lines of a page that have cells with boxes."""
    for start, line in lines_of(text) if parts else ():
        cells = [parts[at] for at in range(start, start + len(line)) if at in parts]
        if cells:
            yield Line(cells[0].start, cells[-1].end, Box(0, 0, 0, 0), tuple(cells))
