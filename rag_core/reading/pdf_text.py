"""The text of one PDF page, character for character as PDFium counts, and the boxes of its lines.

Every place in the text is PDFium's index of that character, so that the boxes of any span can be asked for later.
Unwanted characters are therefore replaced, never removed. A blank that is as wide as those between a table's columns
is replaced by a tab, whether or not lines are drawn there, and one at which PDFium runs two lines together by a line
break: so a row keeps its cells, and each line and cell has one box.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import pypdfium2.raw as pdfium

from rag_core.domain import Box, Line
from rag_core.reading.base import Face
from rag_core.reading.hyphens import SOFT_HYPHEN
from rag_core.reading.pdf_gaps import Place, apart, font_size
from rag_core.reading.text import raised
from rag_core.text.sentences import KEPT_HYPHEN

# A hyphen that PDFium found at the end of a line, as FPDFText_GetText gives it.
HYPHEN_MARK = "\ufffe"
# Stands for a hyphen at the end of a line that is more than that, until lines are in order.
LINE_HYPHEN = "\ufdd0"
# Fills the second place of a character which PDFium counts as two.
FILLER = "\u2060"
# From this share of lines that end in a hyphen on, the text is taken to be hyphenated by syllables.
HYPHENATED_SHARE = 0.04
# PageToDevice answers in whole pixels: a large picture keeps the fractions exact.
_DEVICE = 1 << 20

# Figures are raised that are smaller than what is before them and begin so much of their height above it.
SMALLER, RAISED = 0.85, 0.2

MAX_BOLD_CHARS = 120
# Bits 19 and 7 of a font's flags (ISO 32000-1, table 123).
_FORCE_BOLD, _ITALIC_FLAG = 1 << 18, 1 << 6
# As PDFium tells them from how thick a font's stems are; more is no weight of letters.
_BOLD_WEIGHTS = range(700, 1001)
# The last three are of fonts of TeX.
_BOLD = re.compile(rb"bold|black|heavy|demi|cmbx|sfbx|-medi", re.IGNORECASE)
_ITALIC = re.compile(rb"italic|oblique|slanted", re.IGNORECASE)

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\uffff\ufff9-\ufffb]")
# What words begin with: a vowel, one consonant before it, or consonants that stand together there ("dl" do not).
_BEGINS_WORD = re.compile(
    r"[aeiouy\u00df-\u024f]|[^\W\d_](?:[aeiouy\u00df-\u024f]|$)|[bcfgkpsv][lr]|[dtw]r|ch|sch|[cgprstw]h|qu|th|tw|dw|sw"
    r"|gn|kn|s[ckmnpt]|ps|pf|zw|wh",
    re.IGNORECASE,
)
_DIVIDED = re.compile(rf"([^\W\d_]+){HYPHEN_MARK}([a-zß-ɏ]+)")
_SURROGATES = re.compile("[\ud800-\udfff]")
_ENDS_IN_DIGITS = re.compile(r"(?:\d[\d.,]*|[^\W\d_])\d(?!\w)|[^\W\d_]\d{2,3}(?!\w)")
_MARK_OF_NOTE = re.compile(r"(?:(?<=\n)|^)(\d{1,3})[^\W\d_]")
# No glyph is an alef before a lam: one that is both was given backwards, with the line from right to left it stands in.
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

Rect = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Turns PDFium's page coordinates into fractions of the page as shown: cropped, rotated, from the top left."""

    x0: float
    y0: float
    xx: float
    xy: float
    yx: float
    yy: float

    @classmethod
    def of(cls, page: Any) -> Geometry:
        """Measure the geometry of a loaded FPDF_PAGE."""
        (x0, y0), (x1, y1), (x2, y2) = (_to_device(page, x, y) for x, y in ((0, 0), (1000, 0), (0, 1000)))
        return cls(x0, y0, (x1 - x0) / 1000, (x2 - x0) / 1000, (y1 - y0) / 1000, (y2 - y0) / 1000)

    def box(self, rect: Rect) -> Box:
        """Return the box of (left, top, right, bottom) in page coordinates, kept within the page."""
        left, top, right, bottom = rect
        xs = [self.x0 + self.xx * x + self.xy * y for x, y in ((left, top), (right, bottom))]
        ys = [self.y0 + self.yx * x + self.yy * y for x, y in ((left, top), (right, bottom))]
        return Box(_unit(min(xs)), _unit(min(ys)), _unit(max(xs)), _unit(max(ys)))

    def turns(self, textpage: Any) -> int:
        """By how many quarters the page as shown is to be turned clockwise for most of its text to stand upright."""
        count = pdfium.FPDFText_CountChars(textpage)
        x, y = ((1, 0), (0, 1), (-1, 0), (0, -1))[Place.of(textpage, count).quarters if count > 0 else 0]
        across, down = self.xx * x + self.xy * y, self.yx * x + self.yy * y
        return (0 if across > 0 else 2) if abs(across) > abs(down) else 1 if down < 0 else 3

    def turned(self, quarters: int) -> Geometry:
        """That of the page turned clockwise."""
        if not quarters:
            return self
        return Geometry(1 - self.y0, self.x0, -self.yx, -self.yy, self.xx, self.xy).turned(quarters - 1)


