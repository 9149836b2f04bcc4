"""Drafting questions from documents without a model: what is defined, counted, dated, named, and set in tables.

Quality before quantity: a page may give nothing. Every question has its answer and the sentence, row or heading it
comes from, as it stands on the page, so that it can be looked at before it is taken. The rules are for English.
"""

from __future__ import annotations

import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_core.domain import Document, Gold, Page, Question, Section
from rag_core.errors import Cancelled
from rag_core.evaluation.drafting.names import Antecedent, company_of, with_company
from rag_core.evaluation.drafting.rules import make
from rag_core.evaluation.drafting.tables import cells
from rag_core.evaluation.drafting.words import Speech
from rag_core.evaluation.files.row_questions import given_id
from rag_core.text.sentences import Span, split_sentences, tidy

MAX_PAGES = 80
"""Most pages of one document that are looked at, drawn by chance from a longer one."""
SHARES = {"a sentence": 0.6, "a row of a table": 0.25, "a heading": 0.15}
"""What a document's questions come from, as long as there are drafts of each kind."""
LEAST_ENGLISH = 0.05
"""Share of a document's words that are English function words, in a document that questions are drafted from."""
LEAST_BELOW = 120
"""Characters of text that a heading needs below it to be asked about."""

_ENGLISH = frozenset(("the", "of", "and", "to", "a", "is", "was", "for", "that"))
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?: \"[^\"]*\")?\)")
_NO_TOPIC = re.compile(
    r"(?:contents|introduction|summary|conclusions?|references|bibliography|appendix|index|notes?|abstract"
    r"|preface|overview"
    r"|acknowledge?ments?|see also|external links|further reading|signatures?|exhibits?|part [ivx]+|item \d+|table of"
    r"|about this|how to|general|other|background|discussion|results?|methods?|examples?|figure|further|words)\b",
    re.IGNORECASE,
)


