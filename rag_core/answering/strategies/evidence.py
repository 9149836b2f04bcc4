"""What speaks for each unit as the answer to a question: one row of features each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from rag_core.answering.cues import answer_type, asks_for_words, holds_answer
from rag_core.answering.encoding import END, SPAN, START, SUPPORT, Encoder
from rag_core.answering.matching import Floats, Matches, counted, matched
from rag_core.answering.passages import Passage, Quote, merge_hits, quotes, with_heads
from rag_core.answering.strategies.units import Unit, units
from rag_core.answering.strategies.weights import reader
from rag_core.answering.tables.asking import CELL_FEATURES, Asked, asked_cells
from rag_core.domain import Hit
from rag_core.text.bm25 import Bm25
from rag_core.text.terms import terms

FEATURES = (
    "own", "near", "all", "own_share", "near_share", "all_share", "near_numbers", "all_numbers", "all_names", "worst",
    "nearness", "answers", "answers_anew", "hit", "first", "meant", "cut", "question", "short", "fragment", "tabular",
    "tabular_figure", "tabular_own", "tabular_near", "tabular_nearness", "tabular_first", "tabular_meant",
    "tabular_numbered", "figures_asked", "prose_table", "asked", "tabular_asked", "tabular_near_numbers", "score",
    "cell", "worded_table", "read", "read_share", "span", "span_share", "tabular_read", "tabular_span",
)  # fmt: skip
"""Columns of `Evidence.features`.

own, near, all: mean match of the question's words, weighted by rarity, in the unit, with what it leans on, and with
its document's title and section; the shares count matches. worst: the least matched word. answers: something of the
kind asked for stands there; anew: that the question does not say itself. meant: how surely the question means its
document. prose_table: a row where no figure is asked for; worded_table: where words are. cell: how probably its best
figure is the one asked for. read, span: log odds of the trained reader that the unit, and the best of its spans of
words, answers, of those that it was given; the shares set them against all units and none.
"""

FIGURES = ("number", "money", "percent", "date")
_SUREST = 8.0  # log odds of the reader that are no surer than so much
_UNREAD = (-_SUREST, -_SUREST, 0.0, 0.0)
# Units that the reader is given, with the lines beside each: half of the tokens, and answers are right as often.
_MOST_READ = 12


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
    asked: Asked | None
    cell_scores: Floats
    spans: Floats

    @property
    def asked_terms(self) -> set[str]:
        """The terms of the question's content words."""
        return {term for word in self.matches.words for term in terms(word.text)}

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


def gather(
    question: str, hits: Sequence[Hit], encoder: Encoder, meant: Mapping[str, float] | None = None
) -> Evidence | None:
    """Read the passages for a question; None where they hold nothing to quote.

    meant: documents that the question means, by id, with how surely, 0..1.
    """
    hits = with_heads(hits)
    passages = merge_hits(hits)
    every = quotes(passages)
    found = units(every)
    if not found:
        return None
    matches = matched(question, passages, every, encoder.tokens)
    starts = {quote.passage: place for place, quote in reversed(list(enumerate(every)))}
    places = [starts[unit.quote.passage] + unit.quote.position for unit in found]
    near = np.array(
        [
            matches.with_near([place, *(starts[unit.quote.passage] + one for one in unit.near)])
            for unit, place in zip(found, places, strict=True)
        ]
    )
    full = np.maximum(near, matches.prefix[places])
    weights = _rarities(matches, found)
    features = _features(question, found, hits, matches, places, near, full, weights, meant or {})
    asked = asked_cells(question, passages, matches, weights, meant or {})
    evidence = Evidence(
        tuple(found), features, tuple(every), near, full, weights, matches, asked, np.zeros(0), np.zeros((0, 2))
    )
    return _with_reading(with_cells(evidence, reader().cell), question, passages, encoder)


def with_cells(evidence: Evidence, weights: Mapping[str, float]) -> Evidence:
    """The evidence with its cells scored by some weights."""
    if evidence.asked is None:
        return evidence
    raw = evidence.asked.features @ np.array([weights[name] for name in CELL_FEATURES])
    scores = _agreed(evidence.asked, raw - raw.max() - np.log(np.exp(raw - raw.max()).sum()))
    features = evidence.features.copy()
    for index in range(len(evidence.units)):
        if cells := evidence.cells_in(index):
            features[index, FEATURES.index("cell")] = np.exp(scores[cells].max())
    return replace(evidence, features=features, cell_scores=scores)


def _agreed(asked: Asked, scores: Floats) -> Floats:
    """The scores of cells, those together that are one figure under one label, wherever it is printed again."""
    same: dict[tuple[str, float, bool], list[int]] = {}
    for place, cell in enumerate(asked.cells):
        same.setdefault((cell.name.casefold(), cell.figure.value, cell.figure.percent), []).append(place)
    found = scores.copy()
    for places in same.values():
        found[places] = np.logaddexp.reduce(scores[places])
    return found


def _rarities(matches: Matches, found: Sequence[Unit]) -> Floats:
    """How much each word counts: its inverse document frequency among the units; they sum to 1."""
    index = Bm25([terms(unit.quote.text) for unit in found])
    raw = np.array([max(map(index.weight, terms(word.text)), default=0.0) for word in matches.words])
    total: Floats = raw / max(float(raw.sum()), 1e-9)
    return total


