"""Where gold stands: names of documents to documents, excerpts to spans of pages.

An excerpt is looked for by its letters and digits alone, without case and accents, so that line breaks, hyphens at
them, ligatures, kinds of quotation marks and white space make no difference.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate

from rag_core.domain import Document, Gold, Page, Question, RowProblem

_WORD = re.compile(r"[^\W_]+")
_ANCHOR = 40  # letters at either end of an excerpt that must stand as they are where its middle differs
_STRETCH = 1.5
_LEAST_ID = 8


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end`, exclusive, of the text of page `page`."""

    page: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """One gold place of a question as it was found: `gold` is its number there.

    Without `spans` the whole page is meant, without `page` the whole document.
    """

    gold: int
    document_id: str
    page: int | None = None
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Gold that was not found: what of it, "document", "page" or "excerpt", and a sentence that says so."""

    column: str
    message: str


class Flat:
    """A page's letters and digits without what stands between them, and the way back to its text."""

    def __init__(self, page: Page) -> None:
        self.number = page.number
        self.text = "".join(map(_folded, _WORD.findall(page.text)))
        self._page = page

    @cached_property
    def _words(self) -> list[tuple[str, int]]:
        """Each word and where it stands; asked for of the pages alone on which something was found."""
        return [(match.group(), match.start()) for match in _WORD.finditer(self._page.text)]

    @cached_property
    def _begins(self) -> list[int]:
        return [0, *accumulate(len(_folded(word)) for word, _ in self._words)]

    def span(self, start: int, end: int) -> Span:
        """The part of the page's text that letters `start` to `end` come from. There is at least one."""
        return Span(self.number, self._at(start), self._at(end - 1) + 1)

    def is_edge(self, letter: int) -> bool:
        """Whether a word begins or ends before this letter."""
        return self._begins[bisect_left(self._begins, letter)] == letter

    def _at(self, letter: int) -> int:
        number = bisect_right(self._begins, letter) - 1
        word, start = self._words[number]
        within = letter - self._begins[number]
        if word.isascii():
            return start + within
        lengths = list(accumulate(len(_folded(letter)) for letter in word))
        return start + bisect_right(lengths, within)


class Text:
    """The letters of pages in a row, as one."""

    def __init__(self, flats: Sequence[Flat]) -> None:
        self._flats = flats
        self._text = "".join(flat.text for flat in flats)
        self._begins = [0, *accumulate(len(flat.text) for flat in flats)]

    def find(self, letters: str) -> tuple[Span, ...]:
        """Where letters stand, a span for each page: rather from a word's begin to a word's end than within words."""
        first = at = self._text.find(letters)
        while at >= 0 and not (self._is_edge(at) and self._is_edge(at + len(letters))):
            at = self._text.find(letters, at + 1)
        at = first if at < 0 else at
        return self._spans(at, at + len(letters)) if at >= 0 else ()

    def find_ends(self, letters: str) -> tuple[Span, ...]:
        """Where both ends of letters stand, in their order and about as far from each other."""
        if len(letters) < 2 * _ANCHOR:
            return ()
        start = self._text.find(letters[:_ANCHOR])
        end = self._text.find(letters[-_ANCHOR:], start + _ANCHOR) if start >= 0 else -1
        if end < 0 or end + _ANCHOR - start > _STRETCH * len(letters):
            return ()
        return self._spans(start, end + _ANCHOR)

    def _is_edge(self, letter: int) -> bool:
        page = bisect_right(self._begins, letter) - 1
        return page == len(self._flats) or self._flats[page].is_edge(letter - self._begins[page])

    def _spans(self, start: int, end: int) -> tuple[Span, ...]:
        first = bisect_right(self._begins, start) - 1
        last = bisect_left(self._begins, end)
        return tuple(
            flat.span(max(start - begin, 0), min(end - begin, len(flat.text)))
            for flat, begin in zip(self._flats[first:last], self._begins[first:last], strict=True)
            if flat.text
        )


