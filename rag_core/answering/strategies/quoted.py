"""Answers without a language model: what the documents say, word for word, each sentence with its citation."""

from __future__ import annotations

from rag_core.answering.question import Question
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.base import PassageStrategy
from rag_core.answering.strategies.extractive import extract, extract_parts
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written, abstain
from rag_core.domain import Retrieval


class Quoted(PassageStrategy):
    """Quotes what answers best; see `rag_core.answering.strategies.extractive`."""

    def compose(self, question: Question, retrieval: Retrieval, progress: Progress) -> Written:
        """What of the passages answers, one paragraph for each quote."""
        written = Written(retrieval, retrieval.hits)
        progress.tell(written)
        if not retrieval.hits:
            return abstain(written, 0.0)
        most, query, aim = question.settings.answering.max_sentences, retrieval.trace.query, QueryIntent.of(retrieval)
        found, missing = extract_parts(retrieval.parts, self._encoder, max_sentences=most)
        if found is None:  # there are no parts, or what seems to be one says little without the others
            found, missing = extract(query, retrieval.hits, self._encoder, aim=aim, max_sentences=most), ()
        text, sentences, citations = quoted(found, missing)
        progress.tell(text)
        return Written(
            retrieval, retrieval.hits, text, sentences=sentences, citations=citations, confidence=found.confidence,
            abstained=found.abstained, told=found.told,
        )  # fmt: skip
