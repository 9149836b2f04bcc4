"""Whether a PDF page's text is a picture: a scan, text drawn as shapes, or letters whose codes mean nothing."""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as pdfium

from rag_core.reading.garbled import is_garbled

# Objects of a page looked at to tell a scanned page from a blank one.
MAX_OBJECTS_LOOKED_AT = 50
# Shapes on a page without text that may be its letters; a frame or a rule has fewer.
_LEAST_SHAPES = 20
# A page with fewer letters than this and a picture over half of it is a scan with a stamp or a page number.
_FEW_LETTERS = 150
_LARGE = 0.5


def text_is_a_picture(page: Any, text: str, area: float) -> bool:
    """Whether text recognition would read more of a loaded FPDF_PAGE than its own text says. area: square points."""
    if not text.strip():
        return _shows_pictures(page)
    has_few = len(text) < 2 * _FEW_LETTERS and len("".join(text.split())) < _FEW_LETTERS
    return is_garbled(text) or (has_few and _largest_picture(page) >= _LARGE * area)


def _shows_pictures(page: Any) -> bool:
    kinds = [pdfium.FPDFPageObj_GetType(item) for item in _objects(page)]
    pictures = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM)
    return any(kind in pictures for kind in kinds) or kinds.count(pdfium.FPDF_PAGEOBJ_PATH) >= _LEAST_SHAPES


def _largest_picture(page: Any) -> float:
    """The area of the largest picture, square points."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    largest = 0.0
    for item in _objects(page):
        is_picture = pdfium.FPDFPageObj_GetType(item) in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM)
        if is_picture and pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            largest = max(largest, (right.value - left.value) * (top.value - bottom.value))
    return largest


def _objects(page: Any) -> list[Any]:
    count = min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS_LOOKED_AT)
    return [pdfium.FPDFPage_GetObject(page, index) for index in range(count)]
