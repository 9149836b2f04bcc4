"""The tables of a document, each cell in the column that it stands in: where it does, the boxes of its chunks tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rag_core.answering.passages import boxed_parts
from rag_core.domain import Box, Chunk, Line, Page, Table
from rag_core.text.tables import lines_of, tables_of


def tables(pages: Sequence[Page], chunks: Sequence[Chunk]) -> list[Table]:
    """The tables of stored pages, which have no boxes of their own, in order."""
    boxes: dict[int, dict[int, Line]] = defaultdict(dict)
    for chunk in chunks:
        if not chunk.corrected:
            for (start, end), box in zip(boxed_parts(chunk), chunk.boxes, strict=False):
                boxes[chunk.page][start] = Line(start, end, box)
    return [
        table for page in pages for table in tables_of(replace(page, lines=tuple(_rows(page.text, boxes[page.number]))))
    ]


def _rows(text: str, parts: Mapping[int, Line]) -> Iterator[Line]:
    """The lines of a page that have cells with boxes."""
    for start, line in lines_of(text) if parts else ():
        cells = [parts[at] for at in range(start, start + len(line)) if at in parts]
        if cells:
            yield Line(cells[0].start, cells[-1].end, Box(0, 0, 0, 0), tuple(cells))
