"""Answers without a language model: what answers best among the passages' sentences and table rows, word for word.

Each unit gets a score from its evidence (see `evidence`), by weights that were fitted as a conditional logit (McFadden
1974) on questions whose answers are known; `trust` estimates from the evidence of those chosen how probable it is that
the question is answered at all. The weights are data, `reader.json`, made by `python -m tests.benchmarks.fit_reader`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from rag_core.answering.cues import answer_type, holds_answer
from rag_core.answering.encoding import Encoder
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.comparing import asks_nothing_else, difference, largest, measure_of, together
from rag_core.answering.strategies.composing import (
    MOST_WORDS,
    Composition,
    Row,
    adds,
    closest,
    compose,
    of_cell,
    says_otherwise,
    scored,
    within,
)
from rag_core.answering.strategies.confidence_model import Trust, trust
from rag_core.answering.strategies.doubt import doubt
from rag_core.answering.strategies.features import FIGURES, Evidence
from rag_core.answering.strategies.query_intent import QueryIntent, is_unmeant
from rag_core.answering.strategies.rows import cell_said, other_cells, row_said
from rag_core.answering.strategies.shortening import shortened
from rag_core.answering.tables.computing import adds_up, operation
from rag_core.answering.tables.format_result import verdict
from rag_core.answering.tables.matching_cells import periods_of, said_by, years_of
from rag_core.answering.tables.tables import Cell
from rag_core.domain import Hit
from rag_core.retrieval import Retrieval
from rag_core.retrieval.understanding import kind_of, topic_of
from rag_core.text.terms import terms

NO_AIM = QueryIntent()
_SURE, _READ_SURE = 0.7, 0.9  # probabilities that the quotes, and the first one by the reader, answer
_TWO = 2
_NEARLY = 0.5  # of the first quote's probability, what a further one must have


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an answer is made of.

    lead: a sentence made from figures, "" where the first quote says it itself; lead_quotes: where these stand. quotes:
    the best first. confidence: the probability, 0..1, that they answer the question; where `abstained`, that the
    passages do. An abstention's lead or first quote is what comes near, where anything does, and `doubt` why it may be
    no answer. rows: of a comparison, said instead of the quotes. others: the same for further parts of the question.
    told: what an answer's confidence comes from. about: what is asked of the things that are compared.
    """

    quotes: tuple[Quote, ...]
    confidence: float
    abstained: bool
    lead: str = ""
    lead_quotes: tuple[Quote, ...] = ()
    rows: tuple[Row, ...] = ()
    others: tuple[Extraction, ...] = ()
    told: Mapping[str, float] = field(default_factory=dict)
    doubt: str = ""
    about: str = ""


NOTHING_EXTRACTED = Extraction((), 0.0, True)


def extract(
    question: str,
    hits: Sequence[Hit],
    encoder: Encoder,
    *,
    aim: QueryIntent = NO_AIM,
    max_sentences: int = 3,
) -> Extraction:
    """Quote what answers a question best, 1 to `max_sentences` units, or abstain where nothing fits."""
    read = read_passages(question, hits, encoder, aim, max_sentences)
    return NOTHING_EXTRACTED if read is None else quoted_from(read, aim)


def quoted_from(read: Reading, aim: QueryIntent = NO_AIM) -> Extraction:
    """What of a reading is quoted, or that nothing of it answers."""
    made, sure = _shortened(read), read.trust
    if not sure.enough:
        return _near(read, made) if sure.close else replace(NOTHING_EXTRACTED, confidence=sure.answerable)
    quotes = _of_the_meant(_worth_saying(read, made.quotes), aim.meant)
    lead, lead_quotes = made.lead, made.lead_quotes
    if not made.is_computed and not made.rows and (cell := cell_said(read.evidence, quotes[0], bool(lead))):
        quotes, lead, lead_quotes = quotes[:1], cell[0], (cell[1],)
    single = lead_quotes[0] if len(lead_quotes) == 1 and not (made.is_computed or made.rows) else None
    return Extraction(
        _with_heads(read, quotes, single, lead), sure.right, False, lead, lead_quotes, made.rows, told=sure.told,
        about=read.about,
    )  # fmt: skip


def extract_each(
    question: str,
    each: Mapping[str, tuple[str, Sequence[Hit]]],
    encoder: Encoder,
    aim: QueryIntent = NO_AIM,
    *,
    least: int = 0,
    sure: float = 0.0,
) -> Extraction | None:
    """A row for each of several documents by its name, of what is asked of it and its passages; None where fewer than
    `least` are answered, 0 for all of them, with a probability of `sure` of being right, or there are none.

    Where of all of them figures come near, what these say is an abstention's lead. A question which has more is not
    answered by a row that has no figure.
    """
    read = {
        name: read_passages(asked, some, encoder, aim, 1, with_computing=False) for name, (asked, some) in each.items()
    }
    sides = {name: one for name, one in read.items() if one is not None}
    if not least and operation(question) == "larger":
        sides = {name: _of_measure(one, measure_of(question, list(each)), aim) for name, one in sides.items()}
    told = {name: one for name, one in sides.items() if one.trust.enough and one.trust.right >= sure}
    if read and len(told) >= (least or len(read)):
        made = _side_by_side(question, told)
        if least or made.lead or operation(question) != "larger":
            return made
    if least or len(sides) < max(len(read), _TWO) or not all(one.trust.close and one.figure for one in sides.values()):
        return None
    made = _side_by_side(question, sides)
    least_sure = min(sides.values(), key=lambda one: one.trust.right)
    why = doubt(least_sure.evidence, least_sure.made)
    near = replace(made, abstained=True, rows=(), confidence=least_sure.trust.answerable, doubt=why)
    return near if made.lead else None


