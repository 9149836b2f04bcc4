"""Where the words of a passage's lines stand beside each other: cells, from their boxes or the marks between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag_core.answering.passages import Passage, boxed_parts
from rag_core.answering.tables.figures import Figure, figure, is_year
from rag_core.domain import Box

_LINE = re.compile(r"[^\r\n\v\f\u0085\u2028\u2029]+")
_RULE = re.compile(r"[\s|:+=_*~.\-–—]*")
_MARKS, _TABS = re.compile(r"\s*\|\s*|\t+|\s{3,}"), re.compile(r"\t+|\s{3,}")
_WORDS_IN_ROW = 16  # most words of a line that is looked at for figures which only blanks set apart
_WORDS_BEFORE = 9  # most words before a figure that stands alone; what has more is text that a line's end cuts there
_LOOSE_FIGURE = re.compile(r"(?:[$€£¥]\s?)?\(?[-−–]?\d+(?:,\d{3})*(?:\.\d+)?\)?(?:\s?%\)?)?(?=\s|$)|[—–-](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Part:
    """A cell, or a line that has none: its text, its span on the page, and from where to where it stands across.

    The places are fractions of the page, or numbers of cells and lines, blank ones too, where nothing is known of it.
    """

    text: str
    start: int
    end: int
    left: float
    right: float
    top: float
    bottom: float

    @property
    def value(self) -> Figure | None:
        """What it is worth; None where it is no figure."""
        return figure(self.text)

    @property
    def is_figure(self) -> bool:
        """Whether it is a figure that could be asked for; a year is none."""
        return self.value is not None and not is_year(self.text)


def lines_of(passage: Passage) -> Iterator[list[Part]]:
    """The parts of each line that has some, from left to right."""
    boxes = {
        span: box
        for hit in passage.hits
        if (spans := boxed_parts(hit))
        for span, box in zip(spans, hit.boxes, strict=True)
    }
    number, end = 1, 0
    for line in _LINE.finditer(passage.text):
        number, end = number + passage.text.count("\n", end, line.start()), line.end()
        if _RULE.fullmatch(line[0]):
            continue
        if parts := list(_parts(line[0], passage.start + line.start(), boxes, number)):
            yield parts


def _parts(line: str, offset: int, boxes: Mapping[tuple[int, int], Box], number: int) -> Iterator[Part]:
    marked = "|" in line or "\t" in line or bool(re.search(r"\S {3,}\S", line))
    spans = list(_between_marks(line)) if marked else list(_loose(line))
    whole = _around(boxes, offset + len(line) - len(line.lstrip()), offset + len(line.rstrip()))
    for place, (start, end) in enumerate(spans):
        span = (offset + start, offset + end)
        own = _around(boxes, *span)
        box = own or whole
        if own is not None:
            left, right = own.left, own.right
        elif whole is not None:  # a line without wide gaps: about as far along as its characters
            width = (whole.right - whole.left) / max(len(line.strip()), 1)
            left, right = whole.left + width * start, whole.left + width * end
        elif marked and "|" not in line and "\t" not in line:
            left, right = float(start), float(end)
        elif marked:
            left = sum(line.count(mark, 0, start) for mark in ("\t" if _is_tabbed(line) else "|\t"))
            right = left + 0.9
        else:  # counted from the right, where figures and their heads end alike; what is alone stands over labels
            left = 1000.0 + place - len(spans) if len(spans) > 1 else 0.0
            right = left + 0.9
        text = " ".join(line[start:end].replace("**", "").split())
        if text.strip(":;,."):  # a mark behind a raised note stands apart as if it were a cell
            yield Part(text, *span, left, right, *((box.top, box.bottom) if box else (number, number + 0.9)))


def _around(boxes: Mapping[tuple[int, int], Box], start: int, end: int) -> Box | None:
    """The box around all of a span: several where a soft hyphen ends a line within it."""
    if (start, end) in boxes:
        return boxes[start, end]
    within = [box for (first, last), box in boxes.items() if start <= first and last <= end]
    if not within:
        return None
    lefts, tops, rights, bottoms = zip(*((box.left, box.top, box.right, box.bottom) for box in within), strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def _between_marks(line: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in [*(_TABS if _is_tabbed(line) else _MARKS).finditer(line), None]:
        end = mark.start() if mark else len(line)
        piece = line[start:end]
        if piece.strip():
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
        start = mark.end() if mark else end


def _is_tabbed(line: str) -> bool:
    """Whether tabs set a row's cells apart: a stroke within it is of its cell, unless strokes stand around it all."""
    bare = line.strip()
    return "\t" in bare and not bare[0] == bare[-1] == "|"


def _loose(line: str) -> Iterator[tuple[int, int]]:
    """A label and the figures at the line's end, or only figures and years; else the line as one part, as a date is."""
    bare = line.strip()
    begin = len(line) - len(line.lstrip())
    figures: list[tuple[int, int]] = []
    if len(bare.split()) <= _WORDS_IN_ROW:
        end = begin + len(bare)
        for found in reversed(list(_LOOSE_FIGURE.finditer(line, begin))):
            if line[found.end() : end].strip() or (found.start() > begin and not line[found.start() - 1].isspace()):
                break
            figures.append(found.span())
            end = found.start()
    if len(figures) == 1 and (is_year(line[slice(*figures[0])]) or len(line[: figures[0][0]].split()) > _WORDS_BEFORE):
        figures = []
    first = figures[-1][0] if figures else begin + len(bare)
    if label := line[begin:first].strip():
        at = begin + line[begin:first].index(label)
        yield at, at + len(label)
    yield from reversed(figures)
