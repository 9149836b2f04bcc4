"""Answers without a language model: what the documents say, word for word, each sentence with its citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_core.answering.encoding import Encoder
from rag_core.answering.question import Question
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.base import PassageStrategy
from rag_core.answering.strategies.extractive import Extraction, extract, extract_parts
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
        made = quote(question, written, self._encoder)
        progress.tell(made.text)
        return made


def quote(question: Question, written: Written, encoder: Encoder) -> Written:
    """The same with what is quoted of its passages, part by part where the question has several."""
    retrieval, most = written.retrieval, question.settings.answering.max_sentences
    query, aim = retrieval.trace.query, QueryIntent.of(retrieval)
    found, missing = extract_parts(retrieval.parts, encoder, max_sentences=most)
    if found is None:  # there are no parts, or what seems to be one says little without the others
        found, missing = extract(query, retrieval.hits, encoder, aim=aim, max_sentences=most), ()
    return quoting(written, found, missing)


def quoting(written: Written, found: Extraction, missing: Sequence[str] = ()) -> Written:
    """The same with the text of an extraction; `missing` are parts of the question that nothing answers."""
    text, sentences, citations = quoted(found, missing)
    return replace(
        written, text=text, sentences=sentences, citations=citations, confidence=found.confidence,
        abstained=found.abstained, told=found.told,
    )  # fmt: skip