_NO_TELLING = re.compile(r"(?:See|Refer|The following|For example|As we|As follows|Notwithstanding|Note)\b")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question that could be asked, and where its answer stands."""

    text: str
    references: tuple[str, ...]
    page: int
    excerpt: str
    rule: str
    worth: int


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
    waiting = deque(_lazily(document, pages_of, count, seed) for document in order)
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


def draft(document: Document, pages: Sequence[Page], count: int, seed: int = 0) -> Iterator[Question]:
    """Yield at most `count` questions that a document's pages answer, from a different page each time while it can.

    Gold is the document's id, the page, and the text there, character by character. A document in another language
    than English gives none.
    """
    if document.language and not document.language.lower().startswith("en"):
        return
    chance = random.Random(f"{seed} {document.id}")  # noqa: S311
    looked_at = list(pages)
    if len(looked_at) > MAX_PAGES:
        looked_at = sorted(chance.sample(looked_at, MAX_PAGES), key=lambda page: page.number)
    if not _is_english(looked_at):
        return
    found = _without_doubles(_drafts(document, looked_at, company_of(page.text for page in pages)))
    for one in _spread(found, count, chance):
        gold = Gold(document.id, one.page, one.excerpt)
        yield Question(
            given_id(one.text), one.text, one.references, (gold,), True, "drafted", f"Drafted from {one.rule}."
        )


def _lazily(document: Document, pages_of: Callable[[str], Sequence[Page]], count: int, seed: int) -> Iterator[Question]:
    """The drafts of one document, its pages fetched when the first is wanted."""
    yield from draft(document, pages_of(document.id), count, seed)


def _is_english(pages: Sequence[Page]) -> bool:
    words = [word for page in pages for word in re.findall(r"[^\W\d_]+", page.text.lower())]
    return sum(word in _ENGLISH for word in words) > LEAST_ENGLISH * len(words)


def _drafts(document: Document, pages: Sequence[Page], company: str) -> Iterator[_Draft]:
    """Every draft of these pages, in their order."""
    speech = Speech(page.text for page in pages)
    title = " ".join(document.title.split())
    for page in pages:
        yield from _of_sentences(page, speech, company, title)
        for cell in cells(page.text, speech, title):
            excerpt = page.text[cell.start : cell.end]
            yield _Draft(cell.text, cell.references, page.number, excerpt, "a row of a table", 4)
        sections = [section for section in document.sections if section.page == page.number]
        yield from _of_headings(page, sections, title)


def _of_sentences(page: Page, speech: Speech, company: str, title: str) -> Iterator[_Draft]:
    """At most one draft of each sentence: the best that the rules make."""
    antecedent, before = Antecedent(speech), 0
    for span in split_sentences(page.text):
        if span.kind not in ("sentence", "row") or "\n\n" in page.text[before : span.start]:
            antecedent.forget()
        before = span.end
        if span.kind not in ("sentence", "row"):
            continue
        sentence = antecedent.put_in(with_company(_LINK.sub(r"\1", span.text), company))
        made = max(make(sentence, speech), key=lambda made: made.worth, default=None)
        if made:
            # Who "the Company" is, is known of this document alone.
            asked = f"In “{title}”, {made.text[0].lower()}{made.text[1:]}" if "the Company" in made.text else made.text
            excerpt = page.text[span.start : span.end]
            yield _Draft(asked, made.references, page.number, excerpt, made.rule, made.worth)


def _of_headings(page: Page, sections: Sequence[Section], title: str) -> Iterator[_Draft]:
    """What is said below headings that read as a topic, with the first sentences there."""
    named = f"What does “{title}” say" if _reads_as_title(title) else "What is said"
    for place, section in enumerate(sections):
        name = re.sub(r"^[\d.]+\s+", "", " ".join(section.title.split()))
        end = sections[place + 1].start if place + 1 < len(sections) else len(page.text)
        spans = [span for span in split_sentences(page.text[section.start : end]) if span.kind == "sentence"]
        if not _is_topic(name) or name.lower() == title.lower() or not _is_told(name, spans, end - section.start):
            continue
        excerpt = page.text[section.start + spans[0].start : section.start + spans[:2][-1].end]
        yield _Draft(f"{named} about “{name}”?", (tidy(excerpt),), page.number, excerpt, "a heading", 1)


def _reads_as_title(title: str) -> bool:
    letters = sum(character.isalpha() or character == " " for character in title)
    return 4 <= len(title) <= 70 and letters >= 0.45 * len(title) and title[0].isalpha() and not _NO_TOPIC.match(title)


def _is_topic(name: str) -> bool:
    return (
        2 <= len(name.split()) <= 7
        and name[0].isupper()
        and name[-1].isalnum()
        and not name.isupper()
        and len(set(name.lower().split())) == len(name.split())
        and not _NO_TOPIC.match(name)
        and not re.search(r"[\d|:;?!()_“”]|\.\s", name)
    )


def _is_told(name: str, spans: Sequence[Span], length: int) -> bool:
    """Whether enough is said below a heading, and not the heading again."""
    if not spans or length < LEAST_BELOW:
        return False
    first = spans[0].text
    letters = sum(character.isalpha() or character == " " for character in first)
    sound = len(first) >= 40 and first[0].isupper() and first[-1] in ".!:" and letters >= 0.85 * len(first)
    return sound and not first.lower().startswith(name.lower()) and not _NO_TELLING.match(first)


def _without_doubles(drafts: Iterator[_Draft]) -> list[_Draft]:
    """One draft of each question; none where two places give different answers to it."""
    found: dict[str, _Draft] = {}
    doubtful: set[str] = set()
    for one in drafts:
        key = one.text.lower()
        if key in found and not set(found[key].references) & set(one.references):
            doubtful.add(key)
        found.setdefault(key, one)
    return [one for key, one in found.items() if key not in doubtful]


def _spread(drafts: Sequence[_Draft], count: int, chance: random.Random) -> Iterator[_Draft]:
    """Drafts by the shares of their kinds, and of each kind from one page after the other."""
    kinds: dict[str, deque[_Draft]] = {}
    for kind in SHARES:
        kinds[kind] = deque(_by_page([one for one in drafts if _kind(one) == kind], chance))
    given: Counter[str] = Counter()
    for _ in range(count):
        left = [kind for kind, several in kinds.items() if several]
        if not left:
            return
        behind = min(left, key=lambda kind: (given[kind] + 1) / SHARES[kind])
        given[behind] += 1
        yield kinds[behind].popleft()


def _kind(one: _Draft) -> str:
    return one.rule if one.rule in SHARES else "a sentence"


def _by_page(drafts: Sequence[_Draft], chance: random.Random) -> Iterator[_Draft]:
    """The best draft of every page, then the second best, pages in an order by chance."""
    by_page: dict[int, list[_Draft]] = {}
    for one in drafts:
        by_page.setdefault(one.page, []).append(one)
    several = [by_page[page] for page in sorted(by_page)]
    chance.shuffle(several)
    for of_page in several:
        chance.shuffle(of_page)
        of_page.sort(key=lambda one: -one.worth)
    for place in range(max(map(len, several), default=0)):
        yield from (of_page[place] for of_page in several if place < len(of_page))
