"""A conversation as paragraphs, which Markdown and PDF write each in its way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_core.domain import Answer, Citation, Conversation, Document, Message
from rag_core.text.invisible import visible
from rag_core.text.pages import counted

Style = Literal["title", "note", "question", "answer", "source", "quote"]
UNSUPPORTED = "(not found in the passages)"
HIDDEN = "Some of the text here is not to be seen on the page."
CORRECTED = "This passage was corrected by hand."
INSTRUCTS = "This passage has text that reads like an instruction to a language model."
_NUMBERS = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation with its messages; `documents` are those of the cited ones that are still there, by id."""

    conversation: Conversation
    messages: Sequence[Message]
    documents: Mapping[str, Document]

    def cited(self) -> list[Document | Citation]:
        """Each cited document once, in the order of the answers; one that was removed is known by its citation."""
        answers = [message.answer for message in self.messages if message.answer is not None]
        first: dict[str, Citation] = {}
        for answer in answers:
            for citation in answer.citations:
                first.setdefault(citation.document_id, citation)
        return [self.documents.get(key, citation) for key, citation in first.items()]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text in one style; that of an answer may have lines, and marks of Markdown as a model wrote them."""

    style: Style
    text: str


def paragraphs(thread: Thread) -> Iterator[Paragraph]:
    """The whole conversation, without invisible characters."""
    for paragraph in _paragraphs(thread):
        yield Paragraph(paragraph.style, visible(paragraph.text))


def cite(citation: Citation) -> str:
    """`[Title, Section, p. ix]`, the page as everywhere; without a section that says no more."""
    section = citation.section if citation.section.casefold() != citation.title.casefold() else ""
    parts = [citation.title, section, counted(citation.page, citation.page_label)]
    return f"[{visible(', '.join(' '.join(part.split()) for part in parts if part.strip()))}]"


def quotation(citation: Citation) -> str:
    """`“The passage” [Title, Section, p. 12]`, to be put into a text of one's own."""
    return f"“{visible(citation.text.strip())}” {cite(citation)}"


def cited_text(answer: Answer) -> str:
    """An answer's text with citations in the place of their numbers, and a mark behind what no passage holds."""
    text, unplaced = answer.text, []
    for sentence in answer.sentences:
        if not sentence.supported and sentence.text in text:
            text = text.replace(sentence.text, f"{sentence.text} {UNSUPPORTED}", 1)
        elif not sentence.supported:
            unplaced.append(sentence.text)
    known = {citation.number: cite(citation) for citation in answer.citations}
    text = _NUMBERS.sub(lambda match: "".join(f" {known[n]}" for n in _of(match) if n in known), text)
    return "\n\n".join([text, *(f"{said} {UNSUPPORTED}" for said in unplaced)]).strip()


def _of(match: re.Match[str]) -> list[int]:
    return [int(number) for number in match[1].split(",")]


def _paragraphs(thread: Thread) -> Iterator[Paragraph]:
    yield Paragraph("title", thread.conversation.title)
    yield Paragraph("note", f"A conversation with Lectern, begun on {thread.conversation.created_at:%Y-%m-%d}")
    for message in thread.messages:
        yield Paragraph("question", message.question)
        if message.answer is not None:
            yield Paragraph("answer", cited_text(message.answer))
            yield from _notes(message.answer)
            yield from _sources(message.answer)
        else:
            yield Paragraph("note", message.error or "This question was not answered.")


def _notes(answer: Answer) -> Iterator[Paragraph]:
    if answer.stopped:
        yield Paragraph("note", "This answer was stopped here.")
    elif answer.cut:
        yield Paragraph("note", "This answer was cut where the language model reached its limit of tokens.")
    for note in answer.trace.notes:
        yield Paragraph("note", note)


def _sources(answer: Answer) -> Iterator[Paragraph]:
    for citation in answer.citations:
        yield Paragraph("source", cite(citation))
        yield Paragraph("quote", " ".join(citation.text.split()))
        if warning := warning_of(citation):
            yield Paragraph("note", warning)


def warning_of(citation: Citation) -> str:
    """What the reader of a citation should know of its passage; mostly nothing."""
    told = ((citation.instructs, INSTRUCTS), (citation.hidden, HIDDEN), (citation.corrected, CORRECTED))
    return " ".join(words for holds, words in told if holds)
