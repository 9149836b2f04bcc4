"""Answers without a language model: the sentences of the passages that answer best, quoted word for word.

Each sentence gets a score from its meaning, its words and what kind of answer the question asks for; a second formula
estimates from the best of them how probable it is that the question is answered here at all. Both are logistic
regressions fitted once on the even articles of XQuAD, laid out as pages of a PDF, save for the weights of rows,
fragments and questions, of which XQuAD has too few: those are set by hand. The weights stand below as data;
`python -m tests.benchmarks.answering` measures them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Hit
from rag_core.generation.cues import answer_type, holds_answer
from rag_core.generation.passages import Passage, Quote, merge_hits, quotes
from rag_core.text.lexical import Bm25, coverage, numbers, terms

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of unit length, float32 (n, d)."""

_LEANS_BACK = re.compile(
    r"""["'“‘(]*(?:it|its|he|his|she|her|they|their|this|these|those|that|such|both|there|the\s(?:former|latter)
    |another|the\sother|however)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_FIGURES = ("number", "money", "percent", "date")  # what rows of tables hold
_PRONOUN = re.compile(r"(?:it|he|she|they|its|his|her|their|this|these)\b", re.IGNORECASE)
# Names and years of a question: capitals and figures anywhere but on its first word.
_NAME = re.compile(r"(?<=[\w,;:'\"“(] )[\"'“(]*[A-Z0-9][\w'’.-]*")


@dataclass(frozen=True, slots=True)
class Extraction:
    """Quoted sentences, best first, and the probability (0..1) that they answer the question."""

    quotes: tuple[Quote, ...]
    confidence: float
    abstained: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """Every sentence that could be quoted. Row i of `features` describes candidate i, in the order of WEIGHTS."""

    candidates: tuple[Quote, ...]
    features: NDArray[np.float64]


WEIGHTS: dict[str, float] = {
    "cosine": 3.2, "context": 3.4, "bm25": 4.25, "coverage": 3.9, "type": 1.5, "hit": 3.4, "short": -1.4, "row": -1.0,
    "fragment": -1.2, "cut": -0.5, "question": -1.5,
}  # fmt: skip
"""Of a sentence's score; softmax over all sentences estimates which one holds the answer."""

BELIEF: dict[str, float] = {
    "cosine": 3.14, "context": 1.28, "coverage": 2.61, "type": 0.69, "all_coverage": 1.14, "hit_coverage": 2.12,
    "names": 1.42, "best_hit": 1.13, "bias": -8.19,
}  # fmt: skip
"""Of the log odds that the quoted sentences hold the answer."""

ABSTAIN_BELOW = 0.17
"""Lower probabilities are not answered: half of the questions that only look as if the library knew, and nearly all
that it knows nothing of, fall below."""

_ENOUGH = 0.7  # quoting ends when the sentences quoted hold the answer with this probability
_WORTH = 0.15  # a further sentence must be this probable, relative to the first
_RIVAL = 0.5  # a sentence of another document that is this probable, relative to the first, is always quoted
_SAME = 0.6  # sentences that share this much of their terms say the same thing
_LONGEST_LEAD_IN = 300  # characters of the sentence before that are quoted along with "It ..." and "They ..."


def extract(question: str, hits: Sequence[Hit], encode: Encode, *, max_sentences: int = 3) -> Extraction:
    """Quote what answers a question best, 1 to `max_sentences` sentences, or abstain where nothing fits."""
    evidence = gather(question, hits, encode)
    if not evidence.candidates:
        return Extraction((), 0.0, True)
    scores = evidence.features @ np.asarray(list(WEIGHTS.values()))
    chosen = choose(evidence.candidates, scores, max_sentences)
    confidence = belief(question, hits, evidence.features[chosen[0]])
    if confidence < ABSTAIN_BELOW:
        return Extraction((), confidence, True)
    return Extraction(tuple(_lead_in(evidence.candidates, index, chosen) for index in chosen), confidence, False)


def choose(candidates: Sequence[Quote], scores: NDArray[np.float64], most: int) -> list[int]:
    """Indices of the sentences to quote, best first: few when the first is clearly best, none that repeats another."""
    shares = np.exp(scores - scores.max())
    total, covered = float(shares.sum()), 0.0
    chosen: list[int] = []
    for index in np.argsort(-scores, kind="stable").tolist():
        if len(chosen) == most or (chosen and shares[index] < _WORTH):
            break
        if any(_same(candidates[index].text, candidates[other].text) for other in chosen):
            covered += shares[index] / total
            continue
        rival = all(candidates[index].hit.document.id != candidates[other].hit.document.id for other in chosen)
        if covered < _ENOUGH or (rival and shares[index] >= _RIVAL):
            chosen.append(index)
            covered += shares[index] / total
    return chosen


def belief(question: str, hits: Sequence[Hit], best: NDArray[np.float64]) -> float:
    """Probability that the question is answered by its best sentence, whose features are `best` (len(WEIGHTS),)."""
    known = dict(zip(WEIGHTS, best.tolist(), strict=True))
    wanted = terms(question)
    held = [set(terms(f"{hit.document.title} {hit.text}")) for hit in hits]
    everywhere = set().union(*held)
    names = [term for name in _NAME.findall(question) for term in terms(name)]
    known |= {
        "all_coverage": coverage(wanted, everywhere),
        "hit_coverage": max(coverage(wanted, some) for some in held),
        "names": coverage(names, everywhere),
        "best_hit": known["hit"],
        "bias": 1.0,
    }
    return 1 / (1 + math.exp(-sum(weight * known[name] for name, weight in BELIEF.items())))


def gather(question: str, hits: Sequence[Hit], encode: Encode) -> Evidence:
    """Split the hits into sentences and measure each against the question."""
    passages = merge_hits(hits)
    every = quotes(passages)
    headings = _headings(passages, every)
    candidates = [quote for quote in every if quote.kind != "heading"]
    if not candidates:
        return Evidence((), np.zeros((0, len(WEIGHTS))))
    contexts = [_with_context(quote, every, headings) for quote in candidates]
    hit_scores = _hit_scores(question, hits, encode)
    vectors = encode([question, *(quote.text for quote in candidates), *contexts])
    cosines = np.asarray(vectors[1:] @ vectors[0], dtype=np.float64)
    plain, framed = cosines[: len(candidates)], cosines[len(candidates) :]
    wanted = terms(question)
    held = [terms(quote.text) for quote in candidates]
    framed_terms = [terms(context) for context in contexts]
    kind = answer_type(question)
    columns = [
        plain,
        framed,
        Bm25(held).scores(wanted),
        [coverage(wanted, some) for some in framed_terms],
        [float(holds_answer(kind, quote.text)) for quote in candidates],
        [hit_scores[quote.hit.chunk_id] for quote in candidates],
        [float(len(some) < 4) for some in held],
        [float(quote.kind == "row" and kind not in _FIGURES) for quote in candidates],
        [float(quote.kind == "fragment") for quote in candidates],
        [float(not quote.complete) for quote in candidates],
        [float(quote.text.endswith("?")) for quote in candidates],
    ]
    return Evidence(tuple(candidates), np.asarray(columns, dtype=np.float64).T)


def _hit_scores(question: str, hits: Sequence[Hit], encode: Encode) -> dict[str, float]:
    """Cosine of every hit, as its search knew it: kinds of score cannot be compared."""
    known = {hit.chunk_id: hit.score if hit.score_kind == "cosine" else hit.scores.get("dense") for hit in hits}
    cosines = {chunk_id: cosine for chunk_id, cosine in known.items() if cosine is not None}
    if len(cosines) == len(known):
        return cosines
    vectors = encode([question, *(hit.text for hit in hits)])
    return dict(zip((hit.chunk_id for hit in hits), (vectors[1:] @ vectors[0]).tolist(), strict=True))


def _same(one: str, other: str) -> bool:
    """Whether two sentences say the same: most terms shared, and no number that only one of them has."""
    first, second = set(terms(one)), set(terms(other))
    if not first or not second:
        return one == other
    return numbers(one) == numbers(other) and len(first & second) >= _SAME * len(first | second)


def _lead_in(candidates: Sequence[Quote], index: int, chosen: Sequence[int]) -> Quote:
    """A quote together with the sentence before it where it leans on that one ("It was built in 1885.")."""
    quote = candidates[index]
    before = candidates[index - 1] if index else quote
    neighbours = (before.passage, before.position + 1) == (quote.passage, quote.position)
    whole = before.kind == quote.kind == "sentence" and before.complete and before.start >= quote.hit.start
    if not (neighbours and whole and index - 1 not in chosen and _PRONOUN.match(quote.text)):
        return quote
    if len(before.text) > _LONGEST_LEAD_IN or _PRONOUN.match(before.text):
        return quote
    return replace(quote, text=f"{before.text} {quote.text}", start=before.start)


def _headings(passages: Sequence[Passage], every: Sequence[Quote]) -> dict[tuple[int, int], str]:
    """The heading in force for each sentence, by passage and position: the last one before it, else the section."""
    found: dict[tuple[int, int], str] = {}
    current = ""
    for quote in every:
        if quote.position == 0:
            current = passages[quote.passage].section
        if quote.kind == "heading":
            current = quote.text
        found[quote.passage, quote.position] = current
    return found


def _with_context(quote: Quote, every: Sequence[Quote], headings: dict[tuple[int, int], str]) -> str:
    """A sentence with what a reader would know on reaching it: title, heading, and the sentence it leans on."""
    parts = [quote.hit.document.title, headings.get((quote.passage, quote.position), "")]
    if quote.kind == "row" or _LEANS_BACK.match(quote.text):
        before = (other for other in every if (other.passage, other.position) == (quote.passage, quote.position - 1))
        parts += [other.text for other in before if other.kind != "heading"]
    return ". ".join(dict.fromkeys(part for part in (*parts, quote.text) if part))
