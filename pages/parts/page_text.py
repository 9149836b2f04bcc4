"""A page's text as components draw it: headings, tables, lists, paragraphs; what of it is marked and what is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise
from typing import Any

from rag_core.domain import Page, Section
from rag_core.text.blocks import Row, TextBlock, blocks_of
from rag_core.text.invisible import visible
from rag_core.text.tables import lines_of

Span = tuple[int, int]
Mark = tuple[int, int, str]
"""A span of the page and what it is: "cited", "near" for what stands around that, "hit" of a search, "now" of all."""
_KINDS = ("now", "hit", "cited", "near")  # what is shown where they overlap, the first first
_TAGS = 0xE0000
# How many characters lines have that end where there is no more room.
_NARROWEST, _WIDEST = 56, 132
# The same of lines that were set in a column of a page.
_NARROWEST_SET, _USUAL_SET, _FULL_SET = 30, 0.9, 0.8
_USUAL, _FULL = 0.97, 0.85
_KEPT_ENDS = ("-", "{", "}", "(", "[", "]", "=", "\\")  # of words cut in two, and of code
_NO_WIDTH = "\u200b"  # which components leave out


def blocks(
    page: Page, sections: Sequence[Section], marks: Sequence[Mark] = (), is_code: bool = False
) -> list[dict[str, Any]]:
    """A page block by block, of source code all in one. A table's head that is said again is shown where it is marked
    alone."""
    found = [TextBlock("fixed", 0, len(page.text))] if is_code else list(blocks_of(page, sections))
    page = replace(page, text=_unwrapped(page.text, found))
    drawn = [{"level": block.level, "kind": block.kind, **_content(page, block, marks)} for block in found]
    return list(_with_pictures(page, found, drawn))


def outline_levels(sections: Iterable[Section]) -> list[int]:
    """How deep each section stands below those around it, from 1: the first of all is below none, however small its
    letters."""
    levels, above = [], list[int]()
    for section in sections:
        while above and above[-1] >= section.level:
            above.pop()
        above.append(section.level)
        levels.append(len(above))
    return levels


def lines(page: Page, sections: Sequence[Section]) -> Iterator[Span]:
    """The spans of a page's lines as they are read, empty ones too: all of a paragraph that was set in lines is one.

    Set in letters of their own widths, a line that goes on is nearly as long as most; none does into a running title.
    """
    begin, stop = page.body or (0, len(page.text))
    running = _running(page.text, blocks_of(page, sections))
    lengths = sorted(len(line.rstrip()) for some in running for _, line in some)
    usual = lengths[int(_USUAL_SET * (len(lengths) - 1))] if lengths else 0
    pairs = chain.from_iterable(map(pairwise, running)) if usual >= _NARROWEST_SET else ()
    going_on = {
        start
        for (before, line), (start, _) in pairs
        if len(line.rstrip()) >= _FULL_SET * usual and (begin <= before < stop) == (begin <= start < stop)
    }
    starts = [start for start, _ in lines_of(page.text) if start not in going_on]
    yield from ((start, end - 1) for start, end in pairwise([*starts, len(page.text) + 1]))


def _with_pictures(
    page: Page, blocks: Sequence[TextBlock], drawn: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The blocks with the pictures that the file holds, each before the block in which it stands."""
    waiting = [(figure.start, number) for number, figure in enumerate(page.figures) if figure.part]
    for block, content in zip(blocks, drawn, strict=True):
        while waiting and waiting[0][0] < block.end:
            yield {"level": 0, "kind": "figure", "figure": waiting.pop(0)[1]}
        yield content
    for _, number in waiting:
        yield {"level": 0, "kind": "figure", "figure": number}


def parts(page: Page, start: int, end: int, marks: Sequence[Mark] = ()) -> Iterator[tuple[str, str, str]]:
    """A span's parts, each with why it is hidden, if it is, and the kind of its mark, if it has one."""
    spans = [*((one.start, one.end) for one in page.hidden), *((mark[0], mark[1]) for mark in marks)]
    edges = sorted({start, end, *(edge for span in spans for edge in span if start < edge < end)})
    for first, last in pairwise(edges):
        why = next((one.why for one in page.hidden if one.start <= first < one.end), "")
        text = page.text[first:last]
        yield shown(text) if why else text, why, _kind((first, last), marks)


