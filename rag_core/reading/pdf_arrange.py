"""A page's text as it is read, and where each of its characters stands in PDFium's count.

PDFium counts characters as they are written. Where lines are read in another order, the text is put together anew and
its runs are kept, so that the boxes of any span can still be asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from rag_core.domain import Line
from rag_core.reading.base import Face
from rag_core.reading.pdf_order import in_order
from rag_core.reading.pdf_text import SOFT_HYPHEN

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a page with its lines in reading order. runs: (start in the text, start in PDFium's count, length)
    of what was moved; none where the two are the same. values: what stands in none of them, a form's values."""

    text: str
    lines: tuple[Line, ...]
    faces: tuple[Face, ...]
    runs: tuple[tuple[int, int, int], ...] = ()
    values: tuple[Line, ...] = ()

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


def moved(line: Line, by: int) -> Line:
    """A line so many characters further on."""
    cells = tuple(moved(cell, by) for cell in line.cells)
    return replace(line, start=line.start + by, end=line.end + by, cells=cells)


def found_again(span: Span, stored: str, text: str) -> Span | None:
    """A span of a page as it was stored in the same page as it is read now, which may lack what was put into it from
    the page before; None where the text is another."""
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
