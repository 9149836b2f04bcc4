"""What stands above a line, and whether that is what is asked of, as a recipe's name above its ingredients.

By stems, so that it is sure what is said.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.matching import Floats, Matches, term_set
from rag_core.answering.passages import Passage, Quote
from rag_core.answering.strategies.spans import Unit
from rag_core.domain import Document, Hit, Section

Sections = Sequence[Section]

_WORD = re.compile(r"\w+")


class Headings:
    """The sections of documents by place."""

    def __init__(self) -> None:
        self._ordered: dict[str, tuple[Sections, list[tuple[int, int]]]] = {}

    def path(self, hit: Hit, place: int) -> Sections:
        """The sections that a place on a hit's page stands in, the outermost first; none where they are not known."""
        sections, starts = self._of(hit.document)
        found: list[Section] = []
        for section in reversed(sections[: 0 if hit.corrected else bisect_right(starts, (hit.page, place))]):
            if not found or section.level < found[0].level:
                found.insert(0, section)
        return found

    def _of(self, document: Document) -> tuple[Sections, list[tuple[int, int]]]:
        if document.id not in self._ordered:
            sections = sorted(document.sections, key=lambda one: (one.page, one.start))
            self._ordered[document.id] = sections, [(one.page, one.start) for one in sections]
        return self._ordered[document.id]


def heading_features(
    found: Sequence[Unit],
    near: Sequence[Sequence[Quote]],
    passages: Sequence[Passage],
    matches: Matches,
    weights: Floats,
) -> dict[str, Floats]:
    """The columns of `FEATURES` on what stands above and before each unit, each (units,).

    near: the lines that each leans on. weights: how much each of the question's words counts, (words,).
    """
    headings = Headings()
    paths = [headings.path(unit.quote.hit, unit.quote.start) for unit in found]
    about = (passages[unit.quote.passage] for unit in found)
    lines = [_Line(*one, matches) for one in zip(found, near, paths, about, strict=True)]
    spelt = np.array([line.spelt(line.said) for line in lines])
    rest = (1 - np.array([line.spelt(line.above) for line in lines])) * weights
    return {
        "missed": ((spelt.max(axis=0, initial=0.0) - spelt) * rest).sum(axis=1) / np.maximum(rest.sum(axis=1), 1e-9),
        "section_named": np.array([line.section_named for line in lines]),
        "other_section": np.array([line.other_section for line in lines]),
    }


def under_question(question: str, found: Sequence[Unit]) -> NDArray[np.bool_]:
    """Which units stand under the question itself, as answers do where questions are headings, (units,)."""
    headings, asked = Headings(), _WORD.findall(question.casefold())
    paths = (headings.path(unit.quote.hit, unit.quote.start)[-1:] for unit in found)
    return np.array([any(_WORD.findall(one.title.casefold()) == asked for one in path) for path in paths])


class _Line:
    """A unit with what stands above it. above: the stems of its document's names and its headings; said: of these, of
    the unit and of what it leans on."""

    def __init__(self, unit: Unit, near: Sequence[Quote], path: Sections, passage: Passage, matches: Matches) -> None:
        self._hit, self._text, self._path = unit.quote.hit, unit.quote.text, path
        self._words = [self._terms(word.text) for word in matches.words]
        self._asked = frozenset().union(*self._words)
        title = passage.hits[0].document.title
        above = (title, *passage.names, *([one.title for one in path] or [unit.quote.hit.section]))
        self.above = frozenset().union(*map(self._terms, above))
        self.said = self.above.union(*(self._terms(one.text) for one in (unit.quote, *near)))

    def spelt(self, said: frozenset[str]) -> Floats:
        """1 for each word of the question that stands among some stems, (words,)."""
        return np.array([not one.isdisjoint(said) for one in self._words], dtype=np.float64)

    @property
    def section_named(self) -> float:
        """How much of a title above it is asked for, 0..1."""
        return self._named(self._path, self._asked)

    @property
    def other_section(self) -> float:
        """How much more of the title of another section is asked for, and not said here, than of those above it, 0..1.

        Squared, for a part of a title hardly names it.
        """
        others = [one for one in self._hit.document.sections if one not in self._path]
        return max(0.0, self._named(others, self._asked - self.said) ** 2 - self.section_named)

    def _named(self, sections: Sections, asked: frozenset[str]) -> float:
        titles = (self._terms(one.title) for one in sections)
        return max((len(title & asked) / len(title) for title in titles if title), default=0.0)

    def _terms(self, text: str) -> frozenset[str]:
        return term_set(text, self._hit.document.main_language)
