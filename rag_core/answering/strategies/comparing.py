"""The things that a question sets side by side, and what answers for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rag_core.answering.claims.measures import Mention, mentions, units_of
from rag_core.answering.matching import Floats, content_words
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.features import Evidence
from rag_core.answering.tables.comparatives import SUPERLATIVE
from rag_core.answering.tables.computing import adds_up, operation, sets_side_by_side
from rag_core.answering.tables.format_amount import Amount, amount_of
from rag_core.answering.tables.format_result import extreme, set_apart, total
from rag_core.answering.tables.tables import Cell
from rag_core.domain import Document
from rag_core.retrieval.understanding import kind_of, understand
from rag_core.text.terms import terms
from rag_core.text.topics import capitalised

_PAIR = re.compile(r"([\w.&'’-]+),?\s+(?:or|and|vs\.?|versus|than|with)\s+(?:the\s+)?([\w.&'’-]+)", re.IGNORECASE)
_JOINING = r"(?:,|,?\s+(?:or|and|vs\.?|versus|than|with|to))\s+(?:the\s+)?"
_OWNER = re.compile(r"['’]s?$")
_SIGN = re.compile(r"(?:[A-Z]{0,2}[$€£¥]|\b[A-Z]{3})\s?$")
_UNIT = re.compile(
    r"(\s?%|\s?per\s?cent\b)|(\s(?:thousand|million|billion)\b)?([\s-](?:US\s)?[^\W\d_]+|\s?[$€£¥])?", re.IGNORECASE
)
_CENTS = re.compile(r"[.,]\d\d$")
_SPAN = re.compile(r"\d\s?(?:to|or|-|–)\s?\d")  # "5 to 15 years" is no one figure
# What asks to set things beside each other, and nothing of one of them.
_SETTING = re.compile(
    r"\b(?:compar\w+|versus|vs\.?|differ\w*|which (?:one |of (?:them|the two) )?(?:is|was|has|had)|the"
    r"|(?:more|less|fewer|higher|lower|larger|smaller|bigger|greater|better|worse)(?: than)?)(?!\w)\s*",
    re.IGNORECASE,
)
_ALSO = {
    "revenues?": ("net sales",),
    "(?:net )?sales": ("revenue",),
    "profits?": ("net income",),
    "staff": ("employees",),
}
"""What accounts call what people ask for."""
_WHOLE = re.compile(r"\W*(?:wh\w+|how|does|do|did|is|are|was|were|has|have|had|can)\b", re.IGNORECASE)
_BEHIND = 8.0  # the score of a thing's best unit, at most, behind that of all units


def compared(question: str, evidence: Evidence, scores: Floats) -> Mapping[str, int]:
    """The unit that answers best for each thing that is compared, by its name, in the question's order.

    Empty where the question compares nothing, or where one of the things is not told of apart from the others.
    """
    for sides in _named(question):
        found = {name: about[0] for name in sides if (about := _about(name, sides, evidence, scores))}
        if len(found) == len(sides) > 1 and len(set(found.values())) == len(sides):
            return found
    return {}


def with_figures(question: str, sides: Mapping[str, int], evidence: Evidence, scores: Floats) -> Mapping[str, int]:
    """Of each thing that is compared the best unit with one figure in what the question names; where one has none, the
    units as they are."""
    told = {
        name: [
            place
            for place in _about(name, tuple(sides), evidence, scores)
            if len(_asked_for(question, _figures(evidence.units[place].quote))) == 1
        ]
        for name in sides
    }
    return {name: places[0] for name, places in told.items()} if all(told.values()) else sides


def told_together(sides: Mapping[str, int], evidence: Evidence) -> bool:
    """Whether the reader takes what names all of the things that are compared for the answer, before what tells of one
    of them alone."""
    read, names = evidence.column("read"), set(terms(" ".join(sides)))
    of_all = (read[place] for place, unit in enumerate(evidence.units) if names <= set(terms(unit.quote.text)))
    return bool(max(of_all, default=-np.inf) > max(read[place] for place in sides.values()))


def asks_nothing_else(question: str, names: Sequence[str]) -> bool:
    """Whether a question names the things that it compares and nothing of them that is to be compared."""
    return {term for word in content_words(question) for term in terms(word.text)} <= set(terms(" ".join(names)))


def asked_of_each(question: str, documents: Sequence[Document]) -> Mapping[str, tuple[str, Document]]:
    """The documents that a question names beside each other, by these names, and the question asked of each alone.

    Empty where not every name is that of one of `documents`, those that the question may mean, and of no other.
    """
    for names in _names(question):
        held = {name: [one for one in documents if _is_named(name, names, one)] for name in names}
        if len(names) > 1 and all(len(some) == 1 for some in held.values()):
            return {
                (owner := _OWNER.sub("", name)): (_asked_of(owner, question, name, names), held[name][0])
                for name in names
            }
    return {}


def called_otherwise(question: str) -> Iterator[str]:
    """The question with what it asks for called as other documents call it: net sales for revenue."""
    for name, others in _ALSO.items():
        pattern = re.compile(rf"\b{name}\b", re.IGNORECASE)
        yield from (pattern.sub(other, question) for other in others if pattern.search(question))


def _asked_of(owner: str, question: str, name: str, names: Sequence[str]) -> str:
    """A question that sets documents side by side, asked of one of them: "What was the revenue of Apple?"."""
    alone = _SETTING.sub("", asked_alone(question, name, names))
    words = content_words(alone)
    if _WHOLE.match(alone) or len(words) == len(content_words(name)):
        return alone
    of_name = set(terms(name))
    measure = " ".join(word.text for word in words if of_name.isdisjoint(terms(word.text)) and not word.text.isdigit())
    years = "".join(f" in {word.text}" for word in words if word.text.isdigit())
    return f"What was the {measure} of {owner}{years}?"


def measure_of(question: str, names: Sequence[str]) -> str:
    """What is asked of the things that a question compares by these names, as the head of a column; "" for nothing."""
    of_names = set(terms(" ".join(names)))
    bare = SUPERLATIVE.sub("", question) if operation(question) == "extreme" else _SETTING.sub("", question)
    words = [word.text for word in content_words(bare) if of_names.isdisjoint(terms(word.text))]
    return capitalised(" ".join(word for word in words if not word.isdigit()))


def difference(question: str, names: Sequence[str], cells: Sequence[Cell], quotes: Sequence[Quote]) -> str:
    """By how much two things differ that are compared; "" where not each has a figure."""
    amounts = _amounts(question, cells, quotes)
    return set_apart(question, names, amounts) if len(amounts) == len(names) == 2 else ""


def largest(question: str, names: Sequence[str], cells: Sequence[Cell], quotes: Sequence[Quote]) -> str:
    """Which of several documents has the most or the least; "" where not each has a figure."""
    amounts = _amounts(question, cells, quotes)
    return extreme(question, names, amounts) if len(amounts) == len(names) > 1 else ""


def together(question: str, names: Sequence[str], cells: Sequence[Cell], quotes: Sequence[Quote]) -> str:
    """What the figures of several documents are in all; "" where not each has one."""
    amounts = _amounts(question, cells, quotes)
    return total(amounts) if len(amounts) == len(names) > 1 else ""


def _amounts(question: str, cells: Sequence[Cell], quotes: Sequence[Quote]) -> list[Amount]:
    """The figures of cells, where there are any; else of each quote its one figure in what the question names, or its
    only one where that is an amount of money, a share or a measure; [] where one has none such or several."""
    if cells:
        return [amount_of(cell) for cell in cells]
    of_each = [_figures(quote) for quote in quotes]
    named = [_asked_for(question, figures) for figures in of_each]
    if any(len(figures) != 1 for figures in (named if all(named) else of_each)):
        return []
    if all(named):
        return [one for (one,) in named]
    compares = sets_side_by_side(question) or operation(question) == "extreme" or adds_up(question)
    return [one for (one,) in of_each if compares and (one.currency or units_of(one.unit))]


def _figures(quote: Quote) -> list[Amount]:
    found = mentions(quote.text, quote.hit.document.main_language)
    plain = quote.kind in ("sentence", "row") and not _SPAN.search(quote.text)
    return [_amount(one, quote.text) for one in found] if plain else []


def _asked_for(question: str, figures: Sequence[Amount]) -> list[Amount]:
    asked = set(terms(question))
    return [one for one in figures if asked & set(terms(one.unit))]


def _amount(one: Mention, text: str) -> Amount:
    """A figure with what stands beside it: "$3 million", "34 cars", "12 per cent"; a year or a time is in nothing."""
    sign, behind = one.currency and _SIGN.search(text, 0, one.start), _UNIT.match(text, one.end)
    percent, scale, word = behind.groups("") if behind else ("", "", "")
    if sign or one.is_year or one.unit == ("clock", "clock") or not (terms(word) or one.currency):
        word = ""
    shown = text[sign.start() if sign else one.start : one.end + len(percent or scale + word)]
    currency = sign[0].strip() if sign else word.strip() if one.currency else ""
    unit = "percentage points" if percent else f"{scale}{'' if currency else word}".strip(" -")
    printed = _CENTS.search(text, one.start, one.end)
    decimals = 2 if printed else len(f"{one.value:.6f}".rstrip("0").partition(".")[2])
    return Amount(shown, one.value, decimals, unit, currency)


def _named(question: str) -> tuple[tuple[str, ...], ...]:
    """The things that a question compares, as it may name them; none where it compares nothing."""
    return _names(question) if kind_of(question) == "comparison" or sets_side_by_side(question) else ()


def _names(question: str) -> tuple[tuple[str, ...], ...]:
    pair, said = _PAIR.search(question), terms(question)
    if pair and (pair[1].isdigit() != pair[2].isdigit() or any(said.count(term) > 1 for term in terms(pair[0]))):
        pair = None  # "more in 2024 than the year before", "the family ticket than the adult ticket"
    names = tuple(part for name in understand(question).names for part in re.split(_JOINING, name))
    return (names, pair.groups() if pair else ())


def _is_named(name: str, names: Sequence[str], document: Document) -> bool:
    """Whether a document's title, or its file's name, has one of some names alone."""
    held = set(terms(f"{document.title} {document.file_name}"))
    return set(terms(name)) <= held and not any(set(terms(other)) <= held for other in names if other != name)


def asked_alone(question: str, name: str, names: Sequence[str]) -> str:
    """The question without the other names and what joins them."""
    for other in (rf"(?<!\w){re.escape(other)}(?!\w)" for other in names if other != name):
        found = (re.search(pattern, question) for pattern in (f"{other}{_JOINING}", f"{_JOINING}{other}", other))
        if part := next(filter(None, found), None):
            question = f"{question[: part.start()]} {question[part.end() :]}"
    return re.sub(r"\s+(?=[?.!,])", "", " ".join(question.split()))


def _about(name: str, names: tuple[str, ...], evidence: Evidence, scores: Floats) -> list[int]:
    """The units that are about one of some names alone, by their document's title, their words or what they lean on:
    the best first, none far behind the best of all."""
    own, others = set(terms(name)), [set(terms(other)) for other in names if other != name]
    lines = {(quote.passage, quote.position): quote.text for quote in evidence.every}
    about = []
    for place, unit in enumerate(evidence.units):
        near = (lines[unit.quote.passage, position] for position in unit.near)
        title, said = set(terms(unit.quote.hit.document.title)), set(terms(" ".join((unit.quote.text, *near))))
        of_another = any(other <= said or (other <= title and not own <= title) for other in others if other)
        if own and not of_another and (own <= title or own <= said):
            about.append(place)
    near_best = [place for place in about if scores[place] > scores.max() - _BEHIND]
    return sorted(near_best, key=lambda place: -scores[place])
