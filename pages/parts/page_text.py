"""A page's text as components draw it: headings, tables, lists, paragraphs; what of it is marked and what is hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise
from typing import Any

from rag_core.domain import Page, Section
from rag_core.text.blocks import Row, TextBlock, blocks_of
from rag_core.text.invisible import visible
from rag_core.text.tables import lines_of

Span = tuple[int, int]
_TAGS = 0xE0000
# How many characters lines have that end where there is no more room.
_NARROWEST, _WIDEST = 56, 132
_KEPT_ENDS = ("-", ":", ";", "{", "}", "(", ")", "[", "]", "=", "\\")  # of words cut in two, and of code
_NO_WIDTH = "\u200b"  # which components leave out


def blocks(page: Page, sections: Sequence[Section], marked: Span | None, is_code: bool = False) -> list[dict[str, Any]]:
    """A page block by block, of source code all in one. A table's head that is said again is shown where it is marked
    alone."""
    found = [TextBlock("fixed", 0, len(page.text))] if is_code else list(blocks_of(page, sections))
    page = replace(page, text=_unwrapped(page.text, found))
    return [{"level": block.level, "kind": block.kind, **_content(page, block, marked)} for block in found]


def parts(page: Page, start: int, end: int, marked: Span | None = None) -> Iterator[tuple[str, str, bool]]:
    """A span's parts, each with why it is hidden, if it is, and whether it is marked."""
    spans = [*((one.start, one.end) for one in page.hidden), *([marked] if marked else [])]
    edges = sorted({start, end, *(edge for span in spans for edge in span if start < edge < end)})
    for first, last in pairwise(edges):
        why = next((one.why for one in page.hidden if one.start <= first < one.end), "")
        text = page.text[first:last]
        yield shown(text) if why else text, why, _touches((first, last), marked)


def shown(hidden: str) -> str:
    """Hidden text so that it can be seen: tag characters as the letters that they stand for, others of no width as
    dots."""
    letters = (chr(ord(one) - _TAGS) if _TAGS + 32 <= ord(one) < _TAGS + 127 else one for one in hidden)
    return "".join("·" if one not in "\n\t" and not visible(one) else one for one in letters)


def _unwrapped(text: str, blocks: Sequence[TextBlock]) -> str:
    """A text of the same length, its paragraphs and items without the line ends that a typist's or mailer's width made.

    Such a line has no room for the next one's first word, where the longest of all is as wide as lines can be: verse
    and addresses are shorter. A blank takes the place of its end, and what has no width that of the next one's indent.
    """
    running = [[*lines_of(text[one.start : one.end], one.start)] for one in blocks if one.kind in ("paragraph", "item")]
    width = max((len(line) for lines in running for _, line in lines if len(line) <= _WIDEST), default=0)
    shown = list(text)
    for (_, line), (start, following) in chain.from_iterable(map(pairwise, running)) if width >= _NARROWEST else ():
        needed = len(line) + 1 + len(following.split()[0])
        if len(line) <= width < needed and not line.endswith(_KEPT_ENDS):
            indent = len(following) - len(following.lstrip())
            shown[start - 1 : start + indent] = " " + _NO_WIDTH * indent
    return "".join(shown)


def _content(page: Page, block: TextBlock, marked: Span | None) -> dict[str, Any]:
    # What begins in a heading's marks, as the outline's spans do, is the whole of it.
    if block.kind == "heading" and marked and marked[0] < block.start < marked[1]:
        marked = (marked[0], max(marked[1], block.end))
    if block.kind != "table":
        return {"parts": list(parts(page, block.start, block.end, marked))}
    columns = max(len(row.cells) for row in block.rows)
    rows = (row for row in block.rows if not row.again or any(_touches(cell, marked) for cell in row.cells))
    return {"rows": [{"head": row.is_head, "cells": list(_cells(page, row, columns, marked))} for row in rows]}


def _cells(page: Page, row: Row, columns: int, marked: Span | None) -> Iterator[dict[str, Any]]:
    """The cells with the columns that each reaches over: a group's name over all, equal heads over their own."""
    for _, group in groupby(row.cells, key=lambda cell: page.text[slice(*cell)] if row.is_head else cell):
        cells = list(group)
        cell = next((one for one in cells if _touches(one, marked)), cells[0])
        span = columns if len(row.cells) == 1 else len(cells)
        yield {"span": span, "parts": list(parts(page, *cell, marked))}


def _touches(span: Span, marked: Span | None) -> bool:
    return marked is not None and max(span[0], marked[0]) < min(span[1], marked[1])
