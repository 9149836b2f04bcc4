"""A page's text as what it is made of: headings, tables, items of lists, paragraphs, code, each with its span."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag_core.domain import Page, Section, Table
from rag_core.text.tables import Span, cell_spans, cells_of, is_rule, lines_of, tables_of

# A heading's line without Markdown's marks before it and its line below.
_HEADING = re.compile(r"(?: {0,3}#{1,6}[ \t]+)?([^\n]*)(?:\n {0,3}(?:=+|-+)[ \t]*$)?", re.MULTILINE)
_CODE = re.compile(r"^ {0,3}(`{3,})[^\n`]*\n(.*?)(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[•◦▪*+-]|\(?\d{1,2}(?:\.\d{1,2})*[.)]|\(?[a-z]\))[ \t]+\S")
# Columns that blanks set apart, as in texts for a typewriter's letters.
_ALIGNED = re.compile(r"\S {3,}\S")


@dataclass(frozen=True, slots=True)
class Row:
    """A table's row as the spans of its cells. again: of a head that the text says anew every few rows."""

    cells: tuple[Span, ...]
    is_head: bool
    again: bool


@dataclass(frozen=True, slots=True)
class TextBlock:
    """What a span of a page is. fixed: code, and columns that blanks set apart. level: of a heading, from 1. rows: of a
    table."""

    kind: Literal["heading", "table", "item", "fixed", "paragraph"]
    start: int
    end: int
    level: int = 0
    rows: tuple[Row, ...] = ()


def blocks_of(page: Page, sections: Sequence[Section]) -> Iterator[TextBlock]:
    """The blocks of a flowing document's page, in order. Blanks and marks of Markdown between them are not shown."""
    at = 0
    for (start, end), block in sorted(_set_apart(page, sections), key=lambda found: found[0]):
        if start >= at:
            yield from _running(page.text, at, start)
            yield block
            at = end
    yield from _running(page.text, at, len(page.text))


def _set_apart(page: Page, sections: Sequence[Section]) -> Iterator[tuple[Span, TextBlock]]:
    """What is no running text, with all that belongs to it."""
    for section in sections:
        line = _HEADING.match(page.text, section.start) if section.page == page.number else None
        if line and line[1].strip():
            start = line.start(0 if section.title.startswith("#") else 1)
            yield line.span(), TextBlock("heading", start, line.end(1), section.level)
    for code in _CODE.finditer(page.text):
        yield code.span(), TextBlock("fixed", *code.span(2))
    for table in tables_of(page):
        yield (table.start, table.end), TextBlock("table", table.start, table.end, rows=tuple(_rows(page, table)))


def _rows(page: Page, table: Table) -> Iterator[Row]:
    """The rows of a table, and the lines that say its head again."""
    place = 0
    for start, line in lines_of(page.text[table.start : table.end], table.start):
        if line.strip() and not is_rule(line):
            again = (cells_of(line),) != table.rows[place : place + 1]
            cells = tuple((start + first, start + last) for first, last in cell_spans(line))
            yield Row(cells, again or place < table.heads, again)
            place += not again


def _running(text: str, start: int, end: int) -> Iterator[TextBlock]:
    """Items and other paragraphs, which empty lines and the marks of items set apart."""
    block: TextBlock | None = None
    for at, line in lines_of(text[start:end], start):
        is_item = _ITEM.match(line) is not None
        if block and (is_item or not line.strip()):
            yield _as_set(block, text)
            block = None
        if line.strip():
            block = replace(block or TextBlock("item" if is_item else "paragraph", at, at), end=at + len(line))
    if block:
        yield _as_set(block, text)


def _as_set(block: TextBlock, text: str) -> TextBlock:
    """A paragraph of which most lines are columns keeps them."""
    lines = text[block.start : block.end].split("\n")
    aligned = sum(_ALIGNED.search(line) is not None for line in lines)
    is_fixed = block.kind == "paragraph" and aligned > 1 and 2 * aligned >= len(lines)
    return replace(block, kind="fixed") if is_fixed else block
