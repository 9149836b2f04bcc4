"""A page's text as it is read, and where each of its characters stands in PDFium's count.

PDFium counts characters as they are written. Where lines are read in another order, the text is put together anew and
its runs are kept, so that the boxes of any span can still be asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from unicodedata import is_normalized, normalize

from rag_core.domain import Box, Line
from rag_core.reading.base import Face
from rag_core.reading.hyphens import SOFT_HYPHEN
from rag_core.reading.pdf_gaps import CLOSED
from rag_core.reading.pdf_order import Piece, in_order
from rag_core.reading.pdf_text import HYPHENATED_SHARE, LINE_HYPHEN, hyphen_between
from rag_core.reading.text import lowered
from rag_core.text.tables import NO_LABEL

Span = tuple[int, int]

# Letters with marks of their own, syllables in their parts, and signs that have another code.
_DECOMPOSED = re.compile(
    "[^\\W\\d_][\u0300-\u036f\u0653-\u0655\u3099\u309a]+|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[\u2126\u212a\u212b]|"
    f"{CLOSED}"
)


_HYPHENS = SOFT_HYPHEN + LINE_HYPHEN
# The parts of a word that is divided.
_DIVIDED_HEAD, _DIVIDED_TAIL = re.compile(rf"([^\W\d_]+)[-{LINE_HYPHEN}]$"), re.compile(r"[a-zß-ɏ]+")


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


def arranged(text: str, pieces: Sequence[Piece], face: Callable[[Line], Face]) -> Reading:
    """The page as it is read; `text` and the places of the lines are as PDFium counts, in the order of writing.

    face: that of a part of a line.
    """
    ordered = in_order(text, pieces, face)
    is_as_written = len(ordered) == len(pieces) and all(
        one.line is other.line and not one.cells for one, other in zip(ordered, pieces, strict=True)
    )
    if is_as_written:
        return Reading(text, tuple(piece.line for piece in pieces), tuple(piece.face for piece in pieces))
    page = _Composer(_with_hyphens(text, ordered))
    for piece in ordered:
        page.put_row(piece) if piece.cells else page.put_line(piece.line)
    return Reading("".join(page.parts), tuple(page.lines), tuple(piece.face for piece in ordered), tuple(page.runs))


def _with_hyphens(text: str, pieces: Sequence[Piece]) -> str:
    """The text with the hyphens that divide words at the ends of columns' lines, which PDFium takes for others where it
    was written across the columns."""
    ends = [
        (one.line.end - 1, head[1], tail[0])
        for one, other in pairwise(pieces)
        if one.column == other.column >= 0
        and (head := _DIVIDED_HEAD.search(text, one.line.start, one.line.end))
        and (tail := _DIVIDED_TAIL.match(text, other.line.start))
    ]
    by_syllable = len(ends) >= HYPHENATED_SHARE * sum(piece.column >= 0 for piece in pieces)
    page, characters = text.casefold(), list(text)
    for at, before, behind in ends:
        is_soft = hyphen_between(page, by_syllable, before, behind) == SOFT_HYPHEN
        characters[at] = SOFT_HYPHEN if is_soft else LINE_HYPHEN
    return "".join(characters)


class _Composer:
    """Puts lines and rows one after the other, and keeps where each came from."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.parts: list[str] = []
        self.lines: list[Line] = []
        self.runs: list[tuple[int, int, int]] = []
        self._at = 0

    def put_line(self, line: Line) -> None:
        """A line as it is written."""
        self.lines.append(line.moved(self._at - line.start))
        self._put_run(line)
        self._put("" if self._text[line.end - 1] in _HYPHENS else "\n")

    def put_row(self, piece: Piece) -> None:
        """A row of a table: its cells, each on one line, with tabs between."""
        start, cells = self._at, []
        for number, leaves in enumerate(piece.cells):
            if number:
                self._put("\t")
            elif not leaves:
                self._put(NO_LABEL)
            if leaves:
                cells.append(self._put_cell(leaves))
        self.lines.append(Line(start, cells[-1].end, piece.box, tuple(cells) if len(cells) > 1 else ()))
        self._put("\n")

    def _put_cell(self, leaves: Sequence[Line]) -> Line:
        start = self._at
        for leaf, following in zip(leaves, [*leaves[1:], None], strict=True):
            self._put_run(leaf)
            if following:
                self._put("" if self._text[leaf.end - 1] in _HYPHENS else " ")
        return Line(start, self._at, Box.around([leaf.box for leaf in leaves]))

    def _put_run(self, line: Line) -> None:
        self.runs.append((self._at, line.start, line.end - line.start))
        self._put(self._text[line.start : line.end])

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self._at += len(text)


def composed(reading: Reading) -> Reading:
    """The page in Unicode's composed form (NFC): a letter and its marks are one character, at the letter's place.

    Blanks that are none are taken out, and hyphens at the ends of lines are hyphens.
    """
    reading = replace(reading, text=reading.text.replace(LINE_HYPHEN, "-"))
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
