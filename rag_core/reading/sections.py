"""From a document's headings to sections: each with the place on its page where it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_core.domain import Line, Page, Section
from rag_core.reading.base import Heading

# How far above its line an outline may point, in fractions of the page's height.
SLACK = 0.03
# Where fewer of an outline's headings than this share are on their pages, those alone are kept; so few may be right.
LEAST_HEARD, FEW = 0.5, 2

# Of a page's lines so many are looked at for each heading: no page that a person made has more.
MOST_LINES = 1_000
# Fewer letters and digits than this are no sign of a heading that goes on in the next line.
LEAST_PART = 3
_DIGITS = "0123456789"
_NOT_WORD = re.compile(r"[\W_]+")
_APPENDIX = re.compile("^(?:appendix|anhang|annexe)")


def place(headings: Iterable[Heading], pages: Sequence[Page]) -> tuple[Section, ...]:
    """Return sections in reading order. A heading is looked for by its words, then by its height on the page."""
    sections = []
    heard: list[Section] = []
    for heading in _told_apart(headings, pages):
        page = pages[heading.page - 1]
        line = _line(heading, page) if heading.start is None else None
        start = heading.start if heading.start is not None else _start(heading, page, line)
        sections.append(Section(heading.title, heading.level, heading.page, start))
        if line or heading.start is not None or not page.text.strip():
            heard.append(sections[-1])
    # The outline of a document of which some pages were taken points to what is no longer there.
    kept = heard if len(sections) > FEW and len(heard) < LEAST_HEARD * len(sections) else sections
    return tuple(sorted(kept, key=lambda section: (section.page, section.start)))


def together(outline: Sequence[Section], guessed: Sequence[Section]) -> tuple[Section, ...]:
    """The sections of an outline that names but the file and its parts, and those that were guessed."""
    places = {(section.page, section.start) for section in outline}
    others = (section for section in guessed if (section.page, section.start) not in places)
    return tuple(sorted([*outline, *others], key=lambda section: (section.page, section.start)))


def bare_words(text: str) -> str:
    """Return letters and digits alone, for comparing headings however they are spaced, marked and capitalised."""
    return _NOT_WORD.sub("", text).casefold()


def _told_apart(headings: Iterable[Heading], pages: Sequence[Page]) -> Iterator[Heading]:
    """The headings; one that points to where an earlier one does, and whose words stand further on, points there.

    LaTeX may count the sections of an appendix from 1 again. Their destinations are then those of the first sections,
    and "A Proofs" points to "1 Introduction".
    """
    pointed: set[tuple[int, float | None]] = set()
    lines: Mapping[str, list[tuple[int, int]]] | None = None
    last = 1
    for heading in headings:
        place = heading.page, heading.top
        if heading.top is not None and place in pointed and _line(heading, pages[heading.page - 1]) is None:
            lines = _places(pages) if lines is None else lines
            behind = (one for one in lines.get(_called(heading.title), ()) if one[0] >= last)
            page, start = next(behind, (heading.page, heading.start))
            heading = replace(heading, page=page, start=start)
        pointed.add(place)
        last = max(last, heading.page)
        yield heading


def _places(pages: Sequence[Page]) -> dict[str, list[tuple[int, int]]]:
    """Page and start of every line, by what a heading in it is called."""
    found: dict[str, list[tuple[int, int]]] = {}
    for page in pages:
        for line in page.lines[:MOST_LINES]:
            found.setdefault(_called(page.text[line.start : line.end]), []).append((page.number, line.start))
    return found


def _called(text: str) -> str:
    """The letters and digits of a heading: "A Proofs" is "Appendix A. Proofs" on its page."""
    return _APPENDIX.sub("", bare_words(text))


def _line(heading: Heading, page: Page) -> Line | None:
    """The line that has a heading's words, sooner below where it points to."""
    wanted = bare_words(heading.title)
    for lines in (_below(heading, page), page.lines[:MOST_LINES]):
        for line in lines:
            if _begins(bare_words(page.text[line.start : line.end]), wanted):
                return line
    return None


def _below(heading: Heading, page: Page) -> list[Line]:
    return [line for line in page.lines[:MOST_LINES] if heading.top is None or line.box.top >= heading.top - SLACK]


def _start(heading: Heading, page: Page, line: Line | None) -> int:
    if line is None and heading.top is not None:
        line = next(iter(_below(heading, page)), None)
    return line.start if line else 0


def _begins(words: str, wanted: str) -> bool:
    """Whether a line holds a heading or its first part, numbered or not as the outline has it."""
    for line, title in ((words, wanted), (words.lstrip(_DIGITS), wanted.lstrip(_DIGITS))):
        if line and title and (line.startswith(title) or (len(line) > LEAST_PART and title.startswith(line))):
            return True
    return False
