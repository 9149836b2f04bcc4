"""From a document's headings to sections: each with the place on its page where it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag_core.domain import Page, Section
from rag_core.reading.base import Heading

# How far above its line an outline may point, in fractions of the page's height.
SLACK = 0.03

_NOT_WORD = re.compile(r"[\W_]+")


def place(headings: Iterable[Heading], pages: Sequence[Page]) -> tuple[Section, ...]:
    """Return sections in reading order. A heading is looked for by its words, then by its height on the page."""
    sections = []
    for heading in headings:
        page = pages[heading.page - 1]
        start = _start(heading, page) if heading.start is None else heading.start
        sections.append(Section(heading.title, heading.level, heading.page, start))
    return tuple(sorted(sections, key=lambda section: (section.page, section.start)))


def bare_words(text: str) -> str:
    """Return letters and digits alone, for comparing headings however they are spaced, marked and capitalised."""
    return _NOT_WORD.sub("", text).casefold()


def _start(heading: Heading, page: Page) -> int:
    wanted = bare_words(heading.title)
    below = [line for line in page.lines if heading.top is None or line.box.top >= heading.top - SLACK]
    for lines in (below, page.lines):
        for line in lines:
            words = bare_words(page.text[line.start : line.end])
            if words and wanted and (words.startswith(wanted) or (len(words) > 3 and wanted.startswith(words))):
                return line.start
    return below[0].start if below and heading.top is not None else 0