def _features(
    question: str,
    found: Sequence[Unit],
    hits: Sequence[Hit],
    matches: Matches,
    places: Sequence[int],
    near: Floats,
    full: Floats,
    weights: Floats,
    meant: Mapping[str, float],
) -> Floats:
    """All columns but those of the reader, which are 0."""
    own = matches.own[places]
    numbers = np.array([word.is_number for word in matches.words], dtype=bool)
    names = np.array([word.is_name for word in matches.words], dtype=bool)
    kind = answer_type(question)
    asked = set(terms(question))
    figure = float(kind in FIGURES)
    best = max(max(hit.score for hit in hits), 1e-9)
    rank = {hit.chunk_id: place for place, hit in enumerate(hits)}
    tabular = np.array([unit.tabular for unit in found], dtype=np.float64)
    texts = [unit.quote.text for unit in found]
    known = {
        "own": own @ weights, "near": near @ weights, "all": full @ weights,
        "own_share": counted(own) @ weights, "near_share": counted(near) @ weights,
        "all_share": counted(full) @ weights, "near_numbers": _least(counted(near), numbers),
        "all_numbers": _least(counted(full), numbers), "all_names": _least(counted(full), names),
        "worst": _least(counted(full), np.ones(len(weights), dtype=bool)), "nearness": matches.nearness[places],
        "answers": np.array([holds_answer(kind, text) for text in texts], dtype=np.float64),
        "answers_anew": np.array([holds_answer(kind, _anew(text, asked)) for text in texts], dtype=np.float64),
        "asked": matches.asked[places],
        "score": np.array([unit.quote.hit.score / best for unit in found]),
        "hit": np.array([_cosine(unit.quote.hit) for unit in found]),
        "first": np.array([1 / (1 + rank[unit.quote.hit.chunk_id]) for unit in found]),
        "meant": np.array([meant.get(unit.quote.hit.document.id, 0.0) for unit in found]),
        "cut": np.array([not unit.quote.complete for unit in found], dtype=np.float64),
        "question": np.array([text.endswith("?") for text in texts], dtype=np.float64),
        "short": np.array([len(terms(text)) < 4 for text in texts], dtype=np.float64),
        "fragment": np.array([unit.quote.kind == "fragment" for unit in found], dtype=np.float64),
        "tabular": tabular, "tabular_figure": tabular * figure, "tabular_numbered": tabular * float(numbers.any()),
        "figures_asked": figure * np.array([min(_figures(text), 3) / 3 for text in texts]),
        "prose_table": tabular * (1 - figure), "cell": np.zeros(len(found)),
        "worded_table": tabular * float(asks_for_words(question)),
    }  # fmt: skip
    for name in ("own", "near", "nearness", "first", "meant", "asked", "near_numbers"):
        known[f"tabular_{name}"] = tabular * known[name]
    nothing = np.zeros(len(found))
    return np.stack([known.get(name, nothing) for name in FEATURES], axis=1)


def _with_reading(evidence: Evidence, question: str, passages: Sequence[Passage], encoder: Encoder) -> Evidence:
    """With what the reader tells of the units that are most likely by all else; the others it would hardly choose."""
    units, weights = evidence.units, reader().rank
    likely = evidence.features @ np.array([weights[name] for name in FEATURES])
    wanted: dict[int, set[int]] = {}
    for unit in (units[place] for place in np.argsort(-likely, kind="stable")[:_MOST_READ]):
        at = unit.quote.position
        wanted.setdefault(unit.quote.passage, set()).update((at - 1, at, at + 1, *unit.near))
    lines = [quote for quote in evidence.every if quote.position in wanted.get(quote.passage, ())]
    groups = [(passages[place], list(some)) for place, some in groupby(lines, key=lambda quote: quote.passage)]
    contexts = [passage.context for passage, _ in groups]
    texts = [[quote.text for quote in some] for _, some in groups]
    told = np.concatenate(encoder.read(question, list(zip(contexts, texts, strict=True))))
    known = {(quote.passage, quote.position): row for quote, row in zip(lines, told, strict=True)}
    read = np.array([known.get((unit.quote.passage, unit.quote.position), _UNREAD) for unit in units])
    return replace(evidence, features=_with_columns(evidence, read), spans=read[:, [START, END]])


def _with_columns(evidence: Evidence, read: Floats) -> Floats:
    """The features with the reader's; read: (units, 4)."""
    support, span = np.clip(read[:, [SUPPORT, SPAN]].T, -_SUREST, _SUREST)
    tabular = evidence.column("tabular")
    known = {
        "read": support, "read_share": _shares(support), "tabular_read": tabular * support,
        "span": span, "span_share": _shares(span), "tabular_span": tabular * span,
    }  # fmt: skip
    features = evidence.features.copy()
    features[:, [FEATURES.index(name) for name in known]] = np.stack(list(known.values()), axis=1)
    return features


def _shares(odds: Floats) -> Floats:
    """Log odds against none as probabilities of each to be the one, or none."""
    raised = np.exp(odds)
    found: Floats = raised / (1 + raised.sum())
    return found


def _least(matches: Floats, which: np.ndarray) -> Floats:
    """The least match of some words for each unit; 1 where there are none of these."""
    found: Floats = matches[:, which].min(axis=1) if which.any() else np.ones(len(matches))
    return found


def _anew(text: str, asked: set[str]) -> str:
    """A text without the words that the question has."""
    return " ".join(word for word in text.split() if asked.isdisjoint(terms(word)))


def _cosine(hit: Hit) -> float:
    """The cosine of a hit where its search knew it, 0 where not."""
    found = hit.score if hit.score_kind == "cosine" else hit.scores.get("dense", 0.0)
    return float(found) if math.isfinite(found) else 0.0


def _figures(text: str) -> int:
    return sum(any(character.isdigit() for character in word) for word in text.split())
