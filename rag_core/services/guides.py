"""A document's guide: its telling sentences and its figures; no language model is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from rag_core.domain import Chunk, Document, Guide, GuideLine, Scope
from rag_core.services.questions import QuestionService
from rag_core.storage import Storage
from rag_core.text.sentences import split_sentences
from rag_core.text.stems import stem
from rag_core.text.terms import terms
from rag_core.text.tokens import words

_LINES = 5
_MOST_CHUNKS = 600  # of a long document, from its beginning
_WORDS = range(6, 45)  # of a sentence that can stand alone
_FIGURE = re.compile(
    r"[$€£¥]\s?\d|\d[\d.,]*\s?(?:%|per ?cent|million|billion|thousand|euros?|dollars?|pounds?|tonnes?|kg|km|kW|MW"
    r"|met(?:re|er)s?|kilomet\w+|miles?|litres?|hours?|minutes?|days?|weeks?|months?|years?|people|passengers|employees|members)",
    re.IGNORECASE,
)


class Guides:
    """Makes guides, in some seconds each; nothing of them is kept. Thread-safe; raises StoreUnavailable."""

    def __init__(self, storage: Storage, asking: QuestionService) -> None:
        self._storage = storage
        self._asking = asking

    def of(self, document: Document) -> Guide:
        """The guide of a ready document."""
        within = Scope(documents=(document.id,))
        cited = self._asking.quoted("Summarise this document", within).citations
        card = document.card
        called = f"{document.title} {card.organisation} {card.kind} {card.period}" if card else document.title
        telling = [one for one in cited if not set(terms(one.text)) <= set(terms(called))]  # which stands above
        lines = tuple(GuideLine(one.page, one.start, one.end, one.text) for one in telling[:_LINES])
        told = {line.text for line in lines}
        chunks = self._storage.documents.chunks(document.id, 0, _MOST_CHUNKS)
        figures = tuple(line for line in _figures(document, chunks) if line.text not in told)[:_LINES]
        return Guide(lines, figures)


def _figures(document: Document, chunks: list[Chunk]) -> Iterator[GuideLine]:
    """Sentences with a figure and its unit, those first whose words stand all over the document, one of a section."""
    often = Counter(stem(word) for chunk in chunks for word in set(words(chunk.text)))
    seen: set[tuple[int, str]] = set()
    found = [(_weight(line.text, often), line, section) for line, section in _candidates(chunks)]
    for _, line, section in sorted(found, key=lambda item: (-item[0], item[1].page, item[1].start)):
        if (line.page, section) not in seen:
            seen.add((line.page, section))
            yield line


def _candidates(chunks: list[Chunk]) -> Iterator[tuple[GuideLine, str]]:
    for chunk in chunks:
        for span in split_sentences(chunk.text):
            if len(span.text.split()) in _WORDS and _FIGURE.search(span.text):
                start = chunk.start + span.start
                yield GuideLine(chunk.page, start, start + len(span.text), " ".join(span.text.split())), chunk.section


def _weight(sentence: str, often: Counter[str]) -> float:
    """How much of what the document speaks of a sentence says, for its length."""
    stems = [stem(word) for word in words(sentence) if len(word) > 3]
    return sum(min(often[one], 20) for one in set(stems)) / (len(stems) + 8)
