"""From a document's headings to sections: each with the place on its page where it begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_core.domain import Line, Page, Section
from rag_core.reading.base import Heading, RawPage

# How far above its line an outline may point, in fractions of the page's height.
SLACK = 0.03
# A line this much larger than the body's size is taken for a heading.
LARGER = 1.15
MAX_HEADING_CHARS = 120
MAX_LEVELS = 3
# More headings than this for each page are tables or posters, not chapters.
MAX_HEADINGS_PER_PAGE = 12
# Least share of pages on which headings must be found.
LEAST_SPREAD = 0.15

_NOT_WORD = re.compile(r"[\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{2}")


def place(headings: Iterable[Heading], pages: Sequence[Page]) -> tuple[Section, ...]:
    """Return sections in reading order. A heading is looked for by its words, then by its height on the page."""
    sections = []
    for heading in headings:
        page = pages[heading.page - 1]
        start = _start(heading, page) if heading.start is None else heading.start
        sections.append(Section(heading.title, heading.level, heading.page, start))
    return tuple(sorted(sections, key=lambda section: (section.page, section.start)))


def find_by_size(pages: Sequence[RawPage]) -> tuple[Section, ...]:
    """Return sections for a document without an outline: short lines set clearly larger than the body's text."""
    body = _body_size(pages)
    if not body:
        return ()
    found = [item for raw in pages for item in _large_lines(raw, body)]
    repeated = {words for words, count in Counter(_words(item.title) for item in found).items() if count > 3}
    found = [item for item in found if _words(item.title) not in repeated]
    if len(found) > MAX_HEADINGS_PER_PAGE * len(pages) or not _spread(found, len(pages)):
        return ()
    sizes = sorted({item.size for item in found}, reverse=True)
    return tuple(
        Section(item.title, min(sizes.index(item.size) + 1, MAX_LEVELS), item.page, item.start) for item in found
    )


def _spread(found: Sequence[_Large], page_count: int) -> bool:
    """Whether headings stand throughout the document: those of a title page alone would name every later page."""
    return len({item.page for item in found}) >= max(1.0, LEAST_SPREAD * page_count)


@dataclass(frozen=True, slots=True)
class _Large:
    title: str
    size: float
    page: int
    start: int
    end: int


def _start(heading: Heading, page: Page) -> int:
    wanted = _words(heading.title)
    below = [line for line in page.lines if heading.top is None or line.box.top >= heading.top - SLACK]
    for lines in (below, page.lines):
        for line in lines:
            words = _words(page.text[line.start : line.end])
            if words and wanted and (words.startswith(wanted) or (len(words) > 3 and wanted.startswith(words))):
                return line.start
    return below[0].start if below and heading.top is not None else 0


def _body_size(pages: Sequence[RawPage]) -> float:
    weights: Counter[float] = Counter()
    for raw in pages:
        for line, size in zip(raw.page.lines, raw.sizes, strict=False):
            weights[size] += line.end - line.start
    return weights.most_common(1)[0][0] if weights else 0.0


def _large_lines(raw: RawPage, body: float) -> list[_Large]:
    """Return headings of one page; lines of one size that follow each other are one heading."""
    text = raw.page.text
    found: list[_Large] = []
    before: Line | None = None
    for line, size in zip(raw.page.lines, raw.sizes, strict=False):
        title = " ".join(text[line.start : line.end].split())
        large = size >= LARGER * body and len(title) <= MAX_HEADING_CHARS and _LETTERS.search(title)
        if large and found and before and found[-1].end == before.end and found[-1].size == size:
            title = f"{found[-1].title} {title}"
            found[-1] = _Large(title, size, raw.page.number, found[-1].start, line.end)
        elif large:
            found.append(_Large(title, size, raw.page.number, line.start, line.end))
        before = line
    return [item for item in found if len(item.title) <= MAX_HEADING_CHARS]


def _words(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()
