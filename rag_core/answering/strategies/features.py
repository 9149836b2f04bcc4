"""What speaks for each unit as the answer to a question: one row of features each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rag_core.answering.cues import answer_type, asks_why
from rag_core.answering.matching import Floats, Matches
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.spans import Unit
from rag_core.answering.tables.matching_cells import CELL_FEATURES, CellQuery
from rag_core.text.numbers import numbers
from rag_core.text.terms import terms

FEATURES = (
    "own", "near", "all", "own_share", "near_share", "all_share", "near_numbers", "all_numbers", "all_names", "worst",
    "nearness", "answers", "answers_anew", "hit", "first", "meant", "cut", "question", "short", "fragment", "tabular",
    "tabular_figure", "tabular_own", "tabular_near", "tabular_nearness", "tabular_first", "tabular_meant",
    "tabular_numbered", "figures_asked", "prose_table", "asked", "tabular_asked", "tabular_near_numbers", "score",
    "cell", "worded_table", "read", "read_share", "span", "span_share", "tabular_read", "tabular_span",
    "unmeant", "missed", "section_named", "other_section",
)  # fmt: skip
"""Columns of `Evidence.features`.

own, near, all: mean match of the question's words, weighted by rarity, in the unit, with what it leans on, and with
its document's title and section; the shares count matches. worst: the least matched word. answers: something of the
kind asked for stands there; anew: that the question does not say itself. meant: how surely the question means its
document; unmeant: whether it surely means another. prose_table: a row where no figure is asked for; worded_table: where
words are. cell: how probably its best figure is the one asked for. read, span: log odds of the trained reader that the
unit, and the best of its spans of words, answers, of those that it was given; the shares set them against all units and
none. missed: of the weight of the question's words that neither its document's names nor the headings above it have, in
stems, those that stand in other units and neither in this one nor in what it leans on. section_named, other_section:
how much of the title of a section is asked for, one that it stands in, and another one's, what it says itself apart.
"""

FIGURES = ("number", "money", "percent", "date")

_SAID = 5.0  # log odds that a figure loses which the question has
_PLAIN = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The units of some passages with their features, float64 (units, len(FEATURES)).

    every: all quotes, `places` where each unit's stands there. matches: rows as `every`. full: each unit's words
    matched with all that it leans on, title and section, (units, words). asked: the figures of tables. cell_scores: the
    logarithm of how probably each of them is the one asked for. spans: the characters of each unit that the reader
    takes for the answer, (units, 2), none where it was not given the unit.
    """

    units: tuple[Unit, ...]
    features: Floats
    every: tuple[Quote, ...]
    near: Floats
    full: Floats
    weights: Floats
    matches: Matches
    asked: CellQuery | None
    cell_scores: Floats
    spans: Floats

    @property
    def asked_terms(self) -> set[str]:
        """The terms of the question's content words."""
        return {term for word in self.matches.words for term in terms(word.text)}

    @property
    def figures_said(self) -> set[float]:
        """What the figures of the question are worth ("on 400 machines"): they say of what it asks, never what."""
        found = numbers(" ".join(word.text for word in self.matches.words))
        return {float(one) for one in found if _PLAIN.fullmatch(one)}

    def cells_in(self, index: int) -> list[int]:
        """The cells that stand in a unit, by their places in `asked`."""
        quote = self.units[index].quote
        return [
            place
            for place, cell in enumerate(self.asked.cells if self.asked else ())
            if cell.passage == quote.passage and quote.start <= cell.part.start < quote.end
        ]

    def column(self, name: str) -> Floats:
        """One feature of all units."""
        found: Floats = self.features[:, FEATURES.index(name)]
        return found


def with_cells(evidence: Evidence, weights: Mapping[str, float], question: str) -> Evidence:
    """The evidence with its cells scored by some weights; for a reason none counts, which no figure gives, and for a
    figure one that the question has said itself hardly does."""
    if evidence.asked is None:
        return evidence
    raw = evidence.asked.features @ np.array([weights[name] for name in CELL_FEATURES])
    if answer_type(question) in FIGURES:
        raw = raw - _SAID * np.array([cell.figure.value in evidence.figures_said for cell in evidence.asked.cells])
    scores = _agreed(evidence.asked, raw - raw.max() - np.log(np.exp(raw - raw.max()).sum()))
    features, counts = evidence.features.copy(), not asks_why(question)
    for index in range(len(evidence.units)):
        if (cells := evidence.cells_in(index)) and counts:
            features[index, FEATURES.index("cell")] = np.exp(scores[cells].max())
    return replace(evidence, features=features, cell_scores=scores)


def _agreed(asked: CellQuery, scores: Floats) -> Floats:
    """The scores of cells, those together that are one figure under one label, wherever it is printed again."""
    same: dict[tuple[str, float, bool], list[int]] = {}
    for place, cell in enumerate(asked.cells):
        same.setdefault((cell.name.casefold(), cell.figure.value, cell.figure.percent), []).append(place)
    found = scores.copy()
    for places in same.values():
        found[places] = np.logaddexp.reduce(scores[places])
    return found
