"""From a document's headings to sections: each with the place on its page where it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag_core.domain import Page, Section
from rag_core.reading.base import Heading

# How far above its line an outline may point, in fractions of the page's height.
SLACK = 0.03

# Fewer letters and digits than this are no sign of a heading that goes on in the next line.
LEAST_PART = 3
_DIGITS = "0123456789"
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
            if _begins(bare_words(page.text[line.start : line.end]), wanted):
                return line.start
    return below[0].start if below and heading.top is not None else 0


def _begins(words: str, wanted: str) -> bool:
    """Whether a line holds a heading or its first part, numbered or not as the outline has it."""
    for line, title in ((words, wanted), (words.lstrip(_DIGITS), wanted.lstrip(_DIGITS))):
        if line and title and (line.startswith(title) or (len(line) > LEAST_PART and title.startswith(line))):
            return True
    return False