def _near(read: Reading, made: Composition) -> Extraction:
    """An abstention with what comes near: what would have been answered, where that says something by itself."""
    quote = closest(read.evidence, made)
    quotes = _with_heads(read, [quote] if quote and not made.lead else [])
    why = doubt(read.evidence, made) if made.lead or quotes else ""
    return Extraction(quotes, read.trust.answerable, True, made.lead, made.lead_quotes, doubt=why)


def _with_heads(read: Reading, quotes: Sequence[Quote], cell: Quote | None = None, lead: str = "") -> tuple[Quote, ...]:
    """Quotes, their rows with heads; of the row of a cell that a lead says what else it has."""
    return tuple(
        other_cells(read.evidence, quote, cell, lead)
        if cell and within(cell, quote)
        else row_said(read.evidence, quote)
        for quote in quotes
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """What passages say to a question, and how far that is trusted.

    says_figure: whether one is asked for and its first sentence or row, as it stands, has one. about: what is asked of
    the things that are compared.
    """

    evidence: Evidence
    made: Composition
    trust: Trust
    says_figure: bool = False
    about: str = ""

    @property
    def figure(self) -> Cell | None:
        """The one figure that is said, where it is one."""
        cells = self.made.cells
        return self.evidence.asked.cells[cells[0]] if self.evidence.asked and len(cells) == 1 else None

    @property
    def years(self) -> Mapping[str, int]:
        """The figures of its row by their years, where these tell them apart."""
        if self.figure is None or self.evidence.asked is None:
            return {}
        asked, (place,) = self.evidence.asked, self.made.cells
        row = asked.of_years(place, self.evidence.cells_in(self.made.chosen[0]))
        return {max(years_of(asked.cells[one].head)): one for one in row}


def read_passages(
    question: str, hits: Sequence[Hit], encoder: Encoder, aim: QueryIntent, most: int, *, with_computing: bool = True
) -> Reading | None:
    """What passages say to a question in `most` units; None where they hold nothing to quote."""
    topic = topic_of(question)
    evidence = gather(topic, hits, encoder, aim.meant)
    if evidence is None:
        return None
    made = compose(topic, evidence, scored(evidence), most, with_computing=with_computing)
    anything = topic != question or (made.rows and asks_nothing_else(topic, [row.name for row in made.rows]))
    kind = answer_type(topic)
    says_figure = kind in FIGURES and kind_of(topic) == "fact" and not (made.lead or made.rows)
    says_figure = says_figure and holds_answer(kind, made.quotes[0].text)
    about = measure_of(topic, [row.name for row in made.rows]) if made.rows else ""
    return Reading(evidence, made, trust(evidence, made, aim.narrowed or bool(anything)), says_figure, about)


def _shortened(read: Reading) -> Composition:
    """What was read, its first sentence cut to what answers where an answer has no room for it.

    The quote's place stays: its citation opens all of it.
    """
    made, place = read.made, read.made.chosen[0]
    first, whole = made.quotes[0], read.evidence.units[place].quote
    if whole.kind != "sentence" or not first.text.endswith(whole.text):  # it is a row, or a list that it introduces
        return made
    start, end = map(int, read.evidence.spans[place])
    cut = shortened(whole.text, (start, end), read.evidence.asked_terms, MOST_WORDS)
    text = first.text.removesuffix(whole.text) + cut
    return replace(made, quotes=(replace(first, text=text), *made.quotes[1:]))


def _worth_saying(read: Reading, quotes: tuple[Quote, ...]) -> tuple[Quote, ...]:
    """The first quote and, where that surely answers, those alone that the reader finds nearly as likely to answer;
    behind a figure that is said its row, and what another document says instead. Beside a sentence that has the figure
    asked for stands what adds to it, and beside the row of a code no other's."""
    codes = {term for word in read.evidence.matches.words if word.is_code for term in terms(word.text)}
    quotes, chosen = _of_code(quotes, read.made.chosen, codes)
    if read.made.cells and not (read.made.is_computed or read.made.rows):
        return (quotes[0], *(quote for quote in quotes[1:] if says_otherwise(quote, quotes[0])))
    first, *_ = chances = 1 / (1 + np.exp(-read.evidence.column("read")[list(chosen)]))
    is_sure = not read.made.lead and (read.trust.right >= _SURE or first >= _READ_SURE)
    best, *others = chosen
    behind = zip(quotes[1:], others, chances[1:], strict=True)
    return (
        quotes[0],
        *(
            quote
            for quote, one, chance in behind
            if (not read.says_figure or adds(read.evidence, one, best))
            and (not is_sure or chance >= _NEARLY * first or says_otherwise(quote, quotes[0]))
        ),
    )


def _of_code(
    quotes: tuple[Quote, ...], chosen: tuple[int, ...], codes: Set[str]
) -> tuple[tuple[Quote, ...], tuple[int, ...]]:
    """Quotes with their units; where the first has the codes that are asked for, without rows that lack them, which are
    of something else."""
    codes = codes & set(terms(quotes[0].text))
    kept = [
        (quote, one) for quote, one in zip(quotes, chosen, strict=True)
        if quote.kind != "row" or codes <= set(terms(quote.text))
    ]  # fmt: skip
    return tuple(quote for quote, _ in kept), tuple(one for _, one in kept)


def _of_the_meant(quotes: tuple[Quote, ...], meant: Mapping[str, float]) -> tuple[Quote, ...]:
    """Without those of documents that the question does not mean, save for the first."""
    return (quotes[0], *(quote for quote in quotes[1:] if not is_unmeant(quote.hit.document.id, meant)))


def _side_by_side(question: str, told: Mapping[str, Reading]) -> Extraction:
    """A row for each document that is compared, and which figure is the larger where each has one: of the latest year
    that all of them have, unless the question names one."""
    told = _of_one_year(told) if not periods_of(question) else told
    quotes = [(one.made.lead_quotes or one.made.quotes)[0] for one in told.values()]
    rows = tuple(
        Row(name, one.made.lead or quote.text, quote) for (name, one), quote in zip(told.items(), quotes, strict=True)
    )
    figures = [one.figure for one in told.values() if one.figure is not None]
    lead = _apart(question, list(told), figures, quotes)
    sure = min((one.trust for one in told.values()), key=lambda trust: trust.right)
    return Extraction(
        tuple(quotes), sure.right, False, lead, tuple(quotes) if lead else (), rows, told=sure.told,
        about=measure_of(question, list(told)),
    )  # fmt: skip


def _apart(question: str, names: Sequence[str], figures: Sequence[Cell], quotes: Sequence[Quote]) -> str:
    """Which of two documents has more, or of several most, in a sentence; by how much, where that is asked for."""
    if len(names) == len(figures) == _TWO and operation(question) == "larger":
        words = set(terms(measure_of(question, names)))
        return verdict(question, names, figures) if all(words <= set(terms(said_by(one))) for one in figures) else ""
    if operation(question) == "extreme":
        return largest(question, names, figures, quotes)
    if adds_up(question):
        return together(question, names, figures, quotes)
    return difference(question, names, figures, quotes)


def _of_measure(read: Reading, measure: str, aim: QueryIntent) -> Reading:
    """A reading with the likeliest figure whose row and heads have all words of what is compared, where there is one
    and its own has not."""
    evidence, words = read.evidence, set(terms(measure))
    cells = evidence.asked.cells if evidence.asked else ()
    fitting = [place for place, cell in enumerate(cells) if words <= set(terms(said_by(cell)))]
    unit = {place: number for number in range(len(evidence.units)) for place in evidence.cells_in(number)}
    fitting = [place for place in fitting if place in unit]
    if not fitting or any(place in fitting for place in read.made.cells):
        return read
    best = max(fitting, key=lambda place: evidence.cell_scores[place])
    row = replace(read.made, chosen=(unit[best],), quotes=(evidence.units[unit[best]].quote,))
    made = of_cell(evidence, row, best)
    return replace(read, made=made, trust=trust(evidence, made, aim.narrowed))


def _of_one_year(told: Mapping[str, Reading]) -> Mapping[str, Reading]:
    """Readings with the figures of the latest year that all their rows have; as they are where there is none."""
    common = set.intersection(*(set(one.years) for one in told.values())) if told else set()
    if not common:
        return told
    year = max(common)
    return {name: replace(one, made=of_cell(one.evidence, one.made, one.years[year])) for name, one in told.items()}


def extract_parts(
    parts: Mapping[str, Retrieval], encoder: Encoder, *, max_sentences: int = 3
) -> tuple[Extraction | None, tuple[str, ...]]:
    """What answers the parts of a question, each from what was found for it, and the parts that nothing answers.

    None instead of an extraction where no part is answered. The confidence is the least of the answers'.
    """
    most = max(1, max_sentences // max(len(parts), 1))
    found = {
        part: extract(part, one.hits, encoder, aim=QueryIntent.of(one), max_sentences=most)
        for part, one in parts.items()
    }
    missing = tuple(part for part, one in found.items() if one.abstained)
    answers = [one for one in found.values() if not one.abstained]
    if not answers:
        return None, missing
    least = min(answers, key=lambda one: one.confidence)
    return replace(answers[0], confidence=least.confidence, told=least.told, others=tuple(answers[1:])), missing


def believed(question: str, hits: Sequence[Hit], encoder: Encoder, aim: QueryIntent = NO_AIM) -> Trust:
    """How probable it is that the passages answer a question, and that an extractive answer is right."""
    read = read_passages(question, hits, encoder, aim, 1)
    return Trust(0.0, 0.0, False, False) if read is None else read.trust