def turned_back(line: Line, quarters: int) -> Line:
    """A line, its boxes of a page that was turned clockwise as they are on the page."""
    box, cells = line.box, tuple(turned_back(cell, quarters) for cell in line.cells)
    for _ in range(quarters):
        box = Box(box.top, _unit(1 - box.right), box.bottom, _unit(1 - box.left))
    return replace(line, box=box, cells=cells)


def page_size(page: Any) -> tuple[float, float]:
    """Width and height of a loaded FPDF_PAGE as shown, in points."""
    return float(pdfium.FPDF_GetPageWidthF(page)), float(pdfium.FPDF_GetPageHeightF(page))


def page_text(textpage: Any) -> str:
    """Return the cleaned text of a loaded FPDF_TEXTPAGE: one character for each that PDFium counts."""
    count = pdfium.FPDFText_CountChars(textpage)
    if count <= 0:
        return ""
    text = _text_at_once(textpage, count)
    if len(text) != count:
        text = _text_by_character(textpage, count)
    place = Place.of(textpage, count)
    return apart(textpage, _with_raised(textpage, place, _with_ligatures(place, clean(text, LINE_HYPHEN))), place)


def page_lines(textpage: Any, text: str, geometry: Geometry) -> Iterator[Line]:
    """Yield the lines of a page with a box each; lines of blanks are left out."""
    for start, end in line_spans(text):
        if cells := tuple(_cells(textpage, text, start, end, geometry)):
            yield Line(start, end, Box.around(cell.box for cell in cells), cells)
        elif rects := _rects(textpage, start, end):
            yield Line(start, end, geometry.box(_union(rects)))


def line_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans between line breaks without surrounding blanks; a hyphen at its end ends a line too."""
    position = 0
    for line in re.split(f"(?<=[\n{SOFT_HYPHEN}{LINE_HYPHEN}])", text):
        bare = line.strip()
        if bare:
            start = position + len(line) - len(line.lstrip())
            yield start, start + len(bare)
        position += len(line)


def span_boxes(textpage: Any, spans: Iterable[tuple[int, int]], geometry: Geometry) -> tuple[Box, ...]:
    """Return the exact boxes of spans of PDFium's count, one for each run of characters on a line."""
    merged: list[Rect] = []
    for rect in (rect for start, end in spans for rect in _rects(textpage, start, end)):
        if merged and _continues(merged[-1], rect):
            merged[-1] = _union((merged[-1], rect))
        else:
            merged.append(rect)
    return tuple(geometry.box(rect) for rect in merged)


