"""The things that a question sets side by side, and what answers for each of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag_core.answering.matching import Floats
from rag_core.answering.strategies.evidence import Evidence
from rag_core.answering.tables.computing import sets_side_by_side
from rag_core.retrieval.understanding import kind_of, understand
from rag_core.text.terms import terms

_PAIR = re.compile(r"([\w.&'’-]+),?\s+(?:or|and|vs\.?|versus|than|with)\s+(?:the\s+)?([\w.&'’-]+)", re.IGNORECASE)
_BEHIND = 8.0  # the score of a thing's best unit, at most, behind that of all units


def compared(question: str, evidence: Evidence, scores: Floats) -> Mapping[str, int]:
    """The unit that answers best for each thing that is compared, by its name, in the question's order.

    Empty where the question compares nothing, or where one of the things is not told of apart from the others.
    """
    if kind_of(question) != "comparison" and not sets_side_by_side(question):
        return {}
    names = understand(question).names
    pair = _PAIR.search(question)
    for sides in (names, pair.groups() if pair else ()):
        found = {name: place for name in sides if (place := _best(name, sides, evidence, scores)) is not None}
        if len(found) == len(sides) > 1 and len(set(found.values())) == len(sides):
            return found
    return {}


def _best(name: str, names: tuple[str, ...], evidence: Evidence, scores: Floats) -> int | None:
    """The best unit that is about one of some names alone, by its document's title, its words or what it leans on."""
    own, others = set(terms(name)), [set(terms(other)) for other in names if other != name]
    lines = {(quote.passage, quote.position): quote.text for quote in evidence.every}
    about = []
    for place, unit in enumerate(evidence.units):
        near = (lines[unit.quote.passage, position] for position in unit.near)
        title, said = set(terms(unit.quote.hit.document.title)), set(terms(" ".join((unit.quote.text, *near))))
        of_another = any(other <= said or (other <= title and not own <= title) for other in others if other)
        if own and not of_another and (own <= title or own <= said):
            about.append(place)
    best = max(about, key=lambda place: scores[place], default=None)
    return best if best is not None and scores[best] > scores.max() - _BEHIND else None
