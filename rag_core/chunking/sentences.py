"""Cutting between sentences, table rows and headings within sections, sized in the embedding model's own tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.chunking.base import PageText, Part, Span, Strategy
from rag_core.text.sentences import split_sentences

# Sentences are looked for in this many characters at a time, so that the work grows with a text's length and no faster.
_STRETCH = 20_000
# A section of less than this share of a chunk stands with its neighbour's text: alone it would say next to nothing.
_TINY_SHARE = 0.2
# A title and section that leave a chunk less than this share of its tokens are not made room for any further.
_LEAST_ROOM = 0.6


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut any further: a sentence, row or heading up to where the next one begins."""

    start: int
    end: int
    room: int
    is_heading: bool = False
    tokens: int = 0


class Sentences(Strategy):
    """At most `tokens` tokens with title and section, neighbours sharing up to `overlap_tokens` of whole sentences.

    A new section begins a new chunk unless it is tiny, and a heading stands with what follows it.
    """

    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """Cut each page; tokens are counted for the units of all pages at a time."""
        rooms = self._rooms({part.context for page in pages for part in page.parts})
        parts = [(number, part) for number, page in enumerate(pages) for part in page.parts]
        units = [list(_units(pages[number].text, part, rooms[part.context])) for number, part in parts]
        measured = self._measured([pages[number].text for number, _ in parts], units)
        by_page: list[list[list[_Unit]]] = [[] for _ in pages]
        for (number, _), found in zip(parts, measured, strict=True):
            by_page[number].append(found)
        return [list(self._spans(page.text, found)) for page, found in zip(pages, by_page, strict=True)]

    def _rooms(self, contexts: set[str]) -> dict[str, int]:
        """The tokens that each context leaves to a chunk's text."""
        known = list(contexts)
        least = round(_LEAST_ROOM * self._settings.tokens)
        return {
            context: max(self._settings.tokens - count, least)
            for context, count in zip(known, self._count_tokens(known), strict=True)
        }

    def _measured(self, texts: Sequence[str], units: Sequence[list[_Unit]]) -> list[list[_Unit]]:
        """The units of each text with their tokens, those that are longer than a chunk cut at blanks until they fit."""
        flat = [(place, unit) for place, found in enumerate(units) for unit in found]
        while unknown := [index for index, (_, unit) in enumerate(flat) if not unit.tokens]:
            counts = self._count_tokens([texts[flat[i][0]][flat[i][1].start : flat[i][1].end] for i in unknown])
            fitted: list[tuple[int, _Unit]] = []
            done = 0
            for index, count in zip(unknown, counts, strict=True):
                fitted += flat[done:index]
                place, unit = flat[index]
                fitted += [(place, part) for part in _fitting(texts[place], unit, max(count, 1))]
                done = index + 1
            flat = fitted + flat[done:]
        found: list[list[_Unit]] = [[] for _ in units]
        for place, unit in flat:
            found[place].append(unit)
        return found

    def _spans(self, text: str, sections: Sequence[list[_Unit]]) -> Iterator[Span]:
        """Chunks of one page, from the units of each of its sections."""
        tiny = _TINY_SHARE * self._settings.tokens
        blocks: list[list[_Unit]] = []
        for units in sections:
            if blocks and min(_tokens(blocks[-1]), _tokens(units)) < tiny:
                blocks[-1] += units
            else:
                blocks.append(list(units))
        for block in blocks:
            for first, last in _packed(block, self._settings.overlap_tokens):
                start, end = _strip(text, block[first].start, block[last - 1].end)
                if start < end:
                    yield start, end


def _units(text: str, part: Part, room: int) -> Iterator[_Unit]:
    """The units of a part: each ends where the next begins, so that nothing between sentences is left out."""
    for start, end in _stretches(text, part.start, part.end):
        spans = split_sentences(text[start:end])
        starts = [start, *(start + span.start for span in spans[1:])]
        kinds = [span.kind == "heading" for span in spans] or [False]
        for first, last, is_heading in zip(starts, [*starts[1:], end], kinds, strict=True):
            if first < last:
                yield _Unit(first, last, room, is_heading)


def _stretches(text: str, start: int, end: int) -> Iterator[Span]:
    """Spans of a bounded length, cut at paragraphs, else lines, else words."""
    while end - start > _STRETCH:
        cuts = (text.rfind(mark, start + _STRETCH // 2, start + _STRETCH) for mark in ("\n\n", "\n", " "))
        cut = next((cut for cut in cuts if cut > 0), start + _STRETCH)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _fitting(text: str, unit: _Unit, tokens: int) -> list[_Unit]:
    """The unit with its tokens, or parts of it that are yet to be counted."""
    length = unit.end - unit.start
    if tokens <= unit.room or length == 1:
        return [replace(unit, tokens=tokens)]
    size = max(1, length * unit.room // (tokens + unit.room))
    parts, start = [], unit.start
    while start < unit.end:
        end = min(start + size, unit.end)
        blank = -1 if end == unit.end else max(text.rfind(mark, start + 1, end + 1) for mark in " \n\t")
        end = blank if blank > start else end
        parts.append(replace(unit, start=start, end=end))
        start = end
    return parts


def _packed(units: Sequence[_Unit], overlap: int) -> list[Span]:
    """Runs of units, by index, each of as many as its room holds: parts of equal length were found less often."""
    room = min((unit.room for unit in units), default=1)
    runs: list[Span] = []
    first = held = 0
    for index, unit in enumerate(units):
        if index > first and held + unit.tokens > room:
            stop = _without_headings(units, first, index, room)
            runs.append((first, stop))
            first = _overlapped(units, first, stop, overlap, room - _tokens(units[stop : index + 1]))
            held = _tokens(units[first:index])
        held += unit.tokens
    return [*runs, (first, len(units))] if units else runs


def _without_headings(units: Sequence[_Unit], first: int, stop: int, room: int) -> int:
    """The end of a run that leaves headings at its end to what follows them."""
    end, held = stop, units[stop].tokens
    while end > first and units[end - 1].is_heading and (held := held + units[end - 1].tokens) <= room:
        end -= 1
    return end if end > first else stop


def _overlapped(units: Sequence[_Unit], first: int, stop: int, overlap: int, room: int) -> int:
    """Where a run begins that shares units with the one before it."""
    begin, shared = stop, 0
    while begin > first + 1 and (shared := shared + units[begin - 1].tokens) <= min(overlap, room):
        begin -= 1
    return begin


def _tokens(units: Sequence[_Unit]) -> int:
    return sum(unit.tokens for unit in units)


def _strip(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
