"""Running titles and page numbers: what stands alone at the top or the bottom of page after page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_core.domain import Line, Page

# Lines looked at from either edge of a page, and their length.
_LINES, _CHARS = 3, 150
# Pages on which a line stands that is a running title: in short documents, and in others.
_SHORT, _PAGES, _PAGES_OF_MANY = 5, 2, 3
# Of a line's height: the least gap between it and the text.
_GAP, _NUMBER_GAP = 1.2, 0.6
# Of the pages: on how many a number stands at an edge where all are numbered that rise, though some pages be left out.
_NUMBERED = 0.4

_ROMAN = re.compile(r"(?=[ivxl])(?:x[lc]|l?x{0,3})(?:i[xv]|v?i{0,3})")
_FIGURE = r"(\d{1,4}|[ivxl]{1,7}|[IVXL]{1,7})"
_NUMBER = re.compile(
    rf"\W{{0,3}}(?:(?:page|seite|p\.|página|pagina)\s*)?{_FIGURE}(?:\s*(?:/|of|von|de|sur)\s*\d{{1,4}})?\W{{0,3}}",
    re.IGNORECASE,
)
_AT_END = re.compile(r"^(\d{1,4})\s*[|•·–—]|[|•·–—]\s*(?:page\s*)?(\d{1,4})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Edge:
    """A line at an edge of a page. gap: to the text, in its height; number: the page's that it seems to say, or 0."""

    line: Line
    text: str
    gap: float
    number: int


def without_running_titles(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages, each with its `body`: its text without the running titles and page numbers at its ends."""
    titles: list[list[_Edge]] = [[] for _ in pages]
    for lines in zip(*map(_from_edges, pages), strict=True):
        sides = [list(_edges(page, side)) for page, side in zip(pages, lines, strict=True)]
        known = Counter(text for side in sides for text in {edge.text for edge in side if edge.gap >= _GAP})
        least = _PAGES if len(pages) <= _SHORT else _PAGES_OF_MANY
        running = {text for text, count in known.items() if count >= least}
        numbers = [next((edge.number for edge in side if edge.number), 0) for side in sides]
        for found, side, number in zip(titles, sides, _counting(numbers, pages), strict=True):
            found.extend(_titles(side, running, number))
    return tuple(replace(page, body=_body(page, found)) for page, found in zip(pages, titles, strict=True))


def _from_edges(page: Page) -> tuple[list[Line], list[Line]]:
    """The page's lines from the top, and from the bottom: a few of each."""
    down = sorted(page.lines, key=lambda line: line.box.top)
    return down[: _LINES + 1], down[: -_LINES - 2 : -1]


def _edges(page: Page, lines: Sequence[Line]) -> Iterator[_Edge]:
    """The lines from an edge on, all of them shorter than a paragraph's."""
    for line, inner in pairwise(lines):
        text = " ".join(page.text[line.start : line.end].split())
        if len(text) > _CHARS:
            break
        gap = max(inner.box.top - line.box.bottom, line.box.top - inner.box.bottom)
        parts = [page.text[part.start : part.end] for part in (line.cells[0], line.cells[-1])] if line.cells else [text]
        number = next((found for part in parts if (found := _page_number(part.strip()))), 0)
        yield _Edge(line, text, gap / max(line.box.height, 1e-6), number)


def _page_number(text: str) -> int:
    """The number that a text says alone, or apart at an end of it; 0 where there is none."""
    found = _NUMBER.fullmatch(text)
    if found and not found[1].isdigit():
        return _from_roman(found[1].lower()) if _ROMAN.fullmatch(found[1].lower()) else 0
    found = found or _AT_END.search(text)
    return next((int(figure) for figure in found.groups() if figure), 0) if found else 0


def _from_roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in text]
    return sum(-one if one < other else one for one, other in pairwise([*values, 0]))


def _counting(numbers: Sequence[int], pages: Sequence[Page]) -> Iterator[int]:
    """Of the numbers at one edge those that count the pages: by one from page to page, or rising over most pages."""
    said = [number for number in numbers if number]
    all_numbered = len(said) >= max(2, _NUMBERED * len(numbers))
    for place, (number, page) in enumerate(zip(numbers, pages, strict=True)):
        before, after = (numbers[other] if 0 <= other < len(numbers) else 0 for other in (place - 1, place + 1))
        counts = before == number - 1 > 0 or after == number + 1 or page.label == str(number)
        rises = all_numbered and before < number and (not after or number < after)
        yield number if number and (counts or rises) else 0


def _titles(side: Sequence[_Edge], running: set[str], number: int) -> list[_Edge]:
    """From the edge on, the lines that are running titles or have the page's number, up to a gap before the text."""
    found: list[_Edge] = []
    for edge in side:
        is_number = number and edge.number == number
        if not is_number and edge.text not in running:
            break
        found.append(edge)
        number = 0 if is_number else number
    while found and found[-1].gap < (_NUMBER_GAP if found[-1].number else _GAP):
        found.pop()
    return found


def _body(page: Page, titles: Sequence[_Edge]) -> tuple[int, int] | None:
    """The text between the running titles that it begins and ends with."""
    apart = {edge.line.start for edge in titles}
    kept = [line for line in page.lines if line.start not in apart]
    if not apart or not kept:
        return None
    return kept[0].start, kept[-1].end
