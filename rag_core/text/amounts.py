"""Where a document says what its amounts are in beyond one table: "(amounts in millions, except per share data)"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag_core.domain import AmountNote, Section

NAMES_SCALE = "thousand|million|billion"
"""What a page that says so has, as a regular expression."""
_SCALE = rf"(?:{NAMES_SCALE})"
_OF = r"(?:US\$|[A-Z]{0,2}[$€£¥]|USD|EUR|GBP|CHF)"
# In brackets, or in a line by itself. Of one million stands a currency before it, else it is many of them.
_STATED = re.compile(
    rf"""\((?:[^()\d]{{0,40}}\s)?in\s(?:[^\W\d]+\s){{0,3}}?(?:{_OF}\s)?{_SCALE}s?\b[^()]{{0,200}}\)
    |^[ \t]*(?:[^\W\d]+[ ]){{0,4}}in[ ](?:(?:[^\W\d]+[ ]){{0,2}}{_SCALE}s|{_OF}[ ]?{_SCALE}s?)\b[^\n\d]{{0,80}}$
    |^[ \t]*{_OF}[ ]?(?:in[ ])?{_SCALE}s?[ \t]*$""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_FEW_LINES, _PROSE_WORDS = 6, 14  # of heads that stand above it, and no prose
_ROW = re.compile(r"\d\)?\s*%?\s+[($€£¥]*\s?\d")


def amount_notes(pages: Mapping[int, str], sections: Sequence[Section], *, marked: bool = False) -> list[AmountNote]:
    """Every such note of a document that holds beyond a table of its own, in order; a later one takes its place.

    At the top of a page or of a section it holds on; further down, in a line of its own, for the rest of its page.
    pages: the texts of those that name a scale, by their numbers. marked: whether headings and their levels are the
    document's own, so that none holds beyond its section.
    """
    found = []
    for page, text in sorted(pages.items()):
        headings = [one.start for one in sections if one.page == page]
        for match in _STATED.finditer(text):
            until, of_page = _end(sections, (page, match.start())) if marked else None, (page + 1, 0)
            if text[match.end() : match.end() + 1] == ":":  # of what follows it
                continue
            if not _stands_over(match, headings):
                if not _is_alone(match):
                    continue
                until = min(until or of_page, of_page)
            found.append(AmountNote(" ".join(match[0].split()), page, match.start(), until))
    return found


def _stands_over(match: re.Match[str], headings: Sequence[int]) -> bool:
    """Whether nothing but heads stands above it on its page, or in its section, that begins at one of some places."""
    begin = max((place for place in headings if place <= match.start()), default=0)
    lines = [line for line in match.string[begin : match.start()].splitlines() if line.strip()]
    are_heads = all(len(line.split()) < _PROSE_WORDS and not _ROW.search(line) for line in lines)
    return are_heads and len(lines) <= _FEW_LINES


def _is_alone(match: re.Match[str]) -> bool:
    """Whether it is a line by itself: behind other words it is of what these say."""
    begin = match.string.rfind("\n", 0, match.start()) + 1
    return not match.string[begin : match.start()].strip()


def _end(sections: Sequence[Section], place: tuple[int, int]) -> tuple[int, int] | None:
    """The page and place where the section that a place is in ends; None where that is the document's end."""
    before = [one for one in sections if (one.page, one.start) <= place]
    behind = [one for one in sections if (one.page, one.start) > place]
    level = before[-1].level if before else 0
    return next(((one.page, one.start) for one in behind if one.level <= level), None)
