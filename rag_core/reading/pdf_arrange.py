"""A page's text as it is read, and where each of its characters stands in PDFium's count.

PDFium counts characters as they are written. Where lines are read in another order, the text is put together anew and
its runs are kept, so that the boxes of any span can still be asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from unicodedata import is_normalized, normalize

from rag_core.domain import Line
from rag_core.reading.base import Face
from rag_core.reading.pdf_gaps import CLOSED
from rag_core.reading.pdf_order import in_order
from rag_core.reading.pdf_text import SOFT_HYPHEN
from rag_core.reading.text import lowered

Span = tuple[int, int]

# Letters with marks of their own, syllables in their parts, and signs that have another code.
_DECOMPOSED = re.compile(
    "[^\\W\\d_][\u0300-\u036f\u0653-\u0655\u3099\u309a]+|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[\u2126\u212a\u212b]|"
    f"{CLOSED}"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a page with its lines in reading order. runs: (start in the text, start in PDFium's count, length)
    of what was moved; none where the two are the same. values: what stands in none of them, a form's values."""

    text: str
    lines: tuple[Line, ...]
    faces: tuple[Face, ...]
    runs: tuple[tuple[int, int, int], ...] = ()
    values: tuple[Line, ...] = ()

    @property
    def printed(self) -> str:
        """The text without a form's values."""
        text = self.text
        for value in sorted(self.values, key=lambda line: line.start, reverse=True):
            text = text[: value.start] + text[value.end :]
        return text

    def counted(self, span: Span) -> Iterator[Span]:
        """The spans of PDFium's count that a span of the text stands for."""
        if not self.runs:
            yield span
            return
        start, end = span
        first = max(bisect_right(self.runs, start, key=lambda run: run[0]) - 1, 0)
        for begin, counted, length in self.runs[first:]:
            if begin >= end:
                break
            if start < begin + length:
                yield counted + max(start - begin, 0), counted + min(end - begin, length)


def arranged(text: str, lines: Sequence[Line], faces: Sequence[Face]) -> Reading:
    """The page as it is read; `text` and the places of its lines are as PDFium counts."""
    pieces = in_order(text, lines, faces)
    if pieces is None:
        return Reading(text, tuple(lines), tuple(faces))
    parts: list[str] = []
    own: list[Line] = []
    runs: list[tuple[int, int, int]] = []
    at = 0
    for piece in pieces:
        start, end = piece.line.start, piece.line.end
        runs.append((at, start, end - start))
        own.append(moved(piece.line, at - start))
        parts += [text[start:end], "" if text[end - 1] == SOFT_HYPHEN else "\n"]
        at += end - start + len(parts[-1])
    return Reading("".join(parts), tuple(own), tuple(piece.face for piece in pieces), tuple(runs))


def composed(reading: Reading) -> Reading:
    """The page in Unicode's composed form (NFC): a letter and its marks are one character, at the letter's place.

    Blanks that are none are taken out.
    """
    if is_normalized("NFC", reading.text) and CLOSED not in reading.text:
        return reading
    parts: list[str] = []
    gone: list[int] = []
    at = 0
    for found in _DECOMPOSED.finditer(reading.text):
        whole = normalize("NFC", found[0].replace(CLOSED, ""))
        parts += [reading.text[at : found.start()], whole]
        gone += range(found.start() + len(whole), found.end())
        at = found.end()
    text = "".join([*parts, reading.text[at:]])
    lines = tuple(_closed_up(line, gone) for line in reading.lines)
    return replace(reading, text=text, lines=lines, runs=tuple(_runs_without(reading, gone)))


def _closed_up(line: Line, gone: Sequence[int]) -> Line:
    cells = tuple(_closed_up(cell, gone) for cell in line.cells)
    start, end = (place - bisect_left(gone, place) for place in (line.start, line.end))
    return replace(line, start=start, end=end, cells=cells)


def _runs_without(reading: Reading, gone: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """The runs of a page from which characters are taken out."""
    for start, counted, length in reading.runs or ((0, 0, len(reading.text)),):
        begin = start
        for place in [*gone[bisect_left(gone, start) : bisect_left(gone, start + length)], start + length]:
            if place > begin:
                yield begin - bisect_left(gone, begin), counted + begin - start, place - begin
            begin = place + 1


def moved(line: Line, by: int) -> Line:
    """A line so many characters further on."""
    cells = tuple(moved(cell, by) for cell in line.cells)
    return replace(line, start=line.start + by, end=line.end + by, cells=cells)


def found_again(span: Span, stored: str, text: str) -> Span | None:
    """A span of a page as it was stored in the same page as it is read now, which may lack what was put into it from
    the page before, or figures raised; None where the text is another."""
    stored, text = lowered(stored), lowered(text)
    if stored == text:
        return span
    before = _alike(stored, text)
    after = _alike(stored[before:][::-1], text[before:][::-1])
    if before + after < len(text):
        return None
    put_in = len(stored) - len(text)
    start, end = (min(place, before) if place < before + put_in else place - put_in for place in span)
    return start, end


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
