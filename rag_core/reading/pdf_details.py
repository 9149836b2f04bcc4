"""What a PDF says about itself, by pypdf: information, outline, page labels, language.

pypdf fails in many ways on damaged files. Each part is read apart; one that fails is named in the notes.
"""

from __future__ import annotations

import logging
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError
from pypdf.generic import NullObject

from rag_core.reading.base import Details, Heading

MAX_HEADINGS = 2_000
MAX_LEVEL = 8
MAX_TITLE_CHARS = 300
# What pypdf has been seen to raise on damaged files.
PYPDF_FAILURES = (
    PyPdfError,
    DependencyError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    NotImplementedError,
    AssertionError,
    EOFError,
    MemoryError,
    OSError,
    struct.error,
    zlib.error,
)

# A title that names a file, a number of a filing system or nothing at all.
_NO_TITLE = re.compile(
    r"^(?:untitled.*|(?:microsoft \w+ - )?[^ ]+\.\w{2,4}|[\W\d_]*|(?:slide|page) ?\d*)$", re.IGNORECASE
)
_NO_AUTHOR = re.compile(
    r"^(?:\(?(?:anonymous|unknown|unspecified|user|admin(?:istrator)?)\)?|[\W\d_]*)$", re.IGNORECASE
)
# As of RFC 5646: "en", "en-US", "zh-Hant-TW".
_LANGUAGE = re.compile(r"^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$")
_FROM_PROGRAM = re.compile(r"^Microsoft \w+ - ")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")

_T = TypeVar("_T")

logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read_details(path: Path, password: str | None, page_count: int) -> Details:
    """Return what can be read; never raises for a damaged document."""
    notes: list[str] = []
    with path.open("rb") as file:
        reader = _try("document information", notes, lambda: _reader(file, password))
        if reader is None:
            return Details(notes=tuple(notes))
        title, authors = _try("document information", notes, lambda: _information(reader)) or ("", "")
        headings = _try("outline", notes, lambda: tuple(_outline(reader, page_count))) or ()
        if len(headings) > MAX_HEADINGS:
            notes.append(f"The outline has more than {MAX_HEADINGS:,} headings; the first of them are kept.")
            headings = headings[:MAX_HEADINGS]
        labels = _try("page labels", notes, lambda: _labels(reader, page_count)) or {}
        language = _try("language", notes, lambda: _language(reader)) or ""
    # The date of a file's making is not its document's: the year comes from the first pages.
    return Details(title, authors, None, language, headings, labels, tuple(notes))


def _try(what: str, notes: list[str], read: Callable[[], _T]) -> _T | None:
    try:
        return read()
    except PYPDF_FAILURES:
        notes.append(f"The {what} could not be read.")
        return None


def _reader(file: BinaryIO, password: str | None) -> PdfReader:
    reader = PdfReader(file, strict=False, password=password)
    if reader.is_encrypted:
        # Protected against changes alone: everyone may read it with the empty password.
        reader.decrypt(password or "")
    return reader


def _information(reader: PdfReader) -> tuple[str, str]:
    information = reader.metadata
    if information is None:
        return "", ""
    title = _FROM_PROGRAM.sub("", _text(information.get("/Title")))
    authors = _text(information.get("/Author"))
    return "" if _NO_TITLE.match(title) else title, "" if _NO_AUTHOR.match(authors) else authors


def _language(reader: PdfReader) -> str:
    language = _text(reader.root_object.get("/Lang"))
    return language if _LANGUAGE.match(language) else ""


def _outline(reader: PdfReader, page_count: int) -> Iterator[Heading]:
    for level, entry in _entries(reader.outline, 1):
        number = reader.get_destination_page_number(entry)
        title = _text(entry.title)
        if title and number is not None and 0 <= number < page_count:
            yield Heading(title, level, number + 1, top=_top(reader, entry, number))


def _entries(outline: Any, level: int) -> Iterator[tuple[int, Any]]:
    """Yield levels and entries of pypdf's nested lists, one more than are kept."""
    stack = [(level, iter(outline))]
    found = 0
    while stack and found <= MAX_HEADINGS:
        level, entries = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
        elif isinstance(entry, list):
            stack.append((level + 1, iter(entry)))
        else:
            found += 1
            yield min(level, MAX_LEVEL), entry


def _top(reader: PdfReader, entry: Any, number: int) -> float | None:
    """Return how far down the page a destination points, as a fraction; None where it says nothing of use."""
    page = reader.pages[number]
    top = entry.top
    box = page.cropbox
    if top is None or page.rotation % 360 or not box.height:
        return None
    return min(max(float(box.top - top) / float(box.height), 0.0), 1.0)


def _labels(reader: PdfReader, page_count: int) -> dict[int, str]:
    if "/PageLabels" not in reader.root_object:
        return {}
    labels = {number: _text(label) for number, label in enumerate(reader.page_labels[:page_count], 1)}
    # Labels that only count the pages say nothing that the number does not.
    return {} if all(label == str(number) for number, label in labels.items()) else labels


def _text(value: Any) -> str:
    """Return a PDF string as clean text on one line."""
    value = value.get_object() if hasattr(value, "get_object") else value
    if value is None or isinstance(value, NullObject):
        return ""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return _BLANKS.sub(" ", text.encode("utf-8", "replace").decode("utf-8")).strip()[:MAX_TITLE_CHARS]
