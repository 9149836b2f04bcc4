"""An extraction as an answer's text, with a citation for each sentence."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote
from rag_core.answering.strategies.composing import Row, alike
from rag_core.answering.strategies.extractive import Extraction
from rag_core.domain import Citation, Sentence
from rag_core.models.prompts import NOT_FOUND
from rag_core.text.numbers import numbers

CLOSEST = "Closest:"
"""What stands before the nearest passage where nothing answers."""

_HEAD = "| | Found |\n|---|---|"

Quoted = tuple[str, tuple[Sentence, ...], tuple[Citation, ...]]


def quoted(extraction: Extraction) -> Quoted:
    """The text, one paragraph for each sentence or table of what is compared, its sentences and their citations."""
    register = Register()
    paragraphs: dict[str, list[Sentence]] = {}
    for one in (extraction, *extraction.others):
        paragraphs |= _paragraphs(one, register)
    sentences = [sentence for some in paragraphs.values() for sentence in some]
    return "\n\n".join(paragraphs), tuple(sentences), tuple(register.citations)


def _paragraphs(extraction: Extraction, register: Register) -> dict[str, list[Sentence]]:
    """The paragraphs with the sentences of each."""
    first = []
    if extraction.lead:
        first = [Sentence(extraction.lead, tuple(dict.fromkeys(map(register.number, extraction.lead_quotes))))]
    if extraction.rows and not extraction.abstained:
        rows = [Sentence(f"{row.name} {_in_cell(row.text)}", (register.number(row.quote),)) for row in extraction.rows]
        return _each(first) | {_table(extraction.rows, rows): rows}
    numbered = map(register.number, extraction.quotes)
    quotes = [Sentence(text, (number,)) for text, number in zip(_told_apart(extraction.quotes), numbered, strict=True)]
    if extraction.abstained:
        return _each([Sentence(NOT_FOUND), *(Sentence(f"{CLOSEST} {one.text}", one.citations) for one in quotes)])
    return _each([*first, *quotes])


def _each(sentences: Sequence[Sentence]) -> dict[str, list[Sentence]]:
    return {f"{one.text} {_marks(one)}".rstrip(): [one] for one in sentences}


def _table(rows: Sequence[Row], sentences: Sequence[Sentence]) -> str:
    lines = [f"| {row.name} | {_in_cell(row.text)} {_marks(one)} |" for row, one in zip(rows, sentences, strict=True)]
    return "\n".join((_HEAD, *lines))


def _in_cell(text: str) -> str:
    return text.replace("|", "/")


def _marks(sentence: Sentence) -> str:
    return "".join(f"[{number}]" for number in sentence.citations)


def _told_apart(quotes: Sequence[Quote]) -> list[str]:
    """What is quoted; where documents say the same with other figures, each with its document's title."""
    first = quotes[0] if quotes else None
    other = [
        quote for quote in quotes
        if first is not None and quote.hit.document.id != first.hit.document.id
        and alike(quote.text, first.text) and numbers(quote.text) != numbers(first.text)
    ]  # fmt: skip
    named = [first, *other] if other else []
    return [f"{quote.hit.document.title}: {quote.text}" if quote in named else quote.text for quote in quotes]
