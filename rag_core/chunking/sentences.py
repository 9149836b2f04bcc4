"""Cutting between sentences, rows and headings within paragraphs and sections, sized in the model's own tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from rag_core.chunking.base import PageText, Part, Span, Strategy
from rag_core.text.sentences import split_sentences
from rag_core.text.tables import is_caption

# Sentences are looked for in this many characters at a time, so that the work grows with a text's length and no faster.
_STRETCH = 20_000
# A table begins within so many characters of its caption's beginning.
_CAPTION_CHARS, _LOOKED_AT = 400, 40
# Shares of a chunk: from this length on what stands before a new section, or before a paragraph that does not fit, is a
# chunk by itself; less would say too little to be found. The last part of a paragraph reaches back to half a chunk.
_BEFORE_SECTION, _BEFORE_PARAGRAPH, _LAST = 0.4, 0.25, 0.5


class Opens(IntEnum):
    """What begins with a unit."""

    SENTENCE = 0
    PARAGRAPH = 1
    SECTION = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """What is not cut any further: a sentence, row or heading up to where the next one begins."""

    start: int
    end: int
    opens: Opens = Opens.SENTENCE
    is_heading: bool = False
    tokens: int = 0


class Sentences(Strategy):
    """At most `tokens` tokens. Whole paragraphs stand together as long as they fit; where one must be cut, its chunks
    share up to `overlap_tokens` of whole sentences. A section begins a chunk unless little stands before it."""

    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """Cut each page; tokens are counted for the units of all pages at a time."""
        units = [[unit for part in page.parts for unit in units_of(page.text, part)] for page in pages]
        measured = self._measured([page.text for page in pages], units)
        return [list(self._spans(page.text, found)) for page, found in zip(pages, measured, strict=True)]

    def _grouped(self, text: str, units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
        """The units of one page in groups that stand together; a longer group is cut between its units."""
        return _groups(units, self._settings.tokens)

    def _measured(self, texts: Sequence[str], units: Sequence[list[Unit]]) -> list[list[Unit]]:
        """The units of each text with their tokens, those that are longer than a chunk cut at blanks until they fit."""
        known: list[list[Unit]] = [list(found) for found in units]
        while unknown := [(place, unit) for place, found in enumerate(known) for unit in found if not unit.tokens]:
            counts = iter(self._count_tokens([texts[place][unit.start : unit.end] for place, unit in unknown]))
            known = [
                [
                    part
                    for unit in found
                    for part in ([unit] if unit.tokens else self._fitting(text, unit, max(next(counts), 1)))
                ]
                for text, found in zip(texts, known, strict=True)
            ]
        return known

    def _fitting(self, text: str, unit: Unit, tokens: int) -> list[Unit]:
        """The unit with its tokens, or parts of it that are yet to be counted."""
        length, room = unit.end - unit.start, self._settings.tokens
        if tokens <= room or length == 1:
            return [replace(unit, tokens=tokens)]
        size = max(1, length * room // (tokens + room))
        parts: list[Unit] = []
        start = unit.start
        while start < unit.end:
            end = min(start + size, unit.end)
            blank = -1 if end == unit.end else max(text.rfind(mark, start + 1, end + 1) for mark in " \n\t")
            end = blank if blank > start else end
            parts.append(replace(unit, start=start, end=end, opens=Opens.SENTENCE if parts else unit.opens))
            start = end
        return parts

    def _spans(self, text: str, units: Sequence[Unit]) -> Iterator[Span]:
        """The chunks of one page."""
        for group in self._grouped(text, units):
            for first, last in _packed(group, self._settings.tokens, self._settings.overlap_tokens):
                start, end = _strip(text, group[first].start, group[last - 1].end)
                if start < end:
                    yield start, end


def units_of(text: str, part: Part) -> Iterator[Unit]:
    """The units of a part: each ends where the next begins, so that nothing between sentences is left out."""
    opens = Opens.SECTION
    captions = is_row = False
    for start, end in _stretches(text, part.start, part.end):
        spans = split_sentences(text[start:end])
        ends = [*(start + span.start for span in spans[1:]), end]
        for number, last in enumerate(ends):
            was_row, is_row = is_row, "\t" in text[start:last].strip()
            captions = not is_row and (captions or _captions_table(text, start, end))
            if was_row and not captions and is_caption(text[start : start + _LOOKED_AT]):
                opens = Opens.SENTENCE  # a caption below its table
            is_heading = captions or (bool(spans) and spans[number].kind == "heading")
            if start < last:
                yield Unit(start, last, opens, is_heading)
            gap = text[start + len(text[start:last].rstrip()) : last]
            opens = Opens.PARAGRAPH if gap.count("\n") > 1 and not is_heading else Opens.SENTENCE
            start = last


def _captions_table(text: str, start: int, end: int) -> bool:
    """Whether a table's caption begins here, and its rows soon behind that: it belongs to what follows, as headings."""
    return is_caption(text[start : start + _LOOKED_AT]) and "\t" in text[start : min(start + _CAPTION_CHARS, end)]


