"""What passages hold that could answer a question: their units with all that speaks for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.answering.cues import answer_type, asks_for_words, holds_answer
from rag_core.answering.encoding import Encoder
from rag_core.answering.matching import Floats, Matches, counted, matched
from rag_core.answering.passages import merge_hits, quotes, with_heads
from rag_core.answering.strategies.features import FEATURES, FIGURES, Evidence, with_cells
from rag_core.answering.strategies.headings import heading_features
from rag_core.answering.strategies.query_intent import is_unmeant
from rag_core.answering.strategies.reader_scores import with_reading
from rag_core.answering.strategies.spans import Unit, units
from rag_core.answering.strategies.weights import reader
from rag_core.answering.tables.matching_cells import asked_cells
from rag_core.domain import Hit
from rag_core.text.bm25 import Bm25
from rag_core.text.days import find_days
from rag_core.text.terms import terms


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
    leans = [[every[starts[unit.quote.passage] + one] for one in unit.near] for unit in found]
    above = heading_features(found, leans, passages, matches, weights)
    features = _features(question, found, hits, matches, places, near, full, weights, meant or {}, above)
    asked = asked_cells(question, passages, matches, weights, meant or {})
    evidence = Evidence(
        tuple(found), features, tuple(every), near, full, weights, matches, asked, np.zeros(0), np.zeros((0, 2))
    )
    weights_of_cells = reader().cell
    read = with_reading(with_cells(evidence, weights_of_cells, question), question, passages, encoder)
    return with_cells(read, weights_of_cells, question)


def _rarities(matches: Matches, found: Sequence[Unit]) -> Floats:
    """How much each word counts: its inverse document frequency among the units; they sum to 1."""
    by_days = any(word.day for word in matches.words)
    index = Bm25([_terms_of(unit.quote.text, by_days=by_days) for unit in found])
    raw = np.array([
        index.weight(word.day.name) if word.day else max(map(index.weight, terms(word.text)), default=0.0)
        for word in matches.words
    ])  # fmt: skip
    total: Floats = raw / max(float(raw.sum()), 1e-9)
    return total


def _terms_of(text: str, *, by_days: bool) -> list[str]:
    """Its search terms and, `by_days`, those of the days that it names."""
    return [*terms(text), *(day.name for day in find_days(text) if by_days)]


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
    above: Mapping[str, Floats],
) -> Floats:
    """All columns but those of the reader, which are 0."""
    kind = answer_type(question)
    asked = set(terms(question))
    figure = float(kind in FIGURES)
    best = max(max(hit.score for hit in hits), 1e-9)
    rank = {hit.chunk_id: place for place, hit in enumerate(hits)}
    tabular = np.array([unit.tabular for unit in found], dtype=np.float64)
    texts = [unit.quote.text for unit in found]
    known = {
        **_match_features(matches, matches.own[places], near, full, weights), "nearness": matches.nearness[places],
        "answers": np.array([holds_answer(kind, text) for text in texts], dtype=np.float64),
        "answers_anew": np.array([holds_answer(kind, _anew(text, asked)) for text in texts], dtype=np.float64),
        "asked": matches.asked[places],
        "score": np.array([unit.quote.hit.score / best for unit in found]),
        "hit": np.array([_cosine(unit.quote.hit) for unit in found]),
        "first": np.array([1 / (1 + rank[unit.quote.hit.chunk_id]) for unit in found]),
        "meant": np.array([meant.get(unit.quote.hit.document.id, 0.0) for unit in found]),
        "unmeant": np.array([is_unmeant(unit.quote.hit.document.id, meant) for unit in found], dtype=np.float64),
        "cut": np.array([not unit.quote.complete for unit in found], dtype=np.float64),
        "question": np.array([text.endswith("?") for text in texts], dtype=np.float64),
        "short": np.array([len(terms(text)) < 4 for text in texts], dtype=np.float64),
        "fragment": np.array([unit.quote.kind == "fragment" for unit in found], dtype=np.float64),
        "tabular": tabular, "tabular_figure": tabular * figure,
        "tabular_numbered": tabular * float(any(word.is_number for word in matches.words)),
        "figures_asked": figure * np.array([min(_figures(text), 3) / 3 for text in texts]),
        "prose_table": tabular * (1 - figure), "cell": np.zeros(len(found)),
        "worded_table": tabular * float(asks_for_words(question)), **above,
    }  # fmt: skip
    for name in ("own", "near", "nearness", "first", "meant", "asked", "near_numbers"):
        known[f"tabular_{name}"] = tabular * known[name]
    nothing = np.zeros(len(found))
    return np.stack([known.get(name, nothing) for name in FEATURES], axis=1)


def _match_features(matches: Matches, own: Floats, near: Floats, full: Floats, weights: Floats) -> dict[str, Floats]:
    """How well units match the question's words: by themselves, with what is near, and with their heads."""
    numbers = np.array([word.is_number for word in matches.words], dtype=bool)
    names = np.array([word.is_name for word in matches.words], dtype=bool)
    return {
        "own": own @ weights, "near": near @ weights, "all": full @ weights,
        "own_share": counted(own) @ weights, "near_share": counted(near) @ weights,
        "all_share": counted(full) @ weights, "near_numbers": _least(counted(near), numbers),
        "all_numbers": _least(counted(full), numbers), "all_names": _least(counted(full), names),
        "worst": _least(counted(full), np.ones(len(weights), dtype=bool)),
    }  # fmt: skip


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
