"""Text of a PDF page that nobody sees there: in the colour of its ground, drawn invisibly, tiny, or without width.

What may be hidden is looked up in a small picture of the page: where that shows any contrast, something is to be seen,
as with white letters on a dark ground, or the invisible text over a scan.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2.raw as pdfium

from rag_core.domain import Box, HiddenText, Line
from rag_core.reading.pdf_arrange import Reading

# Sizes in points that nobody reads; colours, each part 0 to 255, that are white.
_TINY_PT, _WHITE = 2.0, 240
_INVISIBLE_MODE = 3
_PICTURE_PX, _CONTRAST = 500, 20
_MOST = 100
# Characters that stand for letters without being seen, and runs of others without width; one is often a writer's habit.
_UNSEEN = re.compile(
    "(?P<tags>[\U000e0001-\U000e007f]+)|(?P<none>[\u200b\u200e\u200f\u202a-\u202e\u2061-\u2064\u2066-\u2069\ufeff]{3,})"
)
_WHY = {"tags": "tag characters", "none": "characters of no width"}


def hidden_text(page: Any, textpage: Any, reading: Reading, height_pt: float) -> tuple[HiddenText, ...]:
    """What is hidden of a loaded FPDF_PAGE's text, in order, at most a hundred spans."""
    suspects = list(_suspects(textpage, reading, height_pt))
    seen = _Picture(page) if any(why != "tiny" for _, why in suspects) else None
    lines = [
        HiddenText(line.start, line.end, why)
        for line, why in suspects
        if why == "tiny" or (seen is not None and not seen.shows(line.box))
    ]
    characters = [
        HiddenText(found.start(), found.end(), _WHY[found.lastgroup or "none"])
        for found in _UNSEEN.finditer(reading.text)
    ]
    spans = sorted([*_joined(reading.text, lines), *characters], key=lambda span: span.start)
    return tuple(spans[:_MOST])


def _suspects(textpage: Any, reading: Reading, height_pt: float) -> Iterator[tuple[Line, str]]:
    colour = [ctypes.c_uint() for _ in range(4)]
    for line, face in zip(reading.lines, reading.faces, strict=True):
        tall = line.box.height * height_pt
        if 0 < face.size < _TINY_PT and tall < _TINY_PT:
            yield line, "tiny"
            continue
        place = next((start for start, end in reading.counted((line.start, line.end)) if start < end), None)
        if place is None:
            continue
        if _is_white(textpage, place, colour):
            yield line, "white"
        elif pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(textpage, place)) == _INVISIBLE_MODE:
            yield line, "invisible"


def _is_white(textpage: Any, index: int, colour: Sequence[Any]) -> bool:
    """Whether a character is drawn in white, or without covering anything. `colour` is where PDFium writes that."""
    if not pdfium.FPDFText_GetFillColor(textpage, index, *colour):
        return False
    red, green, blue, covers = colour
    return bool(min(red.value, green.value, blue.value) >= _WHITE or covers.value == 0)


def _joined(text: str, spans: Sequence[HiddenText]) -> list[HiddenText]:
    """Lines that follow each other and are hidden alike, as one span."""
    found: list[HiddenText] = []
    for span in sorted(spans, key=lambda span: span.start):
        last = found[-1] if found else None
        if last and last.why == span.why and not text[last.end : span.start].strip():
            found[-1] = HiddenText(last.start, span.end, span.why)
        else:
            found.append(span)
    return found


class _Picture:
    """A small grey picture of a page."""

    def __init__(self, page: Any) -> None:
        shape = float(pdfium.FPDF_GetPageHeightF(page)) / max(float(pdfium.FPDF_GetPageWidthF(page)), 0.001)
        self._width, self._height = _PICTURE_PX, min(max(1, round(_PICTURE_PX * shape)), 4 * _PICTURE_PX)
        bitmap = pdfium.FPDFBitmap_CreateEx(self._width, self._height, pdfium.FPDFBitmap_Gray, None, 0)
        self._pixels, self._stride = b"", 0
        if not bitmap:
            return
        try:
            pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, self._width, self._height, 0xFFFFFFFF)
            pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, self._width, self._height, 0, pdfium.FPDF_ANNOT)
            self._stride = pdfium.FPDFBitmap_GetStride(bitmap)
            self._pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), self._stride * self._height)
        finally:
            pdfium.FPDFBitmap_Destroy(bitmap)

    def shows(self, box: Box) -> bool:
        """Whether anything can be told apart within a box; a box off the page, or no picture, tells nothing."""
        left, right = int(box.left * self._width), min(int(box.right * self._width) + 1, self._width)
        top, bottom = int(box.top * self._height), min(int(box.bottom * self._height) + 1, self._height)
        rows = [self._pixels[row * self._stride + left : row * self._stride + right] for row in range(top, bottom)]
        rows = [row for row in rows if row]
        return not self._pixels or (bool(rows) and max(map(max, rows)) - min(map(min, rows)) >= _CONTRAST)