class Locator:
    """Finds gold in the documents of a library. `pages` gives a document's pages. Not thread-safe."""

    def __init__(self, documents: Sequence[Document], pages: Callable[[str], Sequence[Page]]) -> None:
        self._documents = names_of(documents)
        self._pages = pages
        self._flat: dict[str, dict[int, Page | Flat]] = {}
        self._texts: dict[str, Text] = {}
        self._titles = {document.id: document.title for document in documents}
        self._known: dict[Gold, Place | Missing] = {}

    def places(self, question: Question) -> tuple[list[Place], list[str]]:
        """The gold of a question that was found, and one sentence for each that was not."""
        found: list[Place] = []
        problems: list[str] = []
        for number, gold in enumerate(question.gold):
            place = self._looked_up(gold)
            if isinstance(place, Missing):
                problems.append(place.message)
            else:
                found.append(Place(number, place.document_id, place.page, place.spans))
        return found, problems

    def problems(self, questions: Sequence[Question]) -> tuple[RowProblem, ...]:
        """What of the gold of some questions is not in the library; `row` is the question's number, from 1."""
        return tuple(
            RowProblem(row, place.column, place.message, kept=True)
            for row, question in enumerate(questions, start=1)
            for place in map(self._looked_up, question.gold)
            if isinstance(place, Missing)
        )

    def _looked_up(self, gold: Gold) -> Place | Missing:
        if gold not in self._known:
            self._known[gold] = self._place(gold)
        return self._known[gold]

    def _place(self, gold: Gold) -> Place | Missing:
        ids = self._documents.get(_called(gold.document), ())
        if not ids:
            return Missing("document", f"There is no document “{gold.document}” in the library.")
        if len(ids) > 1:
            told = f"{len(ids)} documents are called “{gold.document}”: give the id of one of them."
            return Missing("document", told)
        title = self._titles[ids[0]] if ids[0].startswith(gold.document) else gold.document
        flats = self._flat.get(ids[0])
        if flats is None:
            flats = self._flat[ids[0]] = {page.number: page for page in self._pages(ids[0])}
        if gold.page is not None and gold.page not in flats:
            return Missing("page", f"“{title}” has no page {gold.page}; it has {len(flats)}.")
        excerpt = "".join(map(_folded, _WORD.findall(gold.excerpt)))
        if not excerpt:
            return Place(0, ids[0], gold.page)
        spans = self._search(ids[0], excerpt, gold.page)
        if not spans:
            where = f"page {gold.page}" if gold.page is not None else "any page"
            return Missing("excerpt", f"“{title}” does not hold the excerpt “{_short(gold.excerpt)}” on {where}.")
        return Place(0, ids[0], spans[0].page, spans)

    def _search(self, document_id: str, excerpt: str, page: int | None) -> tuple[Span, ...]:
        """Look on the page that was named, then over its end, or in the whole document; at last by both ends alone."""
        if page is None:
            texts = [self._whole(document_id)]
        else:
            near = [
                self._flatten(document_id, number) for number in (page, page + 1) if number in self._flat[document_id]
            ]
            texts = [Text(near[:1]), Text(near)]
        for text in texts:
            if spans := text.find(excerpt):
                return spans
        return texts[-1].find_ends(excerpt)

    def _whole(self, document_id: str) -> Text:
        if document_id not in self._texts:
            numbers = sorted(self._flat[document_id])
            self._texts[document_id] = Text([self._flatten(document_id, number) for number in numbers])
        return self._texts[document_id]

    def _flatten(self, document_id: str, number: int) -> Flat:
        page = self._flat[document_id][number]
        if isinstance(page, Page):
            page = self._flat[document_id][number] = Flat(page)
        return page


def names_of(documents: Sequence[Document]) -> Mapping[str, tuple[str, ...]]:
    """The ids of ready documents by whatever they can be called in gold: id, its beginning, title, source."""
    names: dict[str, dict[str, None]] = {}
    for document in documents:
        sources = [part for source in document.sources for part in (source, re.split(r"[/\\]", source)[-1])]
        called = [
            document.title,
            *sources,
            *(document.id[:length] for length in range(_LEAST_ID, len(document.id) + 1)),
        ]
        for name in called:
            names.setdefault(_called(name), {})[document.id] = None
    return {name: tuple(ids) for name, ids in names.items()}


def _folded(word: str) -> str:
    """A word without case, accents and ligatures, letter by letter; none of them counts for nothing."""
    if word.isascii():
        return word.lower()
    return "".join(_plain(letter) for letter in word)


@cache
def _plain(letter: str) -> str:
    parts = unicodedata.normalize("NFKD", letter).casefold()
    return "".join(part for part in parts if part.isalnum()) or letter


def _called(name: str) -> str:
    return " ".join(name.split()).casefold()


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:59].rstrip() + "…"
