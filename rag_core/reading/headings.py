"""Headings of a PDF without an outline, told from the body by larger or bold type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.domain import Section
from rag_core.reading.base import Face, RawPage
from rag_core.reading.sections import bare_words

# A line this much larger than the body's size is taken for a heading.
LARGER = 1.15
# So is a bold line that is no smaller than the body, give or take rounding.
NO_SMALLER = 0.97
MAX_HEADING_CHARS = 120
MAX_LEVELS = 3
# A heading that returns more often than this is a running title.
MAX_REPEATS = 3
# More headings than this for each page are tables or posters, not chapters.
MAX_HEADINGS_PER_PAGE = 12
# Least share of pages on which headings must be found: those of a title page alone would name every later page.
LEAST_SPREAD = 0.15

_LETTERS = re.compile(r"[^\W\d_]{2}")
# Bold words within the text run on in small letters or end as sentences do.
_NOT_BOLD_HEADING = re.compile(r"^[^\w(“\"]|^[a-zß-ÿ]|[.,;]$")


@dataclass(frozen=True, slots=True)
class _Found:
    title: str
    face: Face
    page: int
    start: int


def guess_sections(pages: Sequence[RawPage]) -> tuple[Section, ...]:
    """Return sections in reading order; none where the type tells no headings from the body."""
    body = _body_size(pages)
    found = [item for raw in pages for item in _on_page(raw, body)] if body else []
    counts = Counter(bare_words(item.title) for item in found)
    found = [item for item in found if counts[bare_words(item.title)] <= MAX_REPEATS]
    spread = len({item.page for item in found})
    if not found or len(found) > MAX_HEADINGS_PER_PAGE * len(pages) or spread < LEAST_SPREAD * len(pages):
        return ()
    faces = sorted({item.face for item in found}, reverse=True)
    levels = {face: min(level, MAX_LEVELS) for level, face in enumerate(faces, 1)}
    return tuple(Section(item.title, levels[item.face], item.page, item.start) for item in found)


def _body_size(pages: Sequence[RawPage]) -> float:
    weights: Counter[float] = Counter()
    for raw in pages:
        for line, face in zip(raw.page.lines, raw.faces, strict=True):
            weights[face.size] += line.end - line.start
    return weights.most_common(1)[0][0] if weights else 0.0


def _on_page(raw: RawPage, body: float) -> Iterator[_Found]:
    """Yield headings of one page; lines of one face that follow each other are one heading."""
    run: _Found | None = None
    start, end = raw.page.body or (0, len(raw.page.text))
    for line, face in zip(raw.page.lines, raw.faces, strict=True):
        if not start <= line.start < end:
            continue
        text = " ".join(raw.page.text[line.start : line.end].split())
        if run and run.face == face:
            run = replace(run, title=f"{run.title} {text}")
            continue
        if run and _is_heading(run, body):
            yield run
        run = _Found(text, face, raw.page.number, line.start)
    if run and _is_heading(run, body):
        yield run


def _is_heading(found: _Found, body: float) -> bool:
    if len(found.title) > MAX_HEADING_CHARS or not _LETTERS.search(found.title):
        return False
    if found.face.size >= LARGER * body:
        return True
    return found.face.bold and found.face.size >= NO_SMALLER * body and not _NOT_BOLD_HEADING.search(found.title)
