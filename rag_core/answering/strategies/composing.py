"""The extractive answer that evidence makes: which units are quoted, and what their figures say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rag_core.answering.cues import answer_type, asks_for_words, holds_answer
from rag_core.answering.matching import Floats, counted
from rag_core.answering.passages import Quote, section_at
from rag_core.answering.strategies.comparing import asks_nothing_else, compared, difference, told_together, with_figures
from rag_core.answering.strategies.features import FEATURES, FIGURES, Evidence
from rag_core.answering.strategies.headings import under_question
from rag_core.answering.strategies.listing import announced, whole_list, whole_steps
from rag_core.answering.strategies.spans import stands_alone
from rag_core.answering.strategies.weights import reader
from rag_core.answering.tables.computing import Computed, computed
from rag_core.answering.tables.format_amount import said
from rag_core.answering.tables.matching_cells import periods_of
from rag_core.retrieval.understanding import kind_of
from rag_core.tables.question_words import asks_whether
from rag_core.text.numbers import numbers
from rag_core.text.sentences import LIST_ITEM
from rag_core.text.terms import terms

MOST_WORDS, MOST_LISTED_WORDS = 60, 200
"""Of an answer that is no list or summary, and of a list that was asked for."""

_PRONOUN = re.compile(r"(?:it|he|she|they|its|his|her|their|this|these)\b", re.IGNORECASE)
_LONGEST_LEAD_IN = 120  # characters of the sentence before that are quoted along with "It ..." and "They ..."
_SAME = 0.6  # sentences that share this much of their terms say the same thing
_CLEARLY = 0.5  # of a row's cells, the share of probability that the best must have to be said
_ADDS = 0.04  # of the question's words that a further quote must match
_LONGEST_ITEM = 12  # words of what is listed without having been asked for as a list
_BEHIND_LEAD = 2  # quotes that support a lead
_NEW = 2.0  # what a further quote gains by matching words of the question that none before it has
_UNDER_QUESTION = 5.0  # what a unit gains by standing under a heading that is the question
_FAR = 3.0  # behind the best: a further quote, or figures set side by side, that score less are of something else


@dataclass(frozen=True, slots=True)
class Row:
    """What is said of one of the things that are compared, and where that stands."""

    name: str
    text: str
    quote: Quote


@dataclass(frozen=True, slots=True)
class Composition:
    """An answer before it is judged. chosen: its units, the best first; scores: of all units. cells: the figures that
    the lead says.

    rows: of a comparison, which say what its quotes do.
    """

    chosen: tuple[int, ...]
    scores: Floats
    quotes: tuple[Quote, ...]
    lead: str
    lead_quotes: tuple[Quote, ...]
    cells: tuple[int, ...]
    is_computed: bool
    rows: tuple[Row, ...] = ()

    @property
    def sets_sentences_apart(self) -> bool:
        """Whether things are compared by the figures that sentences tell of them."""
        return bool(self.rows and self.lead and not self.cells)

    @property
    def text(self) -> str:
        """What is said, without numbers of citations."""
        said = [f"{row.name} {row.text}" for row in self.rows] or [quote.text for quote in self.quotes]
        return " ".join(filter(None, (self.lead, *said)))


def compose(
    question: str, evidence: Evidence, scores: Floats, most: int, *, with_computing: bool = True
) -> Composition:
    """The answer that the evidence gives, trusted or not: at most `most` units, two behind a figure that is said."""
    is_under = under_question(question, evidence.units)
    scores = scores + _UNDER_QUESTION * is_under
    asked = evidence.asked if with_computing else None
    result = computed(question, asked, evidence.cell_scores, evidence.weights) if asked else None
    if sides := compared(question, evidence, scores):
        beside = _side_by_side(question, evidence, scores, sides)
        apart = beside.sets_sentences_apart or _of_several(evidence, sides)
        if apart or asks_nothing_else(question, list(sides)) or not (result or told_together(sides, evidence)):
            return beside
    chosen = _rows_of(evidence, result) if result else []
    if result and result.compares and chosen and scores[chosen].max() < scores.max() - _FAR:
        result, chosen = None, []
    chosen = chosen or choose(evidence, scores, most)
    lead, cells = (result.text, result.cells) if result else ("", ())
    if not result and not asks_for_words(question):
        lead, cells = _cell(evidence, chosen[0], question)
    chosen = _behind_lead(evidence, chosen, result is None)[: min(most, _BEHIND_LEAD)] if lead else chosen
    first = None if lead else _list(evidence, chosen, question, is_asked=bool(is_under[chosen[0]]))
    if first is None:
        first = _named(evidence, _lead_in(evidence, chosen[0], chosen), question)
    else:
        chosen = [one for one in chosen if one == chosen[0] or not within(evidence.units[one].quote, first)]
    chosen = chosen if result else _in_order(evidence, chosen)
    others = (_named(evidence, evidence.units[index].quote, question) for index in chosen[1:])
    lead_quotes = tuple(cell_quote(evidence, place) for place in cells)
    return Composition(tuple(chosen), scores, (first, *others), lead, lead_quotes, cells, result is not None)


def closest(evidence: Evidence, made: Composition) -> Quote | None:
    """What comes nearest to an answer where there is none, of what says something by itself."""
    quotes = {one: unit.quote for one, unit in enumerate(evidence.units)} | {made.chosen[0]: made.quotes[0]}
    telling = [one for one, quote in quotes.items() if stands_alone(quote)]
    return quotes[max(telling, key=lambda one: made.scores[one])] if telling else None


def _list(evidence: Evidence, chosen: Sequence[int], question: str, *, is_asked: bool) -> Quote | None:
    """The list that the first unit introduces, or is an item of: where one is asked for, or two short items answer."""
    quote, *others = (evidence.units[index].quote for index in chosen)
    is_asked = is_asked or kind_of(question) == "list"
    place, most = evidence.every.index(quote), MOST_LISTED_WORDS if is_asked else MOST_WORDS
    whole = whole_list(evidence.every, place, most)
    if whole is None and is_asked:
        whole = whole_steps(evidence.every, place, most)
    if (
        whole is None
        or is_asked
        or quote.text.endswith(":")
        or (quote.kind != "sentence" and whole.start == quote.start)
    ):
        return whole
    items = [one for one in (quote, *others) if within(one, whole)]
    is_short = all(len(one.text.split()) <= _LONGEST_ITEM for one in items)
    return whole if len(items) > 1 and is_short and answer_type(question) not in FIGURES else None


def _in_order(evidence: Evidence, chosen: Sequence[int]) -> list[int]:
    """The best first; then as they stand, those of its document before those of others."""
    hits = [evidence.units[one].quote.hit for one in chosen]
    rank = {hit.document.id: place for place, hit in reversed(list(enumerate(hits)))}

    def place(one: int) -> tuple[int, int, int]:
        quote = evidence.units[one].quote
        return rank[quote.hit.document.id], quote.hit.page, quote.start

    return [chosen[0], *sorted(chosen[1:], key=place)]


def within(quote: Quote, other: Quote) -> bool:
    """Whether a quote is part of another."""
    return quote.passage == other.passage and other.start <= quote.start and quote.end <= other.end


def _of_several(evidence: Evidence, sides: Mapping[str, int]) -> bool:
    """Whether the things compared are each told of in a document of their own."""
    return len({evidence.units[index].quote.hit.document.id for index in sides.values()}) == len(sides)


def _side_by_side(question: str, evidence: Evidence, scores: Floats, sides: Mapping[str, int]) -> Composition:
    """A row for each thing compared, its figure where one is clear; the best of them is what trust looks at."""
    rows: list[Row] = []
    cells: list[int] = []
    for name, index in with_figures(question, sides, evidence, scores).items():
        text, places = _cell(evidence, index, question)
        quote = cell_quote(evidence, places[0]) if places else evidence.units[index].quote
        rows.append(Row(name, text or quote.text, quote))
        cells += places
    chosen = tuple(sorted(sides.values(), key=lambda index: -scores[index]))
    asked = evidence.asked.cells if evidence.asked else ()
    lead = difference(question, list(sides), [asked[place] for place in cells], [row.quote for row in rows])
    quotes = tuple(evidence.units[index].quote for index in chosen)
    lead_quotes = tuple(row.quote for row in rows) if lead else ()
    return Composition(chosen, scores, quotes, lead, lead_quotes, tuple(cells), False, tuple(rows))


def _behind_lead(evidence: Evidence, chosen: Sequence[int], is_cell: bool) -> list[int]:
    """What supports a lead: where it says one figure, its row, what matches words that the row does not, and what
    another document says instead."""
    if not is_cell:
        return list(chosen)
    return [one for one in chosen if one == chosen[0] or adds(evidence, one, chosen[0])]


def adds(evidence: Evidence, one: int, first: int) -> bool:
    """Whether a unit matches words of the question that the first does not, or says otherwise in another document."""
    gain = float(np.maximum(counted(evidence.near[one]) - counted(evidence.near[first]), 0) @ evidence.weights)
    return gain > _ADDS or says_otherwise(evidence.units[one].quote, evidence.units[first].quote)


def scored(evidence: Evidence) -> Floats:
    """The score of each unit, (units,); the softmax of them estimates which one holds the answer."""
    weights = reader().rank
    found: Floats = evidence.features @ np.array([weights[name] for name in FEATURES])
    return found


def choose(evidence: Evidence, scores: Floats, most: int) -> list[int]:
    """Indices of the units to quote, best first: none that repeats another, together at most `MOST_WORDS`.

    After the first, what matches words of the question that none before it has gains, and what is far behind is left
    out.
    """
    matched = counted(evidence.near)
    have = np.zeros(matched.shape[1])
    chosen: list[int] = []
    words = 0
    left = set(range(len(scores)))
    while left and len(chosen) < most:
        gains = scores + (_NEW * (np.maximum(matched - have, 0) @ evidence.weights) if chosen else 0.0)
        index = max(left, key=lambda one: (gains[one], -one))
        if chosen and gains[index] < scores[chosen[0]] - _FAR:
            break
        left.remove(index)
        quote = evidence.units[index].quote
        length = len(quote.text.split())
        if chosen and words + length > MOST_WORDS:
            continue
        if any(says_the_same(quote, evidence.units[other].quote) for other in chosen):
            continue
        chosen.append(index)
        have = np.maximum(have, matched[index])
        words += length
    return chosen


def _cell(evidence: Evidence, index: int, question: str) -> tuple[str, tuple[int, ...]]:
    """What the figure asked for in a row says, and its place; "" where it is not clear which one it is.

    Who names no year means the latest. A question for a date or a time is answered by such a figure alone.
    """
    places, kind = evidence.cells_in(index), answer_type(question)
    if not evidence.units[index].tabular or not places or evidence.asked is None:
        return "", ()
    chances = np.exp(evidence.cell_scores[places])
    best = places[int(np.argmax(chances))]
    of_years = [] if periods_of(question) else evidence.asked.of_years(best, places)
    clear = float(chances[[places.index(place) for place in of_years]].sum()) if of_years else chances.max()
    if clear < _CLEARLY * chances.sum():
        return "", ()
    best = of_years[-1] if of_years else best
    text, printed = said(evidence.asked.cells[best]), evidence.asked.cells[best].part.text
    if not any(character.isdigit() for character in printed) or (kind == "date" and not holds_answer(kind, printed)):
        return "", ()  # a dash says nothing by itself
    return (text, (best,)) if text else ("", ())


def _rows_of(evidence: Evidence, result: Computed) -> list[int]:
    """The units that hold the figures of a result, as they are named there."""
    found = [index for index in range(len(evidence.units)) if set(result.cells) & set(evidence.cells_in(index))]
    order = {place: position for position, place in enumerate(result.cells)}
    return sorted(found, key=lambda index: min(order[one] for one in evidence.cells_in(index) if one in order))


def cell_quote(evidence: Evidence, place: int) -> Quote:
    """A figure as what a citation opens."""
    if evidence.asked is None:
        raise ValueError("There are no cells.")
    cell = evidence.asked.cells[place]
    row = next(
        quote for quote in evidence.every
        if quote.passage == cell.passage and quote.start <= cell.part.start < quote.end
    )  # fmt: skip
    return replace(row, text=cell.part.text, start=cell.part.start, end=cell.part.end, kind="row")


def of_cell(evidence: Evidence, made: Composition, place: int) -> Composition:
    """The same with another figure of its row."""
    lead = said(evidence.asked.cells[place]) if evidence.asked else ""
    return replace(made, lead=lead, lead_quotes=(cell_quote(evidence, place),), cells=(place,))


def _alike(one: str, other: str) -> bool:
    """Whether most terms of two sentences are shared, numbers apart."""
    first, second = ({term for term in terms(text) if not term[:1].isdigit()} for text in (one, other))
    return len(first & second) >= _SAME * len(first | second)


def says_otherwise(quote: Quote, other: Quote) -> bool:
    """Whether it says the same as a quote of another document, with other figures."""
    elsewhere = quote.hit.document.id != other.hit.document.id
    return elsewhere and _alike(quote.text, other.text) and numbers(quote.text) != numbers(other.text)


def says_the_same(quote: Quote, other: Quote) -> bool:
    """Whether two sentences or rows share most terms, and no number stands in one of them alone."""
    (first, figures), (second, others) = _held(quote.text), _held(other.text)
    if not first or not second:
        return quote.text == other.text
    return figures == others and len(first & second) >= _SAME * len(first | second)


@lru_cache(maxsize=1024)  # each unit is held against several quotes
def _held(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms and the numbers of a text."""
    return frozenset(terms(text)), frozenset(numbers(text))


def _named(evidence: Evidence, quote: Quote, question: str) -> Quote:
    """A quote that answers by where it stands, behind the section's or the document's name: one that says nothing but
    what is asked ("Vegan."); and, where it is asked whether something is so, an item ("What is not covered: Floods")
    and what answers another question."""
    section, title = section_at(quote.hit, quote.start), quote.hit.document.title
    is_other = section.endswith("?") and not set(terms(section)) <= evidence.asked_terms
    if asks_whether(question) and (is_other or LIST_ITEM.match(quote.exact)):
        name = section
    elif set(terms(quote.text)) <= evidence.asked_terms:
        name = next((one for one in (section, title) if set(terms(one)) - evidence.asked_terms), "")
    else:
        name = ""
    return replace(quote, text=f"{announced(name)} {quote.text}") if name else quote


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
