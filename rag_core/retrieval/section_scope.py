"""The sections that a scope names: in each document those with such a title, else those that are commonly called so,
with all that stands below them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Document, Section
from rag_core.text.section_names import bare, is_called, number_of

Place = tuple[int, int]
"""A page, and a place on it."""
_NAMED = 6  # sections, where none is called as asked


def titles_named(documents: Iterable[Document], names: Sequence[str]) -> set[str]:
    """The titles of those sections, and the names as they are, all in small letters."""
    found = (document.sections[first:last] for document in documents for first, last in _ranges(document, names))
    return {name.lower() for name in names} | {section.title.lower() for part in found for section in part}


def chunks_named(document: Document, names: Sequence[str], spans: NDArray[np.int64]) -> list[int]:
    """The chunks of those sections: half of each stands there; of a section too short for that, where it begins.

    spans: page, begin and end of every chunk, int64 (chunks, 3).
    """
    inside = np.zeros(len(spans), dtype=bool)
    pages, starts, ends = spans.T
    for (first, begin), (last, stop) in _extents(document, names):
        low = np.maximum(starts, np.where(pages == first, begin, 0))
        high = np.minimum(ends, np.where(pages == last, stop, ends))
        half = (first <= pages) & (pages <= last) & (2 * (high - low) >= ends - starts)
        inside |= half if half.any() else (pages == first) & (starts <= begin) & (begin < ends)
    return [int(index) for index in np.flatnonzero(inside)]


def has_section(document: Document, names: Sequence[str]) -> bool:
    """Whether a document has any of those sections."""
    return next(_ranges(document, names), None) is not None


def lacking(documents: Sequence[Document], names: Sequence[str]) -> str:
    """What to say where none of some documents has any of those sections, with those that most have; "" otherwise."""
    if not documents or any(has_section(document, names) for document in documents):
        return ""
    named = " or ".join(f"“{name}”" for name in names)
    sections = " · ".join(_commonest(documents))
    if not sections:
        return f"No document that is searched has a section called {named}, nor any other."
    return f"No document that is searched has a section called {named}. Sections that there are: {sections}"


def _commonest(documents: Iterable[Document]) -> list[str]:
    """Titles of the sections that most documents have, and of these the highest."""
    found: dict[str, list[Section]] = {}
    for document in sorted(documents, key=lambda one: (one.title, one.id)):
        own = {bare(one.title): one for one in reversed(document.sections) if one.title != document.title}
        for words, section in reversed(own.items()):
            found.setdefault(words, []).append(section)
    found.pop("", None)
    ranked = sorted(found.values(), key=lambda some: (-len(some), min(one.level for one in some)))
    return [some[0].title for some in ranked[:_NAMED]]


def _extents(document: Document, names: Sequence[str]) -> Iterator[tuple[Place, Place]]:
    places = [*((section.page, section.start) for section in document.sections), (document.page_count + 1, 0)]
    return ((places[first], places[last]) for first, last in _ranges(document, names))


def _ranges(document: Document, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first of some sections, and the first behind them that is none of theirs."""
    sections = document.sections
    for name in names:
        exact = [at for at, section in enumerate(sections) if section.title.lower() == name.lower()]
        for first in exact or [at for at, section in enumerate(sections) if is_called(section.title, name)]:
            behind = (at for at in range(first + 1, len(sections)) if not _is_below(sections[first], sections[at]))
            yield first, next(behind, len(sections))


def _is_below(upper: Section, lower: Section) -> bool:
    """Whether a section that comes behind another is a part of it, by its level, or by 2.1 behind 2."""
    number = number_of(upper.title)
    return lower.level > upper.level or (bool(number) and number_of(lower.title).startswith(f"{number}."))
