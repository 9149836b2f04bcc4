"""The tables of a document, each cell in the column that it stands in: where it does, the boxes of its chunks tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from rag_core.answering.passages import boxed_parts
from rag_core.domain import Box, Chunk, Line, Page, Table
from rag_core.text.tables import lines_of, tables_of

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
        table
        for page in pages
        for table in tables_of(replace(page, lines=tuple(_rows(page.text, boxes[page.number]))))
        if not _is_list(table)
    ]


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
