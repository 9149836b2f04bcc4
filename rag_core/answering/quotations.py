"""An extraction as an answer's text, with a citation for each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.composing import says_otherwise
from rag_core.domain import Citation, Sentence
from rag_core.models.prompts import NOT_FOUND
from rag_core.text.terms import terms

if TYPE_CHECKING:  # the strategy that extracts quotes with this
    from rag_core.answering.strategies.extractive import Extraction

PERHAPS = "Perhaps:"
"""What stands before what comes near where it is not sure that it answers."""
_UNANSWERED = "Not found:"  # before each part of a question that nothing answers, while others are answered

_HEAD = "| | {about} |\n|---|---|"

Quoted = tuple[str, tuple[Sentence, ...], tuple[Citation, ...]]


def quoted(extraction: Extraction, missing: Sequence[str] = ()) -> Quoted:
    """The text, one paragraph for each sentence or table of what is compared, its sentences and their citations.

    missing: the parts of the question that nothing answers, which are said last.
    """
    register = Register()
    paragraphs: dict[str, list[Sentence]] = {}
    for one in (extraction, *extraction.others):
        paragraphs |= _paragraphs(one, register)
    paragraphs |= _each([Sentence(f"{_UNANSWERED} {part}") for part in missing])
    sentences = [sentence for some in paragraphs.values() for sentence in some]
    return "\n\n".join(paragraphs), tuple(sentences), tuple(register.citations)


def _paragraphs(extraction: Extraction, register: Register) -> dict[str, list[Sentence]]:
    """The paragraphs with the sentences of each."""
    if extraction.abstained:
        return _each(_doubtful(extraction, register))
    apart = _told_apart(extraction.quotes)
    first = []
    if extraction.lead:
        leads = {quote.hit.document.id for quote in extraction.lead_quotes}
        lead = _titled(extraction.lead, apart[0]) if apart and leads == {apart[0].hit.document.id} else extraction.lead
        first = [Sentence(lead, tuple(dict.fromkeys(map(register.number, extraction.lead_quotes))))]
    if extraction.rows:
        rows = [Sentence(f"{row.name} {_in_cell(row.text)}", (register.number(row.quote),)) for row in extraction.rows]
        return _each(first) | {_table(extraction, rows): rows}
    telling = [quote for quote in extraction.quotes if terms(quote.text) != terms(extraction.lead)]
    numbered = map(register.number, telling)
    texts = [_titled(quote.text, quote) if quote in apart else quote.text for quote in telling]
    quotes = [Sentence(text, (number,)) for text, number in zip(texts, numbered, strict=True)]
    return _each([*first, *quotes])


def _doubtful(extraction: Extraction, register: Register) -> list[Sentence]:
    """One sentence of what comes near, and why it may be no answer; where nothing does, that nothing was found."""
    quotes = extraction.lead_quotes if extraction.lead else extraction.quotes[:1]
    if not quotes:
        return [Sentence(NOT_FOUND)]
    near = f"{PERHAPS} {extraction.lead or quotes[0].text}"
    return [Sentence(near, tuple(dict.fromkeys(map(register.number, quotes)))), Sentence(extraction.doubt)]


def _each(sentences: Sequence[Sentence]) -> dict[str, list[Sentence]]:
    return {f"{one.text} {_marks(one)}".rstrip(): [one] for one in sentences}


def _table(made: Extraction, sentences: Sequence[Sentence]) -> str:
    told = zip(made.rows, sentences, strict=True)
    lines = [f"| {row.name} | {_in_cell(row.text)} {_marks(one)} |" for row, one in told]
    return "\n".join((_HEAD.format(about=_in_cell(made.about) or "What it says"), *lines))


def _in_cell(text: str) -> str:
    return text.replace("|", "/")


def _marks(sentence: Sentence) -> str:
    return "".join(f"[{number}]" for number in sentence.citations)


def _told_apart(quotes: Sequence[Quote]) -> list[Quote]:
    """The first and what other documents say instead; none where they say nothing else."""
    others = [quote for quote in quotes[1:] if says_otherwise(quote, quotes[0])]
    return [quotes[0], *others] if others else []


def _titled(text: str, quote: Quote) -> str:
    return f"{quote.hit.document.title}: {text}"
