"""Drafting questions from documents without a model: from sentences, rows of tables and headings, by a page of rules.

A page may give nothing. Every question has its answer and, as it stands on the page, the sentence, row or text below
a heading that it comes from. The rules are for English.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from rag_core.domain import Document, Gold, Page, Question
from rag_core.errors import Cancelled
from rag_core.evaluation.drafting.rules import Made, Names, make, rows
from rag_core.evaluation.files.row_questions import given_id
from rag_core.text.languages import language_of
from rag_core.text.sentences import split_sentences
from rag_core.text.terms import terms

MAX_PAGES = 80
"""Most pages of one document that are looked at, drawn by chance from a longer one."""

_LAST = ("Drafted from a row of a table.", "Drafted from a heading.")
_TOPIC = re.compile(r"(?!.*(?i:contents|links|reading|figure|table|appendix))[A-Z][^\W\d_]+(?: [\w'’-]+){1,6}")


def draft_from(
    documents: Sequence[Document],
    pages_of: Callable[[str], Sequence[Page]],
    count: int,
    seed: int = 0,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[Question]:
    """Yield at most `count` questions, spread over documents and pages; `pages_of` takes a document's id.

    Documents take turns in an order by `seed`, so that every one gives a question before any gives two. The same
    arguments give the same questions. Raises Cancelled between two documents when asked to stop.
    """
    order = random.Random(seed).sample(list(documents), len(documents))  # noqa: S311
    waiting = deque(draft(document, pages_of, count, seed) for document in order)
    asked: set[str] = set()
    while waiting and len(asked) < count:
        if cancelled and cancelled():
            raise Cancelled("Drafting questions was stopped.")
        drafts = waiting.popleft()
        question = next((question for question in drafts if question.id not in asked), None)
        if question is not None:
            asked.add(question.id)
            waiting.append(drafts)
            yield question


def draft(
    document: Document, pages_of: Callable[[str], Sequence[Page]], count: int, seed: int = 0
) -> Iterator[Question]:
    """Yield at most `count` questions that a document's pages answer, from a different page each time while it can.

    Gold is the document's id, the page, and the text there, character by character. A document in another language
    than English gives none, and neither does a question to which two places give different answers.
    """
    chance = random.Random(f"{seed} {document.id}")  # noqa: S311
    pages = list(pages_of(document.id))
    looked_at = chance.sample(pages, min(MAX_PAGES, len(pages)))
    if not (document.language or language_of(" ".join(page.text for page in looked_at))).startswith("en"):
        return
    names = Names(page.text for page in looked_at)
    by_page = [list(_of_page(document, page, names)) for page in looked_at]
    answers: dict[str, set[tuple[str, ...]]] = {}
    for questions in by_page:
        chance.shuffle(questions)
        questions.sort(key=lambda question: question.note in _LAST)
        for question in questions:
            answers.setdefault(question.id, set()).add(question.references)
    turns = chain.from_iterable(zip_longest(*by_page))
    once = {question.id: question for question in turns if question and len(answers[question.id]) == 1}
    yield from islice(sorted(once.values(), key=lambda question: question.note == _LAST[1]), count)


def _of_page(document: Document, page: Page, names: Names) -> Iterator[Question]:
    """Every question that a page gives."""
    title = " ".join(document.title.split())
    owner = document.card.organisation if document.card else ""
    whose = f"of {owner}" if owner else f"in “{title}”"
    made = [(make(span.text, names), span.start, span.end) for span in split_sentences(page.text)]
    for one, start, end in (*made, *rows(page.text, whose, names), *_of_headings(document, page, title)):
        if one:
            gold = Gold(document.id, page.number, page.text[start:end])
            note = f"Drafted from {one.kind}."
            yield Question(given_id(one.text), one.text, (one.answer,), (gold,), True, "drafted", note)


def _of_headings(document: Document, page: Page, title: str) -> Iterator[tuple[Made, int, int]]:
    """What is said below headings that read as a topic: the first two sentences there."""
    sections = [section for section in document.sections if section.page == page.number]
    ends = [*(section.start for section in sections[1:]), len(page.text)]
    for section, end in zip(sections, ends, strict=False):
        name = re.sub(r"^[\d.]+\s+", "", " ".join(section.title.split()))
        spans = split_sentences(page.text[section.start : end])
        told = [span for span in spans if span.kind == "sentence" and len(span.text) > 40][:2]
        if told and _TOPIC.fullmatch(name) and len(set(terms(name))) >= 2 and name.lower() != title.lower():
            answer = " ".join(span.text for span in told)
            made = Made(f"What does “{title}” say about “{name}”?", answer, "a heading")
            yield made, section.start + told[0].start, section.start + told[-1].end
