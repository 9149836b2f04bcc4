"""Drafting questions with a language model, which is not believed: the answer has to stand in the passage.

A question is dropped too where it points at the passage instead of naming what it asks about, gives its own answer
away, or is about something else.
"""

from __future__ import annotations

import json
import random
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.domain import Document, Gold, Page, Question
from rag_core.errors import Cancelled
from rag_core.evaluation.asking import fitted, replies
from rag_core.evaluation.drafting.checks import points_out
from rag_core.evaluation.files.row_questions import given_id
from rag_core.models import ChatModel, prompts
from rag_core.text.sentences import split_sentences, tidy
from rag_core.text.terms import coverage, terms
from rag_core.text.tokens import words

PASSAGE_CHARS = 1_600
LEAST_CHARS = 200
"""A page with less text is not asked about."""
QUESTIONS_EACH = 2
MAX_TOKENS = 300
TRIES = 3
"""Passages shown for each question wanted, and a few more, before it is given up."""

_LABELLED = re.compile(
    r"^\W*(?:\d+[.)]\s*)?(?P<kind>q(?:uestion)?|a(?:nswer)?)\W{0,3}\d{0,2}\s*[:.)]\**\s*(?P<text>.*)$", re.IGNORECASE
)
_MOST_ANSWER = 300


@dataclass(frozen=True, slots=True)
class _Passage:
    """A part of a page that is shown to the model: `page.text[start:end]`."""

    document: Document
    page: Page
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]


