"""An extraction as an answer's text, with a citation for each sentence."""

from __future__ import annotations

from rag_core.answering.citations import Register
from rag_core.answering.strategies.extractive import Extraction
from rag_core.domain import Citation, Sentence
from rag_core.models.prompts import NOT_FOUND

CLOSEST = "Closest:"
"""What stands before the nearest passage where nothing answers."""

Quoted = tuple[str, tuple[Sentence, ...], tuple[Citation, ...]]


def quoted(extraction: Extraction) -> Quoted:
    """The text, one paragraph for each sentence, its sentences and their citations."""
    register = Register()
    every = [sentence for one in (extraction, *extraction.others) for sentence in _sentences(one, register)]
    sentences = list({sentence.text: sentence for sentence in every}.values())
    return "\n\n".join(map(_paragraph, sentences)), tuple(sentences), tuple(register.citations)


def _sentences(extraction: Extraction, register: Register) -> list[Sentence]:
    of_lead = tuple(dict.fromkeys(map(register.number, extraction.lead_quotes)))
    sentences = [Sentence(quote.text, (register.number(quote),)) for quote in extraction.quotes]
    if extraction.abstained:
        near = [Sentence(f"{CLOSEST} {one.text}", one.citations) for one in sentences]
        return [Sentence(NOT_FOUND), *near]
    return [Sentence(extraction.lead, of_lead), *sentences] if extraction.lead else sentences


def _paragraph(sentence: Sentence) -> str:
    marks = "".join(f"[{number}]" for number in sentence.citations)
    return f"{sentence.text} {marks}".rstrip()
