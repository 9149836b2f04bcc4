"""Tables that go on over the end of a page: their heads are said again where they go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.domain import Box, Line, Page, Section

# Most lines of a head, and before the first row of where a table goes on; words from which on a line is text, and one
# that ends as sentences do.
_HEAD_LINES, _LEADING, _PROSE_WORDS, _SENTENCE_WORDS = 8, 2, 14, 5
# Of a line's height: blank that parts a head from what stands above it.
_APART = 2.5
# Of the page's width: how far a cell may stand off its column.
_OFF = 0.02

_FIGURE = re.compile(r"[\s$€£¥(\-–—−+]*(?:\d[\d,.\s]*|[—–-])(?:\s?%)?[)\s%*]*")
_YEAR = re.compile(r"\s*(?:19|20)\d\d\s*")


@dataclass(frozen=True, slots=True)
class _Table:
    """The end of a page that is a table: its first row and its head's lines, from top to bottom."""

    first: Line
    head: tuple[Line, ...]
    rows: tuple[Line, ...]


def repeat_heads(pages: Sequence[Page], sections: Sequence[Section]) -> tuple[tuple[Page, ...], tuple[Section, ...]]:
    """The pages, those that begin amid a table with its head before them, and the sections where they now begin.

    What is put in has boxes over the columns that it names, and no place in the PDF's own text.
    """
    found = list(pages[:1])
    shifts: dict[int, tuple[int, int]] = {}
    for page in pages[1:]:
        # A recognised page's text and places are kept as they are.
        table = _at_end(found[-1]) if not page.recogniser and _begins_with_row(page) else None
        if table and table.head and _goes_on(found[-1], table, page):
            grown = _with_head(page, found[-1], table)
            shifts[page.number] = (_first(page).start, len(grown.text) - len(page.text))
            page = grown
        found.append(page)
    return tuple(found), tuple(_shifted(section, *shifts.get(section.page, (0, 0))) for section in sections)


def _shifted(section: Section, start: int, by: int) -> Section:
    return replace(section, start=section.start + by) if section.start >= start and by else section


def _body(page: Page) -> list[Line]:
    start, end = page.body or (0, len(page.text))
    return [line for line in page.lines if start <= line.start < end]


def _first(page: Page) -> Line:
    return _body(page)[0]


def _figures(page: Page, line: Line) -> list[Line]:
    """The cells of a line that are figures, none for a line of years or without cells."""
    cells = [cell for cell in line.cells if _FIGURE.fullmatch(page.text[cell.start : cell.end])]
    is_head = all(_YEAR.fullmatch(page.text[cell.start : cell.end]) for cell in cells)
    return [] if is_head else cells


def _is_prose(page: Page, line: Line) -> bool:
    text = page.text[line.start : line.end].strip()
    words = len(text.split())
    return not line.cells and (words >= _PROSE_WORDS or (text[-1:] in ".;" and words >= _SENTENCE_WORDS))


def _at_end(page: Page) -> _Table | None:
    """The table that a page ends with."""
    lines = _body(page)
    if not lines or not _figures(page, lines[-1]):
        return None
    at = len(lines)
    while at and not _is_prose(page, lines[at - 1]) and (at == len(lines) or not _breaks(page, lines, at - 1)):
        at -= 1
    region = lines[at:]
    rows = [place for place, line in enumerate(region) if _figures(page, line)]
    first = region[rows[0]]
    bound = min(cell.box.left for cell in _figures(page, first)) - _OFF
    above = region[max(rows[0] - _HEAD_LINES, 0) : rows[0]]
    head = tuple(line for line in above if line.cells or line.box.left > bound or line.box.right > bound)
    return _Table(first, head, tuple(region[place] for place in rows))


def _breaks(page: Page, lines: Sequence[Line], place: int) -> bool:
    """Whether a table ends above a line: at a wide blank under which heads begin anew."""
    line, below = lines[place], lines[place + 1]
    gap = below.box.top - line.box.bottom
    is_row = bool(_figures(page, line))
    return is_row and not _figures(page, below) and gap > _APART * line.box.height


def _begins_with_row(page: Page) -> bool:
    """Whether a page begins with a table's row, with no more than a group's name before it."""
    lines = _body(page)[: _LEADING + 1]
    place = next((at for at, line in enumerate(lines) if _figures(page, line)), None)
    return place is not None and not any(line.cells or _is_prose(page, line) for line in lines[:place])


def _goes_on(before: Page, table: _Table, page: Page) -> bool:
    """Whether the row that a page begins with has its figures in a table's columns."""
    lines = _body(page)[: _LEADING + 1]
    place = next(at for at, line in enumerate(lines) if _figures(page, line))
    columns = [(cell.box.left, cell.box.right) for row in table.rows for cell in _figures(before, row)]
    cells = _figures(page, lines[place])
    middles = [(cell.box.left + cell.box.right) / 2 for cell in cells]
    fit = all(any(left - _OFF < middle < right + _OFF for left, right in columns) for middle in middles)
    return fit and all(line.box.left < cells[0].box.left for line in lines[:place])


def _with_head(page: Page, before: Page, table: _Table) -> Page:
    """The page with the head's lines before its first, drawn together into the space above that."""
    at = _first(page).start
    top = _first(page).box.top
    highest = min(line.box.top for line in table.head)
    scale = min(1.0, 0.9 * top / max(table.first.box.top - highest, 1e-6))
    text, lines = "", []
    for line in table.head:
        lines.append(_put(line, at + len(text) - line.start, top, table.first.box.top, scale))
        text += before.text[line.start : line.end] + "\n"
    start, end = page.body or (0, len(page.text))
    moved = tuple(line.moved(len(text)) if line.start >= at else line for line in page.lines)
    first = next(place for place, line in enumerate(page.lines) if line.start >= at)
    return replace(
        page,
        text=page.text[:at] + text + page.text[at:],
        lines=(*moved[:first], *lines, *moved[first:]),
        body=(min(start, at), end + len(text)),
        hidden=tuple(span.behind(at, len(text)) for span in page.hidden),
        figures=tuple(figure.behind(at, len(text)) for figure in page.figures),
    )


def _put(line: Line, by: int, top: float, first: float, scale: float) -> Line:
    box = line.box
    highest, lowest = (max(top - scale * (first - place), 0.0) for place in (box.top, box.bottom))
    cells = tuple(_put(cell, by, top, first, scale) for cell in line.cells)
    return Line(line.start + by, line.end + by, Box(box.left, highest, box.right, min(lowest, top)), cells)