def draft_by_model(
    model: ChatModel,
    documents: Sequence[Document],
    pages_of: Callable[[str], Sequence[Page]],
    count: int,
    seed: int = 0,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[Question]:
    """Yield at most `count` questions that the model writes, from passages of one document after the other.

    Fewer come where the model writes few that hold. Gold is the document's id, the page and the sentences that hold
    the answer. Raises Cancelled and ModelUnavailable.
    """
    asked: set[str] = set()
    tries = TRIES * count + 5
    for passage in _passages(documents, pages_of, seed):
        if len(asked) >= count or tries == 0:
            return
        tries -= 1
        for text, answer in pairs(_written(model, passage, cancelled)):
            question = checked(text, answer, passage)
            if question is not None and question.id not in asked and len(asked) < count:
                asked.add(question.id)
                yield question
        if cancelled and cancelled():
            raise Cancelled("Drafting questions was stopped.")


def pairs(reply: str) -> Iterator[tuple[str, str]]:
    """Questions with their answers from what a model wrote: JSON, or lines that begin with Q and A in any dress."""
    found = list(_from_json(reply))
    if found:
        yield from found
        return
    question = ""
    for line in reply.splitlines():
        labelled = _LABELLED.match(line)
        if labelled and labelled["kind"].lower().startswith("q"):
            question = _bare(labelled["text"])
        elif labelled and question:
            yield question, _bare(labelled["text"])
            question = ""
        elif not question and line.strip().endswith("?"):
            question = _bare(re.sub(r"^\W*\d*[.)]?\s*", "", line))


def checked(text: str, answer: str, passage: _Passage) -> Question | None:
    """The question with its gold, or None where it does not hold."""
    text, answer = " ".join(text.split()), " ".join(answer.split())
    asked = terms(text)
    if not text.endswith("?") or not 4 <= len(text.split()) <= 40 or len(set(asked)) < 2 or points_out(text):
        return None
    if not 1 <= len(answer) <= _MOST_ANSWER or not words(answer) or _stands(words(answer), words(text)):
        return None
    known = set(terms(f"{passage.text} {passage.document.title}"))
    place = _place(answer, asked, passage)
    if place is None or coverage(asked, known) < 0.5:
        return None
    gold = Gold(passage.document.id, passage.page.number, passage.page.text[place[0] : place[1]])
    return Question(given_id(text), text, (answer,), (gold,), True, "drafted", "Drafted by a model.")


def _passages(
    documents: Sequence[Document], pages_of: Callable[[str], Sequence[Page]], seed: int
) -> Iterator[_Passage]:
    """Passages of all documents in turn, in an order by `seed`."""
    order = random.Random(seed).sample(list(documents), len(documents))  # noqa: S311
    waiting = deque(_of_document(document, pages_of, seed) for document in order)
    while waiting:
        passages = waiting.popleft()
        passage = next(passages, None)
        if passage is not None:
            waiting.append(passages)
            yield passage


def _of_document(document: Document, pages_of: Callable[[str], Sequence[Page]], seed: int) -> Iterator[_Passage]:
    """Passages of whole sentences, each page's in turn, in an order by `seed`."""
    chance = random.Random(f"{seed} {document.id}")  # noqa: S311
    pages = [page for page in pages_of(document.id) if len(page.text.strip()) >= LEAST_CHARS]
    chance.shuffle(pages)
    parts = [_parts(document, page) for page in pages]
    for several in parts:
        chance.shuffle(several)
    for place in range(max(map(len, parts), default=0)):
        yield from (several[place] for several in parts if place < len(several))


def _parts(document: Document, page: Page) -> list[_Passage]:
    """A page cut at sentences into parts of about `PASSAGE_CHARS` characters."""
    parts: list[_Passage] = []
    start = end = -1
    for span in split_sentences(page.text):
        if start >= 0 and span.end - start > PASSAGE_CHARS:
            parts.append(_Passage(document, page, start, end))
            start = -1
        start, end = (span.start if start < 0 else start), span.end
    if start >= 0 and (end - start >= LEAST_CHARS or not parts):
        parts.append(_Passage(document, page, start, end))
    return parts


def _written(model: ChatModel, passage: _Passage, cancelled: Callable[[], bool] | None) -> str:
    """What the model writes about a passage; it goes on after the "Q:" that the prompt ends with."""

    mark = prompts.new_mark()

    def prompt(most: int) -> str:
        quoted = prompts.passages([(passage.document.title, tidy(passage.text)[:most])], mark)
        return prompts.DRAFT.fill(count=str(QUESTIONS_EACH), passages=quoted)

    said = ""
    for said in replies(model, fitted(model, prompt, PASSAGE_CHARS, MAX_TOKENS), MAX_TOKENS, cancelled):
        if len(re.findall(r"(?m)^\W*A\w*\W", said)) > QUESTIONS_EACH:
            break
    begun = said.lstrip()
    return said if begun[:1] in "[{`" or _LABELLED.match(begun.partition("\n")[0]) else f"Q: {said}"


def _from_json(reply: str) -> Iterator[tuple[str, str]]:
    begin, end = re.search(r"[\[{]", reply), max(reply.rfind("]"), reply.rfind("}"))
    if begin is None or end < begin.start():
        return
    try:
        value = json.loads(reply[begin.start() : end + 1])
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        value = next((item for item in value.values() if isinstance(item, list)), [value])
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict):
            plain = {str(key).lower(): text for key, text in item.items()}
            question, answer = plain.get("question", plain.get("q")), plain.get("answer", plain.get("a"))
            if isinstance(question, str) and isinstance(answer, str | int | float):
                yield question, str(answer)


def _bare(text: str) -> str:
    """A text without the quotation marks and stars that a model puts around it."""
    return text.strip().strip("*").strip().strip('"“”').strip()


def _stands(wanted: Sequence[str], held: Sequence[str]) -> bool:
    """Whether words stand in a text one after the other."""
    return any(list(held[place : place + len(wanted)]) == list(wanted) for place in range(len(held) - len(wanted) + 1))


def _place(answer: str, asked: Sequence[str], passage: _Passage) -> tuple[int, int] | None:
    """Where on the page the answer stands: the sentence with it that holds most of the question's words."""
    wanted = words(answer)
    spans = split_sentences(passage.text)
    holders = [span for span in spans if _stands(wanted, words(span.text))]
    if holders:
        best = max(holders, key=lambda span: (coverage(asked, terms(span.text)), -span.start))
        return passage.start + best.start, passage.start + best.end
    for first, second in pairwise(spans):
        if _stands(wanted, words(passage.text[first.start : second.end])):
            return passage.start + first.start, passage.start + second.end
    return None
