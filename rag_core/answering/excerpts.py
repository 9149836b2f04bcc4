"""What of the passages a language model is given: the lines that the reader finds likeliest to answer, with the heads
above them and the lines beside them, as many as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.matching import Floats
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.features import Evidence
from rag_core.answering.strategies.rows import with_heads
from rag_core.answering.strategies.spans import Unit
from rag_core.domain import Hit

_GAP = "…"
_SOURCE_TOKENS = 24  # of the line that tells a document and page, with what stands around an excerpt


Line = tuple[str, int, int]
"""A line by its document's id, its page and where it begins there."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of one passage in their order, `…` where some between them are left out. hit: the best line's."""

    hit: Hit
    text: str
    lines: frozenset[Line]


def excerpts(
    evidence: Evidence,
    scores: Floats,
    room: int,
    count: Callable[[str], int],
    told: frozenset[Line] = frozenset(),
) -> list[Excerpt]:
    """Excerpts of passages in `room` tokens, the one with the line that is likeliest to answer first.

    scores: of each unit, (units,). told: lines that are known already. A line comes with those beside it and those that
    it leans on, where there is no room for all of them with the latter alone; the likeliest one whatever its length.
    """
    lines: dict[int, list[Quote]] = {}
    for quote in evidence.every:
        lines.setdefault(quote.passage, []).append(quote)
    best: dict[int, int] = {}
    taken: dict[int, set[int]] = {}

    def new(unit: Unit, some: set[int]) -> tuple[set[int], int]:
        """Those of some lines of a unit's passage that are not given yet, and their tokens."""
        of_passage = lines[unit.quote.passage]
        lacking = (some & set(range(len(of_passage)))) - taken.get(unit.quote.passage, set())
        found = {one for one in lacking if line_of(of_passage[one]) not in told}
        cost = sum(count(with_heads(evidence, of_passage[one]).quote.text) + 1 for one in found)
        return found, cost + (0 if unit.quote.passage in taken else _SOURCE_TOKENS)

    for place in map(int, np.argsort(-scores, kind="stable")):
        unit = evidence.units[place]
        at = unit.quote.position
        found, cost = new(unit, {at - 1, at, at + 1, *unit.near})
        if cost > room:
            found, cost = new(unit, {at, *unit.near})
        if taken and cost > room:
            break
        if found:
            room -= cost
            best.setdefault(unit.quote.passage, place)
            taken.setdefault(unit.quote.passage, set()).update(found)
    return [
        Excerpt(
            evidence.units[place].quote.hit, _text(evidence, lines[passage], sorted(taken[passage])),
            frozenset(line_of(lines[passage][one]) for one in taken[passage]),
        )
        for passage, place in best.items()
    ]  # fmt: skip


def line_of(quote: Quote) -> Line:
    """What tells a line from all others."""
    return quote.hit.document.id, quote.hit.page, quote.start


def whole_passages(hits: Sequence[Hit], room: int, count: Callable[[str], int]) -> list[Excerpt]:
    """The first passages that fit into `room` tokens together, whole; the first is cut where it does not."""
    found: list[Excerpt] = []
    for hit in hits:
        cost = count(hit.text) + _SOURCE_TOKENS
        if found and cost > room:
            break
        text = hit.text if cost <= room else hit.text[: len(hit.text) * room // cost]
        found.append(Excerpt(hit, text, frozenset()))
        room -= cost
    return found


def _text(evidence: Evidence, lines: Sequence[Quote], places: Sequence[int]) -> str:
    """Lines of a passage, rows with their heads between their cells."""
    told: list[str] = []
    for before, place in zip((-1, *places), places, strict=False):
        told += [_GAP] if place > before + 1 else []
        told.append(with_heads(evidence, lines[place]).quote.text)
    return "\n".join([*told, *([_GAP] if places[-1] + 1 < len(lines) else [])])
