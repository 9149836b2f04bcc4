"""From the numbers that a model wrote to citations that open the very sentence meant.

A model cites passages by the numbers in its prompt. Here each sentence that cites gets the passage's best matching
sentence instead, numbers are given anew in order of first use, and numbers that point at nothing are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rag_core.answering.passages import Quote, citation, merge_hits, quotes
from rag_core.domain import Citation, Hit, Sentence
from rag_core.models.prompts import NOT_FOUND
from rag_core.text.numbers import numbers
from rag_core.text.sentences import split_sentences
from rag_core.text.terms import coverage, terms

# [1], [1, 2], [1-3], [passage 2], and what some models make of them: 【1】, [^1].
_MARKER = re.compile(r"[\[【]\^?(?:passages?\s*)?(\d{1,3}(?:\s*(?:,|;|-|–|and|&)\s*\d{1,3})*)[\]】]", re.IGNORECASE)
_OPEN_MARKER = re.compile(r"\s*[\[【][^\]】]{0,30}$|\s+$")
_MARKERS = re.compile(r"(?:\s*\[\d{1,3}\])+")
_SAYS_NOTHING = re.compile(
    r"""there\ (?:is|are)\ no\ (?:information|mention)\b
    |(?:the|these|this|your)\b [^.]{0,40}? \b(?:passages?|excerpts?|documents?|text|context|information)\b [^.]{0,40}?
    \b(?:(?:do|does|did|is|are)(?:\ not|n['’]t)|cannot)\ (?:\w+\ ){0,2}?
    (?:provid|mention|say|stat|contain|specif|includ|giv|hold|tell|found|available)""",
    re.IGNORECASE | re.VERBOSE,
)
_RUN = 20  # a range of numbers longer than this is a slip, not a citation


def cited_numbers(inner: str) -> list[int]:
    """Numbers inside one marker: "1, 3-5" is 1, 3, 4, 5."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", inner):
        end = int(last or first)
        found.extend(range(int(first), end + 1) if end - int(first) < _RUN else [])
    return list(dict.fromkeys(found))


@dataclass(slots=True)
class Register:
    """Citations in order of first use; the same span of a page is one citation."""

    citations: list[Citation] = field(default_factory=list)

    def number(self, quote: Quote) -> int:
        """The number under which a quote is cited, a new one where it was not cited yet."""
        for known in self.citations:
            same_page = (known.document_id, known.page) == (quote.hit.document.id, quote.hit.page)
            if same_page and (known.start, known.end) == (quote.start, quote.end):
                return known.number
        number = len(self.citations) + 1
        self.citations.append(citation(number, quote.hit, quote.start, quote.end, quote.exact))
        return number


class Passages:
    """The hits of a question with what is around them, in sentences: to find the one that a written one stands on.

    parts: for each hit the text that it makes with what is around it, in pieces where that does not join.
    """

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.hits = tuple(hits)
        self.parts = [tuple(merge_hits([hit, *hit.around])) for hit in hits]

    @cached_property
    def _by_hit(self) -> list[tuple[Quote, ...]]:
        return [tuple(quote for quote in quotes(group) if quote.kind != "heading") for group in self.parts]

    @cached_property
    def _terms(self) -> list[list[set[str]]]:
        return [[set(terms(quote.text)) for quote in group] for group in self._by_hit]

    def __len__(self) -> int:
        return len(self.hits)

    def best(self, sentence: str, number: int) -> Quote | None:
        """The sentence of passage `number` (from 1) that shares most with a written one; None where there is none."""
        if not 1 <= number <= len(self.hits) or not self._by_hit[number - 1]:
            return None
        wanted, figures = set(terms(sentence)), numbers(sentence)
        scores = [
            2 * len(wanted & held) / max(len(wanted) + len(held), 1)
            + coverage(list(wanted), held)
            + len(figures & held)
            for held in self._terms[number - 1]
        ]
        return self._by_hit[number - 1][scores.index(max(scores))]


class CitationWriter:
    """Rewrites markers while an answer streams: `feed` text as it comes, `finish` at the end.

    What may be the beginning of a marker is held back until it is clear. The pieces returned, joined, are `text`, which
    may begin with one that is there, of which `citations` are.
    """

    def __init__(self, passages: Passages, text: str = "", citations: Sequence[Citation] = ()) -> None:
        self.register = Register([*citations])
        self.removed = 0
        self.text = text
        self.passages = passages
        self._pending = ""

    def feed(self, piece: str) -> str:
        """Take what the model wrote; give what can be shown."""
        self._pending += piece
        held = _OPEN_MARKER.search(self._pending)
        ready = self._pending[: held.start()] if held else self._pending
        self._pending = self._pending[len(ready) :]
        return self._write(ready)

    def finish(self) -> str:
        """Give what was held back."""
        rest, self._pending = self._pending.rstrip(), ""
        return self._write(rest)

    def _write(self, raw: str) -> str:
        begin = len(self.text)
        position = 0
        for marker in _MARKER.finditer(raw):
            self.text += raw[position : marker.start()]
            if not self._cite(cited_numbers(marker[1])):
                self.text = self.text[:begin] + self.text[begin:].rstrip(" ")
            position = marker.end()
        self.text += raw[position:]
        return self.text[begin:]

    def _cite(self, wanted: Sequence[int]) -> bool:
        """Put the new numbers in place of one marker; False where there is nothing to put."""
        sentence = last_sentence(self.text)
        found = [self.passages.best(sentence, number) for number in wanted]
        self.removed += found.count(None)
        marks = "".join(f"[{self.register.number(quote)}]" for quote in found if quote is not None)
        already = _MARKERS.search(self.text[-40:]) if self.text.endswith("]") else None
        if not marks or (already and marks in already[0]):
            return False
        self.text += marks
        return True


def last_sentence(text: str) -> str:
    """The sentence that a marker at the end of a text belongs to, without the markers in it."""
    spans = split_sentences(without_markers(text[-1500:]))
    return spans[-1].text if spans else ""


def without_markers(text: str) -> str:
    """A text without its citation numbers."""
    return _MARKERS.sub("", text)


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence of an answer: its text without markers, the numbers it cites, and where its text ends."""

    text: str
    cited: tuple[int, ...]
    end: int


def sentences_of(text: str) -> list[WrittenSentence]:
    """The sentences of an answer, each with the numbers cited in it or right behind it."""
    plain, runs = _lifted(text)
    spans = split_sentences(plain)
    found: list[WrittenSentence] = []
    for index, span in enumerate(spans):
        begin = span.start if index else -1
        end = spans[index + 1].start if index + 1 < len(spans) else len(plain)
        numbers_here = [number for place, run in runs if begin < place <= end for number in _numbers_of(run)]
        before = sum(len(run) for place, run in runs if place < span.end)
        found.append(WrittenSentence(span.text, tuple(dict.fromkeys(numbers_here)), span.end + before))
    return found


def is_not_found(text: str) -> bool:
    """Whether an answer says that the passages do not hold one; small models say it by its first two words alone, or
    in a sentence of their own."""
    sentence = without_markers(text).strip()
    said = sentence.casefold().rstrip(".")
    told = said == "not found" or said.startswith(NOT_FOUND.casefold().rstrip("."))
    return told or (_SAYS_NOTHING.match(said) is not None and len(split_sentences(sentence)) == 1)


def renumbered(
    text: str, written: Sequence[WrittenSentence], sentences: Sequence[Sentence], register: Register
) -> tuple[str, tuple[Sentence, ...], tuple[Citation, ...]]:
    """Number citations in order of first use in the text, in its sentences and in themselves.

    `sentences` are `written` after the check, which may have added citations to some of them.
    """
    order = dict.fromkeys(number for sentence in sentences for number in sentence.citations)
    new = {old: place for place, old in enumerate(order, start=1)}
    for old, sentence in reversed(list(zip(written, sentences, strict=True))):
        added = "".join(f"[{number}]" for number in sentence.citations if number not in old.cited)
        text = f"{text[: old.end]} {added}{text[old.end :]}" if added else text
    text = _MARKERS.sub(lambda run: _renamed(run[0], new), text)
    moved = tuple(replace(one, citations=tuple(new[number] for number in one.citations)) for one in sentences)
    known = {entry.number: entry for entry in register.citations}
    return text, moved, tuple(replace(known[old], number=place) for old, place in new.items())


def _renamed(run: str, new: Mapping[int, int]) -> str:
    """The markers of one run under their new numbers."""
    marks = "".join(f"[{new[number]}]" for number in dict.fromkeys(_numbers_of(run)) if number in new)
    return run[: len(run) - len(run.lstrip())] + marks if marks else ""


def _numbers_of(run: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", run)]


def _lifted(text: str) -> tuple[str, list[tuple[int, str]]]:
    """A text without its markers, and each run of markers with its place in that."""
    plain, runs, position = "", [], 0
    for run in _MARKERS.finditer(text):
        plain += text[position : run.start()]
        runs.append((len(plain), run[0]))
        position = run.end()
    return plain + text[position:], runs
