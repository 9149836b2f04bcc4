"""Excel workbooks (XLSX): a page for each sheet, what stands in cells as Excel shows it, tables between empty rows.

openpyxl finds the parts of a workbook; cells are read here, row by row, so that one that makes no sense costs itself
alone and a sheet of a million rows takes seconds. Formulas count with the value that was stored with them. A head that
is merged over columns stands over each, and a name that is merged over rows stands before each.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree
from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.cell import coordinate_to_tuple, range_boundaries
from openpyxl.utils.datetime import from_ISO8601
from openpyxl.xml.constants import ARC_STYLE, SHARED_STRINGS

from rag_core.reading.base import Details
from rag_core.reading.flowing import archive, number_format
from rag_core.reading.flowing.blocks import Block, Flow, Row, comment
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.merged_cells import MOST_MERGED, Merged, MergedCells
from rag_core.reading.flowing.sheet_tables import tables
from rag_core.reading.flowing.workbook_beside import boxes_of, comments_of

# What programs call a sheet that nobody named.
DEFAULT_NAME = re.compile(
    r"(?:sheet|tabelle|feuil|hoja|foglio|planilha|blad|ark|arkusz|лист|工作表)\s?\d*", re.IGNORECASE
)
_NAMES = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW, _CELL, _VALUE, _STRING, _TEXT, _FORMULA = (_NAMES + name for name in ("row", "c", "v", "si", "t", "f"))
_BOOK = "xl/workbook.xml"
_SPOKEN = _NAMES + "rPh"  # how a text is pronounced
_MOST_COLUMNS = 16_384  # as many as Excel takes
_NO_VALUE = "#REF!"  # what Excel shows for what is not there
_MERGED = re.compile(rb"mergeCell\s+ref=[\"'](\w{2,10}:\w{2,10})[\"']")
_PIECE_BYTES, _MERGED_BYTES = 2**20, 64
_MOST_PLACES = 20  # of formulas that are told of one by one
_DAMAGED = (etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error, EOFError)


def read(path: Path, max_chars: int) -> Flow:
    """Open a workbook. Raises as `archive.office` does."""
    archive.office(path)
    file, notes = archive.usual(path, _BOOK), list[str]()  # openpyxl would judge a path by its suffix
    try:
        book = _opened(file)
    except (*archive.MENDABLE, OSError):  # what openpyxl raises for a file without its main part
        file, notes = archive.mended(path)
        book = _opened(file)
    with suppress(ValueError, TypeError, etree.XMLSyntaxError):  # a date that is none: the cells are there
        book.read_properties()
    said = book.wb.properties
    details = Details((said.title or "").strip(), (said.creator or "").strip())
    return Flow(_blocks(book, file, notes), details, notes=notes)


def _opened(file: BinaryIO) -> ExcelReader:
    book = ExcelReader(file, read_only=True, data_only=True)
    book.read_manifest()
    book.read_workbook()
    return book


def _blocks(book: ExcelReader, file: BinaryIO, notes: list[str]) -> Iterator[Block]:
    """notes: filled with what was not read."""
    with file:
        cells = _Cells(_strings(book, notes), _formats(book.archive, notes), book.wb.epoch)
        sheets = [(sheet, found.target) for sheet, found in book.parser.find_sheets() if "chart" not in found.Type]
        sheets = [(sheet, part) for sheet, part in sheets if part in book.valid_files]
        for number, (sheet, part) in enumerate(sheets):
            if number:
                yield Block("page")
            if not DEFAULT_NAME.fullmatch(sheet.name):
                yield Block("heading", sheet.name, level=2)
            cells.sheet = sheet.name
            yield from spared(_sheet(book.archive, part, cells, notes), f"The sheet “{sheet.name}”", notes)
        if hidden := [sheet.name for sheet, _ in sheets if sheet.state != "visible"]:
            notes.append(f"Sheets that the workbook hides, and that were read: {', '.join(hidden)[:300]}.")
        if cells.unsaid:
            places = ", ".join([*cells.unsaid_at, *(["others"] if cells.unsaid > _MOST_PLACES else [])])
            notes.append(
                f"Formulas without a stored value, which were left out: {cells.unsaid:,}, in {places}. A spreadsheet"
                " program that saves the file stores them."
            )


def _sheet(parts: zipfile.ZipFile, part: str, cells: _Cells, notes: list[str]) -> Iterator[Block]:
    """The tables of a sheet, what is said of their cells, and what is drawn beside them."""
    with parts.open(part) as stream:
        merged = _merged(stream)
    said = comments_of(part, parts)
    cells.commented = {one.place: one.place for one in said}
    with parts.open(part) as stream:
        yield from tables(_to_the_damage(cells.rows(stream, merged), f"The sheet “{cells.sheet}”", notes))
    yield from (comment(one.text, one.author, cells.commented[one.place]) for one in said)
    yield from (Block("paragraph", text) for text in boxes_of(part, parts))


def _to_the_damage(found: Iterable[Any], what: str, notes: list[str]) -> Iterator[Any]:
    """What is found as far as the file is sound, with a note where that is not to its end."""
    try:
        yield from found
    except _DAMAGED:
        notes.append(f"{what} is damaged: what stands behind the damage was not read.")


def _strings(book: ExcelReader, notes: list[str]) -> list[str]:
    """The texts that cells name by their number."""
    part = book.package.find(SHARED_STRINGS)
    if part is None or part.PartName[1:] not in book.valid_files:
        return []
    with book.archive.open(part.PartName[1:]) as stream:
        return [_joined(one) for one in _to_the_damage(_elements(stream, _STRING), "The list of texts", notes)]


def _formats(book: zipfile.ZipFile, notes: list[str]) -> list[str]:
    """The number format of each style that cells name by its number."""
    if ARC_STYLE not in book.namelist():
        return []
    try:
        root = archive.xml(book.read(ARC_STYLE))
    except _DAMAGED:
        notes.append("The workbook's styles are damaged: dates and amounts are shown as bare numbers.")
        return []
    own = {one.get("numFmtId"): one.get("formatCode", "") for one in root.iter(_NAMES + "numFmt")}
    names = [style.get("numFmtId") for style in root.iterfind(f"{_NAMES}cellXfs/{_NAMES}xf")]
    return [own.get(name) or BUILTIN_FORMATS.get(archive.number(name), "General") for name in names]


def _merged(stream: Any) -> MergedCells:
    """The merged cells of a sheet, which lists them behind its rows."""
    found = list[Merged]()
    before = b""
    with suppress(*_DAMAGED):
        while (piece := stream.read(_PIECE_BYTES)) and len(found) < MOST_MERGED:
            for one in _MERGED.finditer(before + piece):
                with suppress(ValueError, TypeError):
                    left, top, right, bottom = range_boundaries(one[1].decode())
                    found.append(Merged(left, top, right, bottom))
            before = piece[-_MERGED_BYTES:]
    return MergedCells(found)


class _Cells:
    """The cells of sheets as Excel would show them, as far as formats are those of numbers, shares, amounts, dates."""

    def __init__(self, strings: Sequence[str], formats: Sequence[str], epoch: datetime) -> None:
        self._strings = strings
        self._formats = formats
        self._epoch = epoch
        self.sheet = ""
        self.unsaid, self.unsaid_at = 0, list[str]()  # formulas without a value, and the places of the first
        self.commented: dict[str, str] = {}  # places of cells, for which what they show is put, behind its row's name

    def rows(self, stream: Any, merged: MergedCells) -> Iterator[Row]:
        """The rows of a sheet, one empty row for all that are missing between two."""
        last = 0
        for row in _elements(stream, _ROW):
            number = archive.number(row.get("r"), last + 1)
            if number > last + 1:
                yield []
            last = number
            cells = self._row(row)
            merged.fill(number, cells)
            yield cells

    def _row(self, row: Any) -> list[str | None]:
        found: list[str | None] = []
        for cell in row.iterchildren(_CELL):
            column = _column(cell.get("r"), len(found) + 1)
            found += [""] * (column - 1 - len(found))
            found.append(self._shown(cell))
            if cell.get("r") in self.commented and found[-1]:
                label = next(filter(None, found), "")
                self.commented[cell.get("r")] = ", ".join(dict.fromkeys((label, found[-1])))
        return found

    def _shown(self, cell: Any) -> str:
        """What a cell shows; where its value is not what it says that it is, the value as it was written."""
        kind, written = cell.get("t", "n"), cell.findtext(_VALUE) or ""
        if kind == "inlineStr":
            return _joined(cell)
        if not written:
            if cell.find(_FORMULA) is not None:
                self.unsaid += 1
                if len(self.unsaid_at) < _MOST_PLACES:
                    self.unsaid_at.append(f"{self.sheet}!{cell.get('r', '?')}")
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
            return number_format.moment(from_ISO8601(written))
        if kind != "n":
            return written
        value = int(written) if written.lstrip("-").isdecimal() else float(written)
        return number_format.cell(value, form, self._epoch)


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
