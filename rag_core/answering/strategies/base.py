"""What every strategy of answering shares.

A strategy is one file here with a class of this form, and one line in `Answerer.plan`, in the order in which they are
tried: the first that writes anything answers the question. One that keeps what it learned is made in `Answerer`, others
with each plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from rag_core.answering.citations import CitationWriter
from rag_core.answering.encoding import Encoder
from rag_core.answering.planning.notebook import Notebook
from rag_core.answering.planning.parts import parts_of
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.extractive import extract
from rag_core.answering.strategies.query_intent import QueryIntent
from rag_core.answering.streaming import Progress
from rag_core.answering.written import Written
from rag_core.domain import Retrieval
from rag_core.text.terms import coverage, terms


class Strategy(ABC):
    """A way from a question to an answer. Thread-safe."""

    @abstractmethod
    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """What answers a question; None where it is not for this strategy.

        `progress` is told the stages, then what is `Written` before its text, then the text as it comes. Raises
        Cancelled, ModelUnavailable, and whatever the search raises.
        """

    def check(self, question: Question, written: Written, writer: CitationWriter, *, stopped: bool) -> Written:
        """What was written by a language model, its sentences held to the passages; `writer` has read its text."""
        return written


class PassageStrategy(Strategy):
    """One that writes from passages, which RetrievalQA hands on to it."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def write(self, question: Question, search: Search, progress: Progress) -> Written:
        """Write from the passages that a search finds, or one for each part of the question."""
        return self.write_from(question, lambda: find_passages(question, search, self._encoder, progress), progress)

    def write_from(self, question: Question, find: Callable[[], Retrieval], progress: Progress) -> Written:
        """Write from the passages that `find` finds."""
        from rag_core.answering.langchain import run_retrieval_qa

        progress.tell_stage("searching")
        self.prepare(question)
        progress.lap("prepare")
        written = run_retrieval_qa(
            question.text,
            find=lambda _: _timed(find(), progress),
            write=lambda retrieval: self.compose(question, retrieval, progress),
        )
        progress.lap("generate")
        return written

    def prepare(self, question: Question) -> None:
        """Open what is needed before the search. Raises ModelUnavailable."""

    @abstractmethod
    def compose(self, question: Question, retrieval: Retrieval, progress: Progress) -> Written:
        """Write from what was found; its `trace.query` is the question as it was searched for."""


def _timed(retrieval: Retrieval, progress: Progress) -> Retrieval:
    progress.lap("search")
    return retrieval


def find_passages(question: Question, search: Search, encoder: Encoder, progress: Progress) -> Retrieval:
    """The passages for the wording that they answer the most surely, or for each part of it where it has several."""
    query = best_wording(question, search, encoder, progress)
    parts = parts_of(query, question.text)
    if len(parts) == 1:
        found = search(query)
        return replace(found, trace=replace(found.trace, query=query))
    notebook = Notebook(search, encoder)
    for part in parts:
        progress.check()
        notebook.search(part)
    return notebook.handed(query, notebook.each(), {part: notebook.found(part).hits for part in parts})


def best_wording(question: Question, search: Search, encoder: Encoder, progress: Progress) -> str:
    """Of the wordings of a question, the one whose passages answer it the most surely.

    What was just answered is no answer to another question, where there is any, unless the phrase that was put into the
    question stands there.
    """
    if len(question.wordings) == 1:
        return question.wordings[0]
    before = question.history[-1].answer if question.history else None
    sure: dict[str, tuple[bool, bool, bool, float]] = {}
    for query in question.wordings:
        progress.check()
        found = search(query)
        made = extract(query, found.hits, encoder, aim=QueryIntent.of(found), max_sentences=1)
        says = made.lead or next((quote.text for quote in made.quotes), "")
        swapped = not query.endswith(question.text)
        news = before is None or says not in before.text
        news = news or (swapped and coverage(terms(question.text), terms(says)) == 1)
        sure[query] = (not made.abstained, news, swapped, made.confidence)
        if all(sure[query][:3]):
            break
    return max(sure, key=lambda query: sure[query])
