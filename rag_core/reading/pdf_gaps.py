"""What stands between the words of a PDF's page: blanks, the gaps between cells, the breaks between lines.

PDFium puts in blanks and breaks where it sees room; they are judged here by where the characters around them stand.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium

# A gap between two words of a line that is wider than this many times their height sets cells apart.
CELL_GAP = 1.1
# Words whose baselines are further apart than this share of their size stand on two lines; raised notes are nearer.
LINE_GAP = 0.5
# What stands further apart than this share of its size is on two lines although no more than a blank is between.
_SAME_LINE = 0.1
# Letters of one word stand no further apart than this share of their size, and reach no further into each other.
_WORD_GAP = 0.15
# Takes the place of a blank that is none; what puts a page together takes it out.
CLOSED = "\uffff"
_SAMPLED = 24
# A line set letter by letter at one pitch: how many letters show it, and how far their steps may differ from it.
_LEAST_STEPS, _STEADY = 6, 0.06

# Marks that stand apart from what they belong to: bullets and currencies before it, any sign and list numbers at a
# line's beginning, closing signs after it.
_MARK_BEFORE = re.compile(
    r"(?:(?<!\S)[•‣◦▪●·*$€£¥]|^(?:[^\w\s]|o|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]|(?:item|part|section|chapter|note)\s\w+\.?))$",
    re.IGNORECASE | re.MULTILINE,
)
_SIGN_AFTER = re.compile(r"[%)]+(?!\S)")
_AMOUNTS = re.compile(r"(?<=[\d%)]) (?=[$€£¥] ?[(\d])")  # two amounts of one row
_BLANKS = re.compile(r"(?<=[^\s\u00ad]) +(?=[^\s\u00ad])")
_BREAK = re.compile(r"(?<=[^\s\u00ad]) \n(?=[^\s\u00ad])")
# A line in which a narrow letter stands alone, as in a word that is pulled apart.
_PULLED = re.compile(r"^.*?(?<=\w) [ijlftr] (?=\w).*$", re.MULTILINE)

Spread = tuple[float, float, float, float]
"""From where to where a character reaches along its line, and above it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where characters stand, as seen by who reads along their lines: most of a page's run in one direction.

    box: the place of a character by its number. quarters: turns of the lines by 90 degrees against the clock.
    """

    box: Callable[[int], Spread]
    along: Callable[[int], float]
    quarters: int

    @classmethod
    def of(cls, textpage: Any, count: int) -> Place:
        """Find the direction of a loaded FPDF_TEXTPAGE of so many characters."""
        seen = Counter(_quarters(textpage, index) for index in range(0, count, max(count // _SAMPLED, 1)))
        quarters = seen.most_common(1)[0][0]
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        ask, ask_origin = pdfium.FPDFText_GetCharBox, pdfium.FPDFText_GetCharOrigin

        def box(index: int) -> Spread:
            ask(textpage, index, left, right, bottom, top)
            return left.value, right.value, bottom.value, top.value

        def turned(index: int) -> Spread:
            start, end, low, high = box(index)
            if quarters == 1:
                return low, high, -end, -start
            return (-end, -start, -high, -low) if quarters == 2 else (-high, -low, start, end)

        def along(index: int) -> float:
            ask_origin(textpage, index, left, top)
            return (left.value, top.value, -left.value, -top.value)[quarters]

        return cls(turned if quarters else box, along, quarters)


def apart(textpage: Any, text: str, place: Place) -> str:
    """The text with a tab for the first of the blanks between cells, and a line break for that between lines."""
    broken, text = text, _closed(_on_one_line(textpage, text, place), place)
    characters, box, begun = list(text), place.box, 0
    for blanks in _BLANKS.finditer(text):
        first, last = blanks.span()
        if broken[last - 1] == "\n":
            characters[last - 1] = CLOSED
        # Most blanks are narrow: nothing else is asked of those.
        left, _, bottom, top = box(last)
        begin, end, low, high = box(first - 1)
        gap = left - end
        # A line that goes back is another one, be it but a little lower.
        is_apart = left < begin or not min(high, top) > max(low, bottom)
        if is_apart and _turns(textpage, first - 1, last, _SAME_LINE if left < begin else LINE_GAP):
            characters[first] = "\n"
            begun = first + 1
            continue
        if gap <= CELL_GAP * max(high - low, top - bottom):
            continue
        line = text[max(begun, text.rfind("\n", 0, first) + 1) : first]
        if _MARK_BEFORE.search(line) or _SIGN_AFTER.match(text, last):
            continue
        if gap > CELL_GAP * font_size(textpage, last):
            characters[first] = "\t"
    lines = "".join(characters).split("\n")
    return "\n".join(_AMOUNTS.sub("\t", line) if "\t" in line else line for line in lines)


def _on_one_line(textpage: Any, text: str, place: Place) -> str:
    """The text with blanks for breaks between what stands beside each other on one line.

    PDFium begins a line anew for a single figure behind a longer one, and for every letter of words that are written
    narrower than their type.
    """

    def joined(found: re.Match[str]) -> str:
        before, after = found.start() - 1, found.end()
        gap = place.box(after)[0] - place.box(before)[1]
        is_beside = gap >= 0 or place.along(after) > place.along(before)
        near = _WORD_GAP * font_size(textpage, after) if is_beside else 0.0
        if not is_beside or gap < -near or _turns(textpage, before, after, _SAME_LINE):
            return found[0]
        return CLOSED * 2 if gap <= near else "  "

    return _BREAK.sub(joined, text)


def _closed(text: str, place: Place) -> str:
    """The text without the blanks within words whose letters stand at one pitch, where narrow ones seem set apart."""
    characters: list[str] = []
    for line in _PULLED.finditer(text):
        printed = [at for at in range(*line.span()) if not text[at].isspace()]
        steps = [(at, after, place.along(after) - place.along(at)) for at, after in pairwise(printed)]
        inside = [step for at, after, step in steps if after == at + 1]
        pitch = median(inside) if len(inside) >= _LEAST_STEPS else 0.0
        if any(abs(step - pitch) > _STEADY * pitch for step in inside):
            continue
        characters = characters or list(text)
        for at, after, step in steps:
            if after > at + 1 and abs(step - pitch) <= _STEADY * pitch:
                characters[at + 1 : after] = CLOSED * (after - at - 1)
    return "".join(characters) or text


def _turns(textpage: Any, before: int, after: int, share: float) -> bool:
    """Whether the second of two characters is off the baseline of the first by more than a share of their size."""
    x, y, other_x, other_y = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharOrigin(textpage, before, x, y)
    pdfium.FPDFText_GetCharOrigin(textpage, after, other_x, other_y)
    up = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(textpage, before, up) or not (up.c or up.d):
        up.c, up.d = 0.0, 1.0
    off = (other_x.value - x.value) * up.c + (other_y.value - y.value) * up.d
    size = max(font_size(textpage, before), font_size(textpage, after))
    return bool(abs(off) / (up.c**2 + up.d**2) ** 0.5 > share * size)


def font_size(textpage: Any, index: int) -> float:
    """The size at which a character of a loaded FPDF_TEXTPAGE is shown, in the page's units."""
    matrix = pdfium.FS_MATRIX()
    size = float(pdfium.FPDFText_GetFontSize(textpage, index))
    if pdfium.FPDFText_GetMatrix(textpage, index, matrix):
        size *= (float(matrix.c) ** 2 + float(matrix.d) ** 2) ** 0.5
    return size


def _quarters(textpage: Any, index: int) -> int:
    """By how many quarters of a turn, against the clock, a character is turned."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(textpage, index, matrix) or not (matrix.a or matrix.b):
        return 0
    return round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
