"""Summaries of whole documents: their telling sentences, or, with a language model, map and reduce over all of them.

Without a model sentences are chosen by `rag_core.answering.summaries.telling`, each with its own citation. With one,
the text goes through it in parts that fit its context; notes keep the passages that they cite, are condensed until they
fit together, and become the summary, which is checked like any written answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from rag_core.answering.citations import CitationWriter, Register
from rag_core.answering.draft import Draft
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Quote, merge_hits, quotes
from rag_core.answering.strategies.written import checked
from rag_core.answering.streaming import Worker
from rag_core.answering.summaries.condensing import Condensing
from rag_core.answering.summaries.subject import Subject, extent_of, is_brief, narrowed, subject_of
from rag_core.answering.summaries.telling import EVERYWHERE, telling
from rag_core.answering.summaries.wording import of_itself
from rag_core.domain import Answer, Document, Sentence, StreamEvent
from rag_core.errors import Cancelled
from rag_core.models.base import ChatModel
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.contents import Content, Contents
from rag_core.settings import Settings
from rag_core.text.terms import coverage, terms

MOST_WORDS = 120
_BRIEF_WORDS = 70
# Several documents share these, each with no fewer than a line, nor more than one alone has.
_WORDS_TOGETHER, _LEAST_WORDS, _WORDS_OF_SENTENCE = 300, 45, 20
_SAID = 0.6  # share of a lead that the first sentence says as well
_LEAST_HELD = 0.3  # share of a lead's terms that the line it cites holds
# A choice of sentences says what a document is; whether they are those that were looked for is half a guess.
_CONFIDENCE = 0.6

Stop = Callable[[], bool]
OpenModel = Callable[[str, Settings], ChatModel]


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a summary and the quote that it stands on."""

    text: str
    quote: Quote


class Summarist:
    """Answers requests for summaries of whole documents. Thread-safe."""

    def __init__(self, encode_tokens: EncodeTokens, model: OpenModel) -> None:
        self._encode_tokens = encode_tokens
        self._model = model

    def stream(
        self, draft: Draft, contents: Contents, cancelled: Stop, instead: Callable[[], Iterator[StreamEvent]]
    ) -> Iterator[StreamEvent]:
        """The pieces of a summary, stages among them, last the whole answer; those of `instead` for a mere topic.

        Raises ModelUnavailable, StoreUnavailable.
        """
        yield StreamEvent(stage="searching")
        subject = subject_of(draft.question, contents, draft.history, lambda: _found(draft))
        if not subject.documents:
            yield from instead()
            return
        read = yield from _read(subject, contents, cancelled)
        draft.lap("search", draft.began)
        if draft.model == EXTRACTIVE or not read:
            answer = _extracted(draft, subject, read, cancelled())
            if answer.abstained:  # it holds no sentence that stands alone
                yield from instead()
                return
            yield StreamEvent(text=answer.text)
            yield StreamEvent(answer=answer)
            return
        yield from self._written(draft, subject, read, cancelled)

    def _written(
        self, draft: Draft, subject: Subject, read: Sequence[Content], cancelled: Stop
    ) -> Iterator[StreamEvent]:
        """Map and reduce, in a thread of its own, so that a stop need not wait for the model."""
        condensing = Condensing(draft, self._model(draft.model, draft.settings), self._encode_tokens)
        stopped = False
        worker: Worker[StreamEvent | CitationWriter] = Worker(
            lambda emit, stopping: condensing.run(read, emit, stopping)
        )
        writer: CitationWriter | None = None
        with worker:
            try:
                for event in worker.events(cancelled):
                    if isinstance(event, CitationWriter):
                        writer = event
                    else:
                        yield event
            except Cancelled:
                stopped = True
        stopped = stopped or cancelled()
        if writer is not None and (rest := writer.finish()):
            yield StreamEvent(text=rest)
        if writer is None or not (stopped or writer.text.strip()):
            yield StreamEvent(
                answer=draft.abstention(0.0, stopped=True) if stopped else _extracted(draft, subject, read, False)
            )
            return
        draft.hits = writer.passages.hits
        notes = [*_notes(subject), *condensing.notes]
        yield StreamEvent(answer=checked(draft, writer, self._encode_tokens, 1.0, stopped, notes))


def _found(draft: Draft) -> list[Document]:
    """The documents of the passages that a search finds, best first. What it left out the summary may still have."""
    hits = [found.metadata["hit"] for found in copy(draft.retriever).invoke(draft.query)]
    return list({hit.document.id: hit.document for hit in hits}.values())


