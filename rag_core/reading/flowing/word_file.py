"""A Word file as python-docx opens it, mended where that wants more than the file holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from docx.exceptions import PythonDocxError
from docx.opc.part import PartFactory
from docx.oxml.ns import qn
from docx.package import Package
from docx.parts.document import DocumentPart
from docx.styles.style import BaseStyle, StyleFactory

from rag_core.reading.base import Details
from rag_core.reading.flowing import archive

# What python-docx refuses by name: documents with macros, and templates.
_OTHER_KINDS = (
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)
_PARAGRAPH = qn("w:p")
_ODD = (KeyError, ValueError, AttributeError, TypeError, PythonDocxError)


def opened(path: Path) -> tuple[Any, list[str]]:
    """The document, and notes on what it lacks.

    python-docx wants all parts that are named, whole and in the usual form.
    """
    try:
        return _document(str(path)), []
    except (*archive.MENDABLE, PythonDocxError):
        copy, notes = archive.mended(path)
        return _document(copy), notes


def details_of(document: Any) -> Details:
    """What the document says of itself, nothing where that makes no sense."""
    try:
        said = document.core_properties
        changed = said.modified.date().isoformat() if said.modified else ""
        return Details(said.title.strip(), said.author.strip(), language=said.language, modified=changed)
    except _ODD:
        return Details()


def styles_of(document: Any) -> Iterator[tuple[str, BaseStyle]]:
    """The styles that make sense, by their names in the file."""
    with suppress(*_ODD):
        for element in document.styles.element.style_lst:
            with suppress(*_ODD):
                style = StyleFactory(element)
                yield style.style_id, style


def style_of(element: Any) -> str | None:
    """The name in the file of the style that a paragraph or run says it has."""
    kind = "w:p" if element.tag == _PARAGRAPH else "w:r"
    found = element.find(f"{qn(f'{kind}Pr')}/{qn(f'{kind}Style')}")
    return None if found is None else found.get(qn("w:val"))


def _document(file: str | BytesIO) -> Any:
    PartFactory.part_type_for |= dict.fromkeys(_OTHER_KINDS, DocumentPart)
    part: Any = Package.open(file).main_document_part
    return part.document
