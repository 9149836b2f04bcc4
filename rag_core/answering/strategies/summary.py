"""Summaries of whole documents: their telling sentences, or, with a language model, map and reduce over all of them.

Without a model sentences are chosen by `rag_core.answering.summaries.sentence_scoring`, each with its own citation.
With one, the text goes through it in parts that fit its context; notes keep the passages that they cite, are condensed
until they fit together, and become the summary, which is checked like any written answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.answering.citations import CitationWriter, Register
from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.passages import Quote, merge_hits, quotes
from rag_core.answering.places import said_beside, whereabouts
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.strategies.written import OpenModel, check_claims
from rag_core.answering.streaming import Progress
from rag_core.answering.summaries.condensing import Condensing, PartNotes
from rag_core.answering.summaries.sentence_scoring import EVERYWHERE, telling
from rag_core.answering.summaries.subject import (
    MOST_DOCUMENTS,
    Found,
    Subject,
    is_brief,
    is_request,
    narrowed,
    subject_of,
)
from rag_core.answering.summaries.wording import of_itself
from rag_core.answering.written import Written
from rag_core.domain import Document, Hit, Retrieval, Sentence, Trace
from rag_core.models.registry import EXTRACTIVE
from rag_core.retrieval.contents import Content, Contents
from rag_core.retrieval.understanding import kind_of
from rag_core.text.place_names import place_in
from rag_core.text.terms import coverage, terms

MOST_WORDS = 120
_BRIEF_WORDS = 70
# Several documents share these, each with no fewer than a line, nor more than one alone has.
_WORDS_TOGETHER, _LEAST_WORDS, _WORDS_OF_SENTENCE = 300, 45, 20
_SAID = 0.6  # share of a lead that the first sentence says as well
_LEAST_HELD = 0.3  # share of a lead's terms that the line it cites holds
# A choice of sentences says what a document is; whether they are those that were looked for is half a guess.
_CONFIDENCE = 0.6


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a summary and the quote that it stands on."""

    text: str
    quote: Quote


class Summary(Strategy):
    """Answers requests for summaries of whole documents."""

    def __init__(self, encode_tokens: EncodeTokens, open_model: OpenModel) -> None:
        self._encode_tokens = encode_tokens
        self._open_model = open_model
        self._notes = PartNotes()

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """The summary; None for a question that asks for none, or for a mere topic. Raises StoreUnavailable."""
        if question.contents is None or not is_request(question.text):
            return None
        progress.tell_stage("searching")
        query = question.wordings[0]
        subject = _subject(question, question.contents, lambda: _documents(search(query).hits))
        if not subject.documents or (subject.is_short and question.model == EXTRACTIVE):
            return None
        read = _read(subject, question.contents, progress)
        progress.lap("search")
        written = None
        if question.model != EXTRACTIVE and read:
            model = self._open_model(question)
            condensing = Condensing(question, model, self._encode_tokens, progress, self._notes)
            written = condensing.run(read, _notes(subject))
        if written is None or not written.text.strip():
            written = _extracted(question, subject, read)
        progress.lap("generate")
        return written and replace(written, retrieval=Retrieval((), Trace(query=query)))

    def check(self, question: Question, written: Written, writer: CitationWriter, *, stopped: bool) -> Written:
        """What a model made of the documents, checked like any text of one."""
        return check_claims(written, writer, self._encode_tokens, 1.0, stopped=stopped)


def _documents(hits: Sequence[Hit]) -> list[Document]:
    """The documents of passages, best first."""
    return list({hit.document.id: hit.document for hit in hits}.values())


def _subject(question: Question, contents: Contents, found: Found) -> Subject:
    """What is to be summarised: a place that the question names, or whole documents and their sections."""
    place = place_in(question.text)
    if place is None or kind_of(question.text) == "comparison":
        return subject_of(question.text, contents, question.history, found)
    spots = [spot for spot in whereabouts(place, question, contents, found).spots if spot.hits]
    words = sum(len(hit.text.split()) for spot in spots for hit in spot.hits)
    return Subject(
        tuple(spot.document for spot in spots[:MOST_DOCUMENTS]), len(spots),
        {spot.document.id: spot.extent for spot in spots}, tuple(said_beside(place.rest)), is_short=words <= MOST_WORDS,
    )  # fmt: skip


def _read(subject: Subject, contents: Contents, progress: Progress) -> list[Content]:
    """Read what is to be summarised of each document, and tell which one is read."""
    found = []
    for number, document in enumerate(subject.documents, start=1):
        place = f"document {number} of {len(subject.documents)}: " if len(subject.documents) > 1 else ""
        progress.tell_stage(f"Reading {place}{document.title}")
        content = contents.read(document)
        if content is not None and document.id in subject.extents:
            content = narrowed(content, subject.extents[document.id])
        if content is not None:
            found.append(content)
    return found


def _extracted(question: Question, subject: Subject, read: Sequence[Content]) -> Written | None:
    """The summary without a model: one paragraph for one document, an item for each of several.

    None where no document holds a sentence that stands alone.
    """
    every = [(content, _told(content, subject, len(read), is_brief(question.text))) for content in read]
    if kind_of(question.text) == "comparison":  # a row for each, of one without sentences its first lines
        every = [(content, told or _first_lines(content)) for content, told in every]
    groups = [(content, told) for content, told in every if told]
    if not groups:
        return None
    register = Register()
    sentences: list[Sentence] = []
    lines = []
    for content, told in groups:
        made = [Sentence(one.text, (register.number(one.quote),)) for one in told]
        marked = " ".join(f"{one.text} [{one.citations[0]}]" for one in made)
        lines.append(f"- {content.document.title}: {marked}" if len(groups) > 1 else marked)
        sentences += made
    cited = {citation.chunk_id for citation in register.citations}
    return Written(
        hits=tuple(hit for content, _ in groups for hit in content.hits if hit.chunk_id in cited),
        text="\n".join(lines), sentences=tuple(sentences), citations=tuple(register.citations),
        confidence=_CONFIDENCE, notes=tuple(_notes(subject, len(groups))),
    )  # fmt: skip


def _told(content: Content, subject: Subject, documents: int, brief: bool) -> list[Told]:
    """What a document is, where its card says it and its sentences do not, then its telling sentences."""
    extent = subject.extents.get(content.document.id, EVERYWHERE)
    if documents > 1:
        share = _LEAST_WORDS if brief else max(_LEAST_WORDS, min(MOST_WORDS, _WORDS_TOGETHER // documents))
        found = telling(content, share, most=share // _WORDS_OF_SENTENCE, asked=subject.asked, extent=extent)
        return [Told(one.text, one) for one in found]
    lead = _lead(content) if extent == EVERYWHERE else None
    left = (_BRIEF_WORDS if brief else MOST_WORDS) - (len(lead.text.split()) if lead else 0)
    chosen = [Told(one.text, one) for one in telling(content, left, asked=subject.asked, extent=extent)]
    return chosen if lead is None or (chosen and _says(chosen[0], lead, content)) else [lead, *chosen]


def _first_lines(content: Content) -> list[Told]:
    """The first lines of a document, but for its title and headings."""
    every = quotes(merge_hits(content.hits))
    told: list[Told] = []
    for quote in (one for one in every if one.kind != "heading" and one.text != content.document.title):
        if told and sum(len(one.text.split()) for one in told) + len(quote.text.split()) > _LEAST_WORDS:
            break
        told.append(Told(quote.text, quote))
    return told


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
