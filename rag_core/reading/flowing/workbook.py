"""Excel workbooks (XLSX): a page for each sheet, what stands in cells as Excel shows it, tables between empty rows.

openpyxl finds the parts of a workbook; cells are read here, row by row, so that one that makes no sense costs itself
alone and a sheet of a million rows takes seconds. Formulas count with the value that was stored with them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format
from openpyxl.utils.cell import coordinate_to_tuple
from openpyxl.utils.datetime import from_excel, from_ISO8601
from openpyxl.xml.constants import ARC_STYLE, SHARED_STRINGS

from rag_core.reading.base import Details
from rag_core.reading.flowing import archive
from rag_core.reading.flowing.blocks import Block, Flow, Row

# A format's first part, which is that of positive numbers, without colours, conditions and quoted words.
_ASIDE = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|\\.|_.|\*.")
_CURRENCY = re.compile(r"\[\$([^\]-]+)|([$€£¥])")
_FORMAT_CHARS = 255  # as many as Excel takes
_DECIMALS = re.compile(r"\.([0#?]+)")
# What programs call a sheet that nobody named.
_DEFAULT_NAME = re.compile(
    r"(?:sheet|tabelle|feuil|hoja|foglio|planilha|blad|ark|arkusz|лист|工作表)\s?\d*", re.IGNORECASE
)
_NAMES = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW, _CELL, _VALUE, _STRING, _TEXT = (_NAMES + name for name in ("row", "c", "v", "si", "t"))
_SPOKEN = _NAMES + "rPh"  # how a text is pronounced
_MOST_COLUMNS = 16_384  # as many as Excel takes
_NO_VALUE = "#REF!"  # what Excel shows for what is not there


def read(path: Path, max_chars: int) -> Flow:
    """Open a workbook. Raises as `archive.office` does."""
    archive.office(path)
    file = path.open("rb")  # openpyxl would judge a path by its suffix
    book = ExcelReader(file, read_only=True, data_only=True)
    book.read_manifest()
    book.read_workbook()
    with suppress(ValueError, TypeError):  # a date that is none: the cells are there
        book.read_properties()
    said = book.wb.properties
    return Flow(_blocks(book, file), Details((said.title or "").strip(), (said.creator or "").strip()))


def tables(rows: Iterable[Row]) -> Iterator[Block]:
    """Tables that empty rows set apart, read as they are asked for."""
    for filled, group in groupby(rows, key=lambda row: any(row)):
        if filled:
            yield Block("table", rows=group)


def _blocks(book: ExcelReader, file: BinaryIO) -> Iterator[Block]:
    with file:
        cells = _Cells(_strings(book), _formats(book.archive), book.wb.epoch)
        parts = [(sheet.name, found.target) for sheet, found in book.parser.find_sheets() if "chart" not in found.Type]
        for number, (name, part) in enumerate((name, part) for name, part in parts if part in book.valid_files):
            if number:
                yield Block("page")
            if not _DEFAULT_NAME.fullmatch(name):
                yield Block("heading", name, level=2)
            with book.archive.open(part) as stream:
                yield from tables(cells.rows(stream))


def _strings(book: ExcelReader) -> list[str]:
    """The texts that cells name by their number."""
    part = book.package.find(SHARED_STRINGS)
    if part is None or part.PartName[1:] not in book.valid_files:
        return []
    with book.archive.open(part.PartName[1:]) as stream:
        return [_joined(element) for element in _elements(stream, _STRING)]


def _formats(book: zipfile.ZipFile) -> list[str]:
    """The number format of each style that cells name by its number."""
    if ARC_STYLE not in book.namelist():
        return []
    root = archive.xml(book.read(ARC_STYLE))
    own = {one.get("numFmtId"): one.get("formatCode", "") for one in root.iter(_NAMES + "numFmt")}
    names = [style.get("numFmtId") for style in root.iterfind(f"{_NAMES}cellXfs/{_NAMES}xf")]
    return [own.get(name) or BUILTIN_FORMATS.get(archive.number(name), "General") for name in names]


class _Cells:
    """The cells of sheets as Excel would show them, as far as formats are those of numbers, shares, amounts, dates."""

    def __init__(self, strings: Sequence[str], formats: Sequence[str], epoch: datetime) -> None:
        self._strings = strings
        self._formats = formats
        self._epoch = epoch

    def rows(self, stream: Any) -> Iterator[Row]:
        """The rows of a sheet, one empty row for all that are missing between two."""
        last = 0
        for row in _elements(stream, _ROW):
            number = archive.number(row.get("r"), last + 1)
            if number > last + 1:
                yield []
            last = number
            yield self._row(row)

    def _row(self, row: Any) -> list[str]:
        found: list[str] = []
        for cell in row.iterchildren(_CELL):
            column = _column(cell.get("r"), len(found) + 1)
            found += [""] * (column - 1 - len(found))
            found.append(self._shown(cell))
        return found

    def _shown(self, cell: Any) -> str:
        """What a cell shows; where its value is not what it says that it is, the value as it was written."""
        kind, written = cell.get("t", "n"), cell.findtext(_VALUE) or ""
        if kind == "inlineStr":
            return _joined(cell)
        if not written:
            return ""
        if kind == "s":
            at = archive.number(written, -1)
            return self._strings[at] if 0 <= at < len(self._strings) else _NO_VALUE
        style = archive.number(cell.get("s"))
        form = self._formats[style] if 0 <= style < len(self._formats) else "General"
        try:
            return self._worth(kind, written, form)
        except (ValueError, OverflowError):
            return written

    def _worth(self, kind: str, written: str, form: str) -> str:
        if kind == "b":
            return "TRUE" if int(written) else "FALSE"
        if kind == "d":
            return _moment(from_ISO8601(written))
        if kind != "n":
            return written
        value = int(written) if written.lstrip("-").isdecimal() else float(written)
        if is_date_format(form):
            return _moment(from_excel(value, self._epoch, timedelta=is_timedelta_format(form)))
        return _number(value, form)


def _elements(stream: Any, name: str) -> Iterator[Any]:
    """The elements of a name, each gone from memory when the next is asked for."""
    for _, element in etree.iterparse(stream, tag=name, resolve_entities=False, no_network=True, load_dtd=False):
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _joined(element: Any) -> str:
    texts = (one for one in element.iter(_TEXT) if one.getparent().tag != _SPOKEN)
    return "".join(one.text or "" for one in texts)


def _column(place: str | None, default: int) -> int:
    """The column that a cell says it stands in, from 1; the next one where it says none that can be."""
    try:
        column = coordinate_to_tuple(place)[1] if place else default
    except (ValueError, KeyError, IndexError):
        return default
    return column if default <= column <= _MOST_COLUMNS else default


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _number(value: float, form: str) -> str:
    first = form[:_FORMAT_CHARS].partition(";")[0]
    bare = _ASIDE.sub("", first)
    if not re.search("[0#?]", bare) or "E" in bare or "/" in bare:
        return f"{value:.15g}"
    found = _DECIMALS.search(bare)
    decimals = len(found[1]) if found else 0
    if "%" in bare:
        return f"{value * 100:.{decimals}f}%"
    amount = f"{abs(value):{',' if ',' in bare else ''}.{decimals}f}"
    currency = _CURRENCY.search(first)
    return ("-" if value < 0 else "") + ((currency[1] or currency[2]) if currency else "") + amount
