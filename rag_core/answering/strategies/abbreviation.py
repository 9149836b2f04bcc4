"""What an abbreviation stands for, in the words of the documents that say so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.answering.citations import Register
from rag_core.answering.passages import Quote, merge_hits
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Hit, Retrieval, Sentence, Trace
from rag_core.retrieval.contents import Contents
from rag_core.text.acronyms import abbreviations, spelt_out
from rag_core.text.terms import terms

_ASKS = re.compile(
    r"\b(?:stands? for|short for|full (?:form|name)|spelt out|abbreviat\w+|acronym|mean|steht|abkürzung|abgekürzt"
    r"|bedeutet|signifie\w*|sigle|abréviation|significan?|siglas?|sta per|staat)\b",
    re.IGNORECASE,
)
_LONGEST_WORDS = 12
_MOST_DOCUMENTS, _MOST_LOOKED_AT, _MOST_CHUNKS = 5_000, 12, 300
_CONFIDENCE = 0.9


class Abbreviation(Strategy):
    """Says what an abbreviation stands for. Thread-safe."""

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """Its long forms, each once; None where something else is asked for, or no document spells it out.

        Raises StoreUnavailable.
        """
        text, contents = question.text, question.contents
        asked = abbreviations(text)
        if contents is None or len(asked) != 1 or len(text.split()) > _LONGEST_WORDS or not _ASKS.search(text):
            return None
        found: dict[str, Quote] = {}
        for quote in _spelt_out(asked[0], contents):
            found.setdefault(" ".join(terms(quote.text)), quote)
        progress.lap("search")
        return _written(question.wordings[0], asked[0], list(found.values())) if found else None


def _spelt_out(short: str, contents: Contents) -> Iterator[Quote]:
    """The long forms in the documents that hold an abbreviation, those that hold it best first."""
    documents, _ = contents.documents(_MOST_DOCUMENTS)
    for held in contents.holding(terms(short), [one.id for one in documents])[:_MOST_LOOKED_AT]:
        hits: list[Hit] = [held, *contents.beginning(held.document, _MOST_CHUNKS)]
        for number, passage in enumerate(merge_hits(hits)):
            for start, end in spelt_out(short, passage.text):
                place = passage.start + start
                hit = next((hit for hit in passage.hits if hit.start <= place < hit.end), passage.hits[-1])
                said = " ".join(passage.text[start:end].split())
                yield Quote(said, place, passage.start + end, "fragment", hit, number, 0)


def _written(query: str, short: str, found: list[Quote]) -> Written:
    register = Register()
    sentences = [Sentence(f"{short}: {quote.text}", (register.number(quote),)) for quote in found]
    hits = tuple({quote.hit.chunk_id: quote.hit for quote in found}.values())
    return Written(
        Retrieval((), Trace(query=query)), hits,
        "\n\n".join(f"{one.text} [{one.citations[0]}]" for one in sentences),
        sentences=tuple(sentences), citations=tuple(register.citations), confidence=_CONFIDENCE,
    )  # fmt: skip