def _stretches(text: str, start: int, end: int) -> Iterator[Span]:
    """Spans of a bounded length, cut at paragraphs, else lines, else words."""
    while end - start > _STRETCH:
        cuts = (text.rfind(mark, start + _STRETCH // 2, start + _STRETCH) for mark in ("\n\n", "\n", " "))
        cut = next((cut for cut in cuts if cut > 0), start + _STRETCH)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _groups(units: Sequence[Unit], room: int) -> Iterator[list[Unit]]:
    """Paragraphs that stand together, as many as there is room for; a longer one alone, or with little before it."""
    group: list[Unit] = []
    held = 0
    for paragraph in paragraphs_of(units):
        count = tokens_of(paragraph)
        is_full = held + count > room and held >= _BEFORE_PARAGRAPH * room
        if group and (is_full or (paragraph[0].opens is Opens.SECTION and held >= _BEFORE_SECTION * room)):
            yield group
            group, held = [], 0
        group = group + paragraph
        held += count
    if group:
        yield group


def paragraphs_of(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """The units of each paragraph, a section's beginning among what begins one."""
    paragraph: list[Unit] = []
    for unit in units:
        if paragraph and unit.opens:
            yield paragraph
            paragraph = []
        paragraph.append(unit)
    if paragraph:
        yield paragraph


def _packed(units: Sequence[Unit], room: int, overlap: int) -> Iterator[Span]:
    """Runs of units, by index, each as full as it can be: parts of equal length were found less often."""
    first = held = 0
    for index, unit in enumerate(units):
        if index > first and held + unit.tokens > room:
            stop = _without_headings(units, first, index, room)
            yield first, stop
            first = _reaching_back(units, stop, first + 1, min(overlap, room - tokens_of(units[stop : index + 1])))
            held = tokens_of(units[first:index])
        held += unit.tokens
    yield _reaching_back(units, first, 0, round(_LAST * room) - held), len(units)


def _without_headings(units: Sequence[Unit], first: int, stop: int, room: int) -> int:
    """The end of a run that leaves headings at its end to what follows them."""
    end, held = stop, units[stop].tokens
    while end > first and units[end - 1].is_heading and (held := held + units[end - 1].tokens) <= room:
        end -= 1
    return end if end > first else stop


def _reaching_back(units: Sequence[Unit], begin: int, least: int, room: int) -> int:
    """Where a run begins that takes units before it along as far as there is room."""
    shared = 0
    while begin > least and (shared := shared + units[begin - 1].tokens) <= room:
        begin -= 1
    return begin


def tokens_of(units: Sequence[Unit]) -> int:
    """The tokens of units together."""
    return sum(unit.tokens for unit in units)


def _strip(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