def span_box(textpage: Any, geometry: Geometry, start: int, end: int) -> Box | None:
    """Return the box of a span of PDFium's count; None where nothing of it is to be seen."""
    rects = _rects(textpage, start, end)
    return geometry.box(_union(rects)) if rects else None


def line_face(textpage: Any, line: Line) -> Face:
    """Return the size at which a line is shown, taken from the middle of its longest cell, as the number before an item
    may be larger, and the weight and slant of both its ends."""
    cell = max(line.cells, key=lambda cell: cell.end - cell.start, default=line)
    size = font_size(textpage, _near_middle(textpage, cell))
    # Long lines are body text, whose weight nobody asks for.
    if line.end - line.start > MAX_BOLD_CHARS:
        return Face(round(size, 1), bold=False)
    bold, italic = _style(textpage, line.start)
    if bold or italic:
        bold_end, italic_end = _style(textpage, line.end - 1)
        bold, italic = bold and bold_end, italic and italic_end
    return Face(round(size, 1), bold, italic)


def _near_middle(textpage: Any, line: Line) -> int:
    """A character of a line's middle that is no blank, which PDFium may have put in with a size of its own."""
    middle = (line.start + line.end - 1) // 2
    blank = pdfium.FPDFText_IsGenerated(textpage, middle) == 1
    return middle - 1 if blank and middle > line.start else middle


def _style(textpage: Any, index: int) -> tuple[bool, bool]:
    """Whether a character is bold, and slanted."""
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(textpage, index, name, len(name), flags)
    bold, italic = _named_style(name.value)
    bold = bold or bool(flags.value & _FORCE_BOLD) or pdfium.FPDFText_GetFontWeight(textpage, index) in _BOLD_WEIGHTS
    return bold, italic or bool(flags.value & _ITALIC_FLAG)


@lru_cache(maxsize=256)
def _named_style(font: bytes) -> tuple[bool, bool]:
    return _BOLD.search(font) is not None, _ITALIC.search(font) is not None


def _text_at_once(textpage: Any, count: int) -> str:
    # Room for more than is counted: PDFium may write characters of its own.
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    written = pdfium.FPDFText_GetText(textpage, 0, count, buffer)
    if written != count + 1 or pdfium.FPDFText_GetTextIndexFromCharIndex(textpage, count - 1) != count - 1:
        return ""
    return bytes(memoryview(buffer).cast("B")[: 2 * count]).decode("utf-16-le", errors="surrogatepass")


def _text_by_character(textpage: Any, count: int) -> str:
    """The slower way, for pages where PDFium leaves characters out of its text or counts one as two."""
    characters = [pdfium.FPDFText_GetUnicode(textpage, index) for index in range(count)]
    for index, code in enumerate(characters):
        if code == 2 and pdfium.FPDFText_IsHyphen(textpage, index) == 1:
            characters[index] = ord(HYPHEN_MARK)
    text = "".join(chr(code) if code <= 0x10FFFF else "\ufffd" for code in characters)
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le") + FILLER, text)


def clean(text: str, hyphen: str = "-") -> str:
    """Text without control characters, half pairs and hyphens that only divide words. hyphen: for other ones at the
    ends of lines."""
    if HYPHEN_MARK in text:
        marks = text.count(HYPHEN_MARK)
        by_syllable = marks >= HYPHENATED_SHARE * (text.count("\n") + marks)
        text = _DIVIDED.sub(partial(_joined, text.casefold(), by_syllable), text).replace(HYPHEN_MARK, hyphen)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def _joined(page: str, by_syllable: bool, divided: re.Match[str]) -> str:
    """A word divided at the end of a line: with its hyphen or a soft one, as the page has it elsewhere, else as
    compounds have theirs, else as the page is set."""
    return f"{divided[1]}{hyphen_between(page, by_syllable, divided[1], divided[2])}{divided[2]}"