def shown(hidden: str) -> str:
    """Hidden text so that it can be seen: tag characters as the letters that they stand for, others of no width as
    dots."""
    letters = (chr(ord(one) - _TAGS) if _TAGS + 32 <= ord(one) < _TAGS + 127 else one for one in hidden)
    return "".join("·" if one not in "\n\t" and not visible(one) else one for one in letters)


def _unwrapped(text: str, blocks: Sequence[TextBlock]) -> str:
    """A text of the same length, its paragraphs and items without the line ends that a typist's or mailer's width made.

    Such a line has no room for the next one's first word, or is nearly as wide as lines can be, some being set anew
    after a word was changed: verse and addresses are shorter. A blank takes the place of its end, and what has no width
    that of the next one's indent.
    """
    running = _running(text, blocks)
    pairs = [pair for pair in chain.from_iterable(map(pairwise, running)) if len(pair[0][1]) <= _WIDEST]
    width = _width(running, [len(line) + 1 + len(following.split()[0]) for (_, line), (_, following) in pairs])
    shown = list(text)
    for (_, line), (start, following) in pairs if width >= _NARROWEST else ():
        needed = len(line) + 1 + len(following.split()[0])
        if (width < needed or len(line) >= _FULL * width) and not line.endswith(_KEPT_ENDS):
            indent = len(following) - len(following.lstrip())
            shown[start - 1 : start + indent] = " " + _NO_WIDTH * indent
    return "".join(shown)


def _running(text: str, blocks: Iterable[TextBlock]) -> list[list[tuple[int, str]]]:
    """The lines of each paragraph and item, each with where it begins."""
    found = (one for one in blocks if one.kind in ("paragraph", "item"))
    return [[*lines_of(text[one.start : one.end], one.start)] for one in found]


def _width(running: Sequence[Sequence[tuple[int, str]]], needed: Sequence[int]) -> int:
    """How wide lines are: as the widest, or as all but a few, where hardly a line of the rest had room for more.

    needed: characters of each line with the next one's first word. In a long text a few lines are wider than the rest.
    """
    lengths = sorted(len(line) for lines in running for _, line in lines if len(line) <= _WIDEST)
    usual = lengths[int(_USUAL * (len(lengths) - 1))] if lengths else 0
    full = sum(usual < one for one in needed)
    return usual if needed and full >= _FULL * len(needed) else max(lengths, default=0)


def _content(page: Page, block: TextBlock, marks: Sequence[Mark]) -> dict[str, Any]:
    if block.kind == "heading":
        marks = [_whole(mark, block) for mark in marks]
    if block.kind != "table":
        return {"parts": list(parts(page, block.start, block.end, marks))}
    columns = max(len(row.cells) for row in block.rows)
    shown = [mark for mark in marks if mark[2] != "near"]
    rows = (row for row in block.rows if not row.again or any(_kind(cell, shown) for cell in row.cells))
    return {"rows": [{"head": row.is_head, "cells": list(_cells(page, row, columns, marks))} for row in rows]}


def _whole(mark: Mark, heading: TextBlock) -> Mark:
    """What begins in a heading's marks, as the outline's spans do, is the whole of it."""
    start, end, kind = mark
    return (start, max(end, heading.end), kind) if start < heading.start < end else mark


def _cells(page: Page, row: Row, columns: int, marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """The cells with the columns that each reaches over: a group's name over all, equal heads over their own."""
    for _, group in groupby(row.cells, key=lambda cell: page.text[slice(*cell)] if row.is_head else cell):
        cells = list(group)
        cell = next((one for one in cells if _kind(one, marks)), cells[0])
        span = columns if len(row.cells) == 1 else len(cells)
        yield {"span": span, "parts": list(parts(page, *cell, marks))}


def _kind(span: Span, marks: Sequence[Mark]) -> str:
    """The kind of what marks some of a span, "" where nothing does."""
    kinds = {kind for start, end, kind in marks if max(span[0], start) < min(span[1], end)}
    return next((kind for kind in _KINDS if kind in kinds), "")