def _read(subject: Subject, contents: Contents, cancelled: Stop) -> Generator[StreamEvent, None, list[Content]]:
    """Read what is to be summarised of each document, and tell which one is read."""
    found = []
    for number, document in enumerate(subject.documents, start=1):
        if cancelled():
            break
        place = f"document {number} of {len(subject.documents)}: " if len(subject.documents) > 1 else ""
        yield StreamEvent(stage=f"Reading {place}{document.title}")
        content = contents.read(document)
        if content is not None and subject.section is not None:
            content = narrowed(content, subject.section)
        if content is not None:
            found.append(content)
    return found


def _extracted(draft: Draft, subject: Subject, read: Sequence[Content], stopped: bool) -> Answer:
    """The answer without a model: one paragraph for one document, an item for each of several."""
    since = time.perf_counter()
    every = [(content, _told(content, subject, len(read), is_brief(draft.question))) for content in read]
    groups = [(content, told) for content, told in every if told]
    draft.lap("generate", since)
    if not groups or stopped:
        return draft.abstention(0.0, stopped=stopped)
    register = Register()
    sentences: list[Sentence] = []
    lines = []
    for content, told in groups:
        made = [Sentence(one.text, (register.number(one.quote),)) for one in told]
        marked = " ".join(f"{one.text} [{one.citations[0]}]" for one in made)
        lines.append(f"- {content.document.title}: {marked}" if len(groups) > 1 else marked)
        sentences += made
    cited = {citation.chunk_id for citation in register.citations}
    draft.hits = tuple(hit for content, _ in groups for hit in content.hits if hit.chunk_id in cited)
    return Answer(
        question=draft.question, text="\n".join(lines), sentences=tuple(sentences),
        citations=tuple(register.citations), hits=draft.hits, confidence=_CONFIDENCE, abstained=False,
        model=draft.model, trace=draft.trace(_notes(subject, len(groups))),
    )  # fmt: skip


def _told(content: Content, subject: Subject, documents: int, brief: bool) -> list[Told]:
    """What a document is, where its card says it and its sentences do not, then its telling sentences."""
    if documents > 1:
        share = _LEAST_WORDS if brief else max(_LEAST_WORDS, min(MOST_WORDS, _WORDS_TOGETHER // documents))
        found = telling(content, share, most=share // _WORDS_OF_SENTENCE, asked=subject.asked)
        return [Told(one.text, one) for one in found]
    lead = None if subject.section else _lead(content)
    left = (_BRIEF_WORDS if brief else MOST_WORDS) - (len(lead.text.split()) if lead else 0)
    extent = extent_of(content.document, subject.section) if subject.section else EVERYWHERE
    chosen = [Told(one.text, one) for one in telling(content, left, asked=subject.asked, extent=extent)]
    return chosen if lead is None or (chosen and _says(chosen[0], lead, content)) else [lead, *chosen]


def _says(first: Told, lead: Told, content: Content) -> bool:
    """Whether the first sentence says what a document is without the lead."""
    held = coverage(terms(lead.text), set(terms(first.text)))
    return of_itself(first.text, content.document) or held >= _SAID


def _lead(content: Content) -> Told | None:
    """The sentence that a document's card makes, on the line of its opening that holds most of it; None without."""
    text = _introduced(content.document)
    first = [hit for hit in content.hits[:2] if hit.page == content.hits[0].page]
    every = quotes(merge_hits(first))
    if not text or not every:
        return None
    wanted = terms(text)
    best = max(every, key=lambda quote: coverage(wanted, set(terms(quote.text))))
    return Told(text, best) if coverage(wanted, set(terms(best.text))) >= _LEAST_HELD else None


def _introduced(document: Document) -> str:
    """ "Handbook of the Veyra Ferry, Veyra Ferry Company, 1 March 2024." """
    card = document.card
    if card is None or not card.kind:
        return ""
    held = set(terms(document.title))
    parts = [card.kind, card.organisation or card.authors, card.period]
    more = [part for part in parts if part and not set(terms(part)) <= held]
    return f"{', '.join([document.title, *more])}."


def _notes(subject: Subject, told: int | None = None) -> list[str]:
    """What was left out."""
    left_out = subject.found - len(subject.documents)
    notes = []
    if left_out > 0:
        notes.append(
            f"{left_out} of {subject.found} documents were left out; narrow the conversation to summarise them."
        )
    if told is not None and told < len(subject.documents):
        notes.append(f"{len(subject.documents) - told} of the documents hold no sentence that could be quoted.")
    return notes
