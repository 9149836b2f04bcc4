"""What was filled into a PDF's form, or typed onto its pages: no text of the page, put behind the words beside it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2.raw as pdfium

from rag_core.domain import Box, Line
from rag_core.reading.base import Face
from rag_core.reading.pdf_arrange import Reading
from rag_core.reading.pdf_text import Geometry, clean

MAX_FIELDS, MAX_VALUE_CHARS = 1_000, 10_000
_MARKED = "yes"
# Least share of a field's height, or its label's, that the two have in common.
_BESIDE = 0.3
_LONG = 0.3  # of a page's width: what is typed beside so long a line, where most are, fills in no blank
_TOUCH = 0.02  # of a page's width, that a note may reach over the end of a line
UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_WRITTEN = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_TICKED = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is filled in, or a comment: what it is for, in its maker's words, and where it stands.

    is_typed: whether it was typed onto the page, which may be a note in its margin.
    """

    label: str
    value: str
    box: Box
    is_typed: bool = False


def with_values(reading: Reading, form: Any, page: Any, geometry: Geometry) -> Reading:
    """The page with its fields' values: each a cell behind the line to its left, or a line of its own at the end.

    form: the FPDF_FORMHANDLE of the document, None where it has no form.
    """
    # Whether a box is ticked is known of pages that the form was told of.
    if form:
        pdfium.FORM_OnAfterLoadPage(page, form)
    try:
        fields = list(_fields(form, page, geometry))
    finally:
        if form:
            pdfium.FORM_OnBeforeClosePage(page, form)
    for field in sorted(fields, key=lambda field: (field.box.top, field.box.left)):
        if field.is_typed and _is_in_margin(field.box, reading.lines):
            continue  # a comment
        place = _beside(reading.lines, field.box)
        reading = at_end(reading, field) if place is None else _behind(reading, place, field)
    return reading


def _fields(form: Any, page: Any, geometry: Geometry) -> Iterator[Field]:
    for annotation in annotations_of(page):
        if found := _filled_in(form, annotation):
            yield Field(*found, place_of(annotation, geometry), is_typed(annotation))


def is_typed(annotation: Any) -> bool:
    """Whether an annotation is text that somebody typed onto the page."""
    return bool(pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_FREETEXT)


def _is_in_margin(box: Box, lines: Sequence[Line]) -> bool:
    """Whether what is typed in a box stands before or behind a line of a page of long ones, as notes do."""
    long = [line.box for line in lines if line.box.right - line.box.left > _LONG]
    return 2 * len(long) > len(lines) and any(
        _shares_height(line, box) and (line.right <= box.left + _TOUCH or box.right <= line.left + _TOUCH)
        for line in long
    )


def annotations_of(page: Any) -> Iterator[Any]:
    """The annotations of a page (FPDF_ANNOTATION), each closed when the next is asked for."""
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_FIELDS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if annotation:
            try:
                yield annotation
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)


def place_of(annotation: Any, geometry: Geometry) -> Box:
    """Where an annotation stands on its page."""
    rect = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, rect)
    return geometry.box((rect.left, rect.top, rect.right, rect.bottom))


def _filled_in(form: Any, annotation: Any) -> tuple[str, str] | None:
    """The label and the value of a field, or of a text that was typed onto the page."""
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if is_typed(annotation) and not pdfium.FPDFAnnot_GetFlags(annotation) & UNSEEN:
        typed = annotation_text(form, annotation, contents)
        return ("", typed) if typed else None
    if kind != pdfium.FPDF_ANNOT_WIDGET or not form or not (value := _value(form, annotation)):
        return None
    label = annotation_text(form, annotation, pdfium.FPDFAnnot_GetFormFieldAlternateName)
    return label or annotation_text(form, annotation, pdfium.FPDFAnnot_GetFormFieldName), value


def contents(form: Any, annotation: Any, buffer: Any, size: int) -> int:
    """The size of an annotation's own text in bytes, the text put into the buffer where there is one."""
    return int(pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size))


def _value(form: Any, annotation: Any) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _TICKED:
        return _MARKED if pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
    return annotation_text(form, annotation, pdfium.FPDFAnnot_GetFormFieldValue) if kind in _WRITTEN else ""


def annotation_text(form: Any, annotation: Any, ask: Callable[..., int]) -> str:
    """A text of a field or another annotation on one line, as one of PDFium's functions gives it."""
    size = min(ask(form, annotation, None, 0), 2 * MAX_VALUE_CHARS)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    ask(form, annotation, buffer, size)
    text = bytes(memoryview(buffer).cast("B")[:size]).decode("utf-16-le", errors="replace")
    return " ".join(clean(text).replace("\0", " ").split())


def _beside(lines: tuple[Line, ...], box: Box) -> int | None:
    """The nearest line left of a field."""
    found = None
    for place, line in enumerate(lines):
        left = line.box.left < box.left and _shares_height(line.box, box)
        if left and (found is None or line.box.right > lines[found].box.right):
            found = place
    return found


def _shares_height(line: Box, box: Box) -> bool:
    return min(line.bottom, box.bottom) - max(line.top, box.top) > _BESIDE * min(line.height, box.height)


def _behind(reading: Reading, place: int, field: Field) -> Reading:
    line = reading.lines[place]
    value = Line(line.end + 1, line.end + 1 + len(field.value), field.box)
    box = Box(
        min(line.box.left, field.box.left), min(line.box.top, field.box.top),
        max(line.box.right, field.box.right), max(line.box.bottom, field.box.bottom),
    )  # fmt: skip
    grown = Line(line.start, value.end, box, (*(line.cells or (line,)), value))
    by = 1 + len(field.value)
    others = (other.moved(by if other.start >= line.end else 0) for other in reading.lines)
    lines = tuple(grown if at == place else other for at, other in enumerate(others))
    values = tuple(other.moved(by if other.start >= line.end else 0) for other in reading.values)
    text = f"{reading.text[: line.end]}\t{field.value}{reading.text[line.end :]}"
    return replace(reading, text=text, lines=lines, runs=tuple(_split(reading, line.end, by)), values=(*values, value))


def at_end(reading: Reading, field: Field) -> Reading:
    """The page with a field as a line of its own at the end."""
    said = f"{field.label}: {field.value}" if field.label else field.value
    start = len(reading.text) + 1
    line = Line(start, start + len(said), field.box)
    return replace(
        reading, text=f"{reading.text}\n{said}", lines=(*reading.lines, line), faces=(*reading.faces, Face(0.0, False)),
        runs=tuple(_split(reading, len(reading.text), 0)), values=(*reading.values, line),
    )  # fmt: skip


def _split(reading: Reading, at: int, by: int) -> Iterator[tuple[int, int, int]]:
    """The runs of a page into which so many characters are put."""
    for start, counted, length in reading.runs or ((0, 0, len(reading.text)),):
        before = min(max(at - start, 0), length)
        if before:
            yield start, counted, before
        if before < length:
            yield start + before + by, counted + before, length - before
