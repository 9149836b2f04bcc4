"""Answers without a language model: what answers best among the passages' sentences and table rows, word for word.

Each unit gets a score from its evidence (see `evidence`), by weights that were fitted as a conditional logit (McFadden
1974) on questions whose answers are known; `trust` estimates from the evidence of those chosen how probable it is that
the question is answered at all. The weights are data, `reader.json`, made by `python -m tests.benchmarks.fit_reader`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.cells import cell_line
from rag_core.answering.strategies.evidence import FEATURES, Evidence, gather
from rag_core.answering.strategies.matching import Floats, counted
from rag_core.answering.strategies.trust import Trust, trust
from rag_core.answering.strategies.weights import reader
from rag_core.domain import Hit
from rag_core.text.numbers import numbers
from rag_core.text.terms import terms

MOST_WORDS = 60
"""Of an answer that is no list or summary."""

_PRONOUN = re.compile(r"(?:it|he|she|they|its|his|her|their|this|these)\b", re.IGNORECASE)
_LONGEST_LEAD_IN = 120  # characters of the sentence before that are quoted along with "It ..." and "They ..."
_SAME = 0.6  # sentences that share this much of their terms say the same thing
_NEW = 2.0  # what a further quote gains by matching words of the question that none before it has


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an answer is made of.

    lead: a sentence made from the first quote, "" where the quote says it itself. quotes: best first. confidence: the
    probability, 0..1, that they answer the question; where `abstained`, that the passages do. An abstention's quotes
    are the closest there is.
    """

    quotes: tuple[Quote, ...]
    confidence: float
    abstained: bool
    lead: str = ""


def extract(
    question: str,
    hits: Sequence[Hit],
    encode_tokens: EncodeTokens,
    *,
    meant: Mapping[str, float] | None = None,
    max_sentences: int = 3,
) -> Extraction:
    """Quote what answers a question best, 1 to `max_sentences` units, or abstain where nothing fits.

    meant: documents that the question means, by id, with how surely, 0..1.
    """
    evidence = gather(question, hits, encode_tokens, meant)
    if evidence is None:
        return Extraction((), 0.0, True)
    scores = scored(evidence)
    chosen = choose(evidence, scores, max_sentences)
    sure = trust(evidence, scores, chosen)
    first = _lead_in(evidence, chosen[0], chosen)
    if not sure.enough:
        near = sure.answerable >= reader().closest_from
        return Extraction((first,) if near else (), sure.answerable, True)
    others = (evidence.units[index].quote for index in chosen[1:])
    return Extraction((first, *others), sure.right, False, cell_line(evidence, chosen[0]))


def believed(
    question: str, hits: Sequence[Hit], encode_tokens: EncodeTokens, meant: Mapping[str, float] | None = None
) -> Trust:
    """How probable it is that the passages answer a question, and that an extractive answer is right."""
    evidence = gather(question, hits, encode_tokens, meant)
    if evidence is None:
        return Trust(0.0, 0.0, False)
    scores = scored(evidence)
    return trust(evidence, scores, choose(evidence, scores, 1))


def scored(evidence: Evidence) -> Floats:
    """The score of each unit, (units,); the softmax of them estimates which one holds the answer."""
    weights = reader().rank
    found: Floats = evidence.features @ np.array([weights[name] for name in FEATURES])
    return found


def choose(evidence: Evidence, scores: Floats, most: int) -> list[int]:
    """Indices of the units to quote, best first: none that repeats another, together at most `MOST_WORDS`.

    After the first, what matches words of the question that none before it has gains.
    """
    matched = counted(evidence.near)
    have = np.zeros(matched.shape[1])
    chosen: list[int] = []
    words = 0
    left = set(range(len(scores)))
    while left and len(chosen) < most:
        gains = scores + (_NEW * (np.maximum(matched - have, 0) @ evidence.weights) if chosen else 0.0)
        index = max(left, key=lambda one: (gains[one], -one))
        left.remove(index)
        quote = evidence.units[index].quote
        length = len(quote.text.split())
        if chosen and words + length > MOST_WORDS:
            continue
        if any(_same(quote.text, evidence.units[other].quote.text) for other in chosen):
            continue
        chosen.append(index)
        have = np.maximum(have, matched[index])
        words += length
    return chosen


def _same(one: str, other: str) -> bool:
    """Whether two sentences say the same: most terms shared, and no number that only one of them has."""
    first, second = set(terms(one)), set(terms(other))
    if not first or not second:
        return one == other
    return numbers(one) == numbers(other) and len(first & second) >= _SAME * len(first | second)


def _lead_in(evidence: Evidence, index: int, chosen: Sequence[int]) -> Quote:
    """A quote together with the sentence before it where it leans on that one ("It was built in 1885.")."""
    quote = evidence.units[index].quote
    before = evidence.units[index - 1].quote if index else quote
    neighbours = (before.passage, before.position + 1) == (quote.passage, quote.position)
    whole = before.kind == quote.kind == "sentence" and before.complete and before.start >= quote.hit.start
    if not (neighbours and whole and index - 1 not in chosen and _PRONOUN.match(quote.text)):
        return quote
    if len(before.text) > _LONGEST_LEAD_IN or _PRONOUN.match(before.text):
        return quote
    return replace(quote, text=f"{before.text} {quote.text}", start=before.start)
