"""Which of two answers is said: what the reader quotes, or what a language model wrote of the reader's lines.

Both fail on different questions. For each a logistic regression estimates how probable it is that it is right, from
what the reader thinks of its own choice and of the line that the model's sentence stands on, how far the line holds the
sentence, and whether the two agree. The weights are set by hand. Of 76 tuning questions (weighted for how they were
drawn) a model of 1.5 billion parameters was asked 53; the choice is right on .61 of them all and wrong on .15, quoting
on .58 and .13, and what `tests.benchmarks.fit_written` fits around the weights did no better on questions kept out.

A sentence that another line than the quoted one surely holds is said before the quote, where it has no figures or the
reader takes one of them for the answer: of 12 such, most of them asked of two novels and some papers, 11 were right,
and seven quotes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rag_core.answering.cues import asks_for_words
from rag_core.answering.grounding import Stand
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.composing import Composition
from rag_core.answering.strategies.confidence_model import trust
from rag_core.answering.strategies.extractive import Extraction, Reading
from rag_core.text.numbers import numbers
from rag_core.text.terms import terms

PATH = Path(__file__).with_name("model_choice.json")
SIGNS = (
    "refused", "right", "answerable", "line_worse", "line_first", "held", "unheld", "figures", "words", "span",
    "agrees", "asks_words",
)  # fmt: skip
"""refused: whether the model found nothing; all that is of its sentence is 0 then. right, answerable: log odds of the
reader for what it quotes, and for the passages. line_worse: by how much they are lower for the line that the sentence
stands on; line_first: whether that is quoted too. held: log odds that the line holds the sentence; unheld: whether a
figure stands nowhere. figures: the share of its figures that the reader takes for the answer, in a lead, its very
words, or what is quoted; words: the share of what it says beyond the question that is quoted too; span: the share of
the reader's very words that it says; agrees: all three together. asks_words: whether what is
asked for is no figure."""

_SUREST, _WORST = 6.0, -3.0
_SURELY = 2.0  # log odds that a line holds a sentence, by which the reader's other choice of a line is outdone
_UNKNOWN = 0.5  # a share of nothing


@dataclass(frozen=True, slots=True)
class Weights:
    """What `model_choice.json` holds: weights of the log odds that the model, and that what is quoted, is right, by
    sign, and the least probability at which either is an answer where the reader alone would give none."""

    model: Mapping[str, float]
    quoted: Mapping[str, float]
    answer_from: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether the model's sentence is said or what is quoted, how probable it is that this is right, and whether that
    is `enough` for an answer."""

    is_models: bool
    right: float
    enough: bool


@lru_cache(maxsize=1)
def weights() -> Weights:
    """The weights, read once."""
    return Weights(**json.loads(PATH.read_text(encoding="utf-8")))


def choose(told: Mapping[str, float], *, quotes: bool) -> Choice:
    """Choose by signs; `quotes`: whether what is quoted is an answer for the reader by itself."""
    model = 0.0 if told["refused"] or told["unheld"] else _probability(told, weights().model)
    quoted = _probability(told, weights().quoted)
    right = max(model, quoted)
    enough = quotes or right >= weights().answer_from
    # Of another line small models say the figure of another year or row: such must be the reader's too.
    outdoes = model > 0 and not told["line_first"] and told["held"] >= _SURELY and told["figures"] > 0
    # What is no answer is said with its doubt: a sentence that its line rather holds is nearer than a line alone.
    return Choice(outdoes or model > quoted if enough else model > 0 and told["held"] > 0, right, enough)


def _probability(told: Mapping[str, float], known: Mapping[str, float]) -> float:
    return 1 / (1 + math.exp(-(known["bias"] + sum(known[name] * told[name] for name in SIGNS))))


def refusal_signs(question: str, reading: Reading) -> dict[str, float]:
    """The signs where the model says that it found nothing."""
    return dict.fromkeys(SIGNS, 0.0) | {"refused": 1.0} | _of_question(question, reading)


def signs(question: str, reading: Reading, said: Extraction, sentence: str, stand: Stand) -> dict[str, float]:
    """What speaks for and against a model's `sentence`, by name; `said` is what is quoted of the reading."""
    evidence, made = reading.evidence, reading.made
    place = _unit_of(reading, stand.quote)
    unit = evidence.units[place].quote
    cells = tuple(_said_cells(reading, place, sentence))
    alone = Composition((place,), made.scores, (unit,), "", (), cells, is_computed=False)
    quoted = " ".join([said.lead, *(quote.text for quote in said.quotes), *(row.text for row in said.rows)])
    asked = set(terms(question))
    new = set(terms(sentence)) - asked
    first = evidence.units[made.chosen[0]].quote.text
    words = first[slice(*map(int, evidence.spans[made.chosen[0]]))]
    span = set(terms(words)) - asked
    figures = numbers(sentence) - numbers(question)
    meant = next(filter(None, (numbers(text) - numbers(question) for text in (said.lead, words, quoted))), set())
    own = _of_question(question, reading)
    known = {
        "figures": len(figures & meant) / len(figures) if figures else None,
        "words": len(new & set(terms(quoted))) / len(new) if new else None,
        "span": len(span & set(terms(sentence))) / len(span) if span else None,
    }
    shares = {name: _UNKNOWN if share is None else share for name, share in known.items()}
    agrees = {name: 1.0 if share is None else share for name, share in known.items()}
    return own | shares | {
        "refused": 0.0, "line_first": float(place == made.chosen[0]),
        "line_worse": max(_WORST, min(_odds(trust(evidence, alone).right) - own["right"], 0.0)),
        "held": _odds(stand.score), "unheld": float(not stand.holds_figures),
        "agrees": agrees["figures"] * agrees["words"] * min(agrees["span"] + _UNKNOWN, 1.0),
    }  # fmt: skip


def _of_question(question: str, reading: Reading) -> dict[str, float]:
    return {
        "right": _odds(reading.trust.right), "answerable": _odds(reading.trust.answerable),
        "asks_words": float(asks_for_words(question)),
    }  # fmt: skip


def _unit_of(reading: Reading, quote: Quote) -> int:
    """The unit that a quote is, or the one on its page that shares most of its words."""
    same = [
        place
        for place, unit in enumerate(reading.evidence.units)
        if (unit.quote.hit.document.id, unit.quote.hit.page) == (quote.hit.document.id, quote.hit.page)
    ]
    wanted = set(terms(quote.text))

    def likeness(place: int) -> tuple[bool, int]:
        unit = reading.evidence.units[place].quote
        return unit.start < quote.end and quote.start < unit.end, len(wanted & set(terms(unit.text)))

    return max(same or range(len(reading.evidence.units)), key=likeness)


def _said_cells(reading: Reading, place: int, sentence: str) -> Sequence[int]:
    """The cells of a unit whose figures a sentence says."""
    asked = reading.evidence.asked
    told = numbers(sentence)
    return [one for one in reading.evidence.cells_in(place) if asked and numbers(asked.cells[one].part.text) & told]


def _odds(probability: float) -> float:
    clipped = min(max(probability, 1e-4), 1 - 1e-4)
    return max(-_SUREST, min(_SUREST, math.log(clipped / (1 - clipped))))