def hyphen_between(page: str, by_syllable: bool, head: str, tail: str) -> str:
    """What stands between the parts of a divided word: SOFT_HYPHEN where it is whole without, else HYPHEN_MARK.

    page: its text in small letters; by_syllable: whether it is set with words divided throughout.
    """
    if re.search(rf"\b{head}{tail}\b", page, re.IGNORECASE):
        return SOFT_HYPHEN
    is_compound = f"{head}-{tail}".casefold() in page or (
        KEPT_HYPHEN.search(f"{head}-") is not None and _BEGINS_WORD.match(tail) is not None
    )
    is_word = not by_syllable and _BEGINS_WORD.match(tail) is not None
    return HYPHEN_MARK if is_compound or is_word else SOFT_HYPHEN


def _with_ligatures(place: Place, text: str) -> str:
    """The text with the lam first where it and an alef are one glyph, which has one box."""

    def written(pair: re.Match[str]) -> str:
        is_glyph = place.box(pair.start()) == place.box(pair.start() + 1)
        return pair[0][::-1] if is_glyph else pair[0]

    return _ALEF_LAM.sub(written, text)


def _with_raised(textpage: Any, place: Place, text: str) -> str:
    """The text with the marks of notes, and powers, as raised figures: no digits of the word or figure before them."""
    characters = list(text)
    for run in _ENDS_IN_DIGITS.finditer(text):
        first, last = run.start(), run.end() - 1
        base, (_, _, low, top) = place.box(first)[2], place.box(last)
        if low - base <= RAISED * (top - low):
            continue
        size = font_size(textpage, last)
        begin = next((at + 1 for at in range(last, first - 1, -1) if not _is_small(textpage, text, at, size)), first)
        if begin > first and size < SMALLER * font_size(textpage, begin - 1):
            characters[begin : last + 1] = raised(text[begin : last + 1])
    for mark in _MARK_OF_NOTE.finditer(text):
        last, letter = mark.end(1) - 1, mark.end(1)
        (_, _, low, top), base = place.box(last), place.box(letter)[2]
        smaller = font_size(textpage, last) < SMALLER * font_size(textpage, letter)
        if smaller and low - base > RAISED * (top - low):
            characters[mark.start(1) : letter] = raised(mark[1])
    return "".join(characters)


def _is_small(textpage: Any, text: str, at: int, size: float) -> bool:
    return text[at].isdecimal() and font_size(textpage, at) <= size


def _cells(textpage: Any, text: str, start: int, end: int, geometry: Geometry) -> Iterator[Line]:
    """The cells of a line that has tabs."""
    if "\t" not in text[start:end]:
        return
    for cell in re.finditer(r"[^\t]*[^\t\s]", text[start:end]):
        first, last = start + cell.end() - len(cell[0].lstrip()), start + cell.end()
        if rects := _rects(textpage, first, last):
            yield Line(first, last, geometry.box(_union(rects)))


def _rects(textpage: Any, start: int, end: int) -> list[Rect]:
    found = []
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for index in range(pdfium.FPDFText_CountRects(textpage, start, end - start)):
        if pdfium.FPDFText_GetRect(textpage, index, left, top, right, bottom):
            found.append((left.value, top.value, right.value, bottom.value))
    return found


def _union(rects: Sequence[Rect]) -> Rect:
    return (
        min(rect[0] for rect in rects),
        max(rect[1] for rect in rects),
        max(rect[2] for rect in rects),
        min(rect[3] for rect in rects),
    )


def _continues(before: Rect, after: Rect) -> bool:
    """Whether two rectangles stand on one line with no more than a wide space between them."""
    height = min(before[1] - before[3], after[1] - after[3])
    shared = min(before[1], after[1]) - max(before[3], after[3])
    gap = max(after[0] - before[2], before[0] - after[2])
    return shared > 0.4 * height and gap < 2 * max(height, 1.0)


def _to_device(page: Any, x: float, y: float) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, _DEVICE, _DEVICE, 0, x, y, across, down)
    return across.value / _DEVICE, down.value / _DEVICE


def _unit(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 5)
