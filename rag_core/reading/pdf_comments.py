"""What people wrote onto a PDF's pages: notes on it and in its margin, and words behind marks, read at its end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import pypdfium2.raw as pdfium

from rag_core.domain import Box, Line
from rag_core.reading.comments import comment_label
from rag_core.reading.pdf_arrange import Reading
from rag_core.reading.pdf_forms import (
    UNSEEN,
    Field,
    annotation_text,
    annotations_of,
    at_end,
    contents,
    is_typed,
    place_of,
)
from rag_core.reading.pdf_text import Geometry

_MARKS = (
    pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT,
)  # fmt: skip
_COMMENTS = (
    *_MARKS, pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_CARET, pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_SQUARE,
    pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_LINE, pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_POLYLINE,
    pdfium.FPDF_ANNOT_INK, pdfium.FPDF_ANNOT_FILEATTACHMENT,
)  # fmt: skip
# Least share of a line's height, or of a comment's, that the two have in common; lines that it is on.
_BESIDE, _MOST_LINES = 0.3, 3


def with_comments(reading: Reading, page: Any, geometry: Geometry) -> Reading:
    """The page with its comments as lines at its end, each with who wrote it and the lines that it stands beside."""
    lines = reading.lines
    for author, text, box in list(_comments(reading, page, geometry)):
        about = " ".join(reading.text[line.start : line.end].strip() for line in _beside(lines, box))
        reading = at_end(reading, Field(comment_label(author, about), text, box))
    return reading


def _comments(reading: Reading, page: Any, geometry: Geometry) -> Iterator[tuple[str, str, Box]]:
    """Who wrote a comment, what it says, and where it stands."""
    words, filled_in = " ".join(reading.text.split()), {value.box for value in reading.values}
    for annotation in annotations_of(page):
        kind, place = pdfium.FPDFAnnot_GetSubtype(annotation), place_of(annotation, geometry)
        is_comment = kind in _COMMENTS or (is_typed(annotation) and place not in filled_in)
        if not is_comment or pdfium.FPDFAnnot_GetFlags(annotation) & UNSEEN:
            continue
        text = annotation_text(None, annotation, contents)
        is_state = bool(pdfium.FPDFAnnot_HasKey(annotation, b"StateModel"))  # "Accepted", as programs keep it
        is_repeated = kind in _MARKS and text in words  # what is marked, as some programs write it down
        if text and not is_state and not is_repeated:
            author = annotation_text(None, annotation, partial(_value, b"T"))
            yield author, text, place


def _value(key: bytes, form: Any, annotation: Any, buffer: Any, size: int) -> int:
    return int(pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _beside(lines: tuple[Line, ...], box: Box) -> Iterator[Line]:
    """The first of the lines at the height of a comment."""

    def is_beside(line: Line) -> bool:
        shared = min(line.box.bottom, box.bottom) - max(line.box.top, box.top)
        return shared > _BESIDE * min(line.box.height, box.height)

    return islice(filter(is_beside, lines), _MOST_LINES)
