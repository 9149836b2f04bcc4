"""Excel workbooks of 1997 to 2003 (XLS): a page for each sheet, what stands in cells as Excel shows it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import xlrd
from openpyxl.utils.cell import get_column_letter
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from rag_core.errors import UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import compound, number_format
from rag_core.reading.flowing.blocks import Block, Flow, Row, comment
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.merged_cells import MOST_MERGED, Merged, MergedCells
from rag_core.reading.flowing.sheet_tables import tables
from rag_core.reading.flowing.workbook import DEFAULT_NAME

_VISIBLE, _LOCKED = 0, "encrypted"


def read(path: Path, max_chars: int) -> Flow:
    """Open a workbook. Raises UnsupportedDocument for one with a password, UnreadableDocument for a damaged one."""
    notes: list[str] = []
    with compound.opened(path) as file:
        details = compound.details(file)
        data = compound.stream(file, "Workbook", "Book")  # xlrd would go round where a file's parts do
    with Path(os.devnull).open("w") as nowhere:
        try:
            book = xlrd.open_workbook(
                file_contents=data, formatting_info=True, ragged_rows=True, on_demand=True, logfile=nowhere
            )
        except xlrd.XLRDError as error:
            if _LOCKED in str(error).lower():
                raise compound.locked() from error
            raise UnreadableDocument("The file is damaged: its sheets are not in it.") from error
    return Flow(_blocks(book, notes), Details(details.title, details.authors, modified=details.modified), notes=notes)


def _blocks(book: Any, notes: list[str]) -> Iterator[Block]:
    """notes: filled with what was not read."""
    hidden = list[str]()
    with Path(os.devnull).open("w") as book.logfile:
        for number, name in enumerate(book.sheet_names()):
            if number:
                yield Block("page")
            if not DEFAULT_NAME.fullmatch(name):
                yield Block("heading", name, level=2)
            yield from spared(_sheet(book, number, hidden), f"The sheet “{name}”", notes)
            book.unload_sheet(number)
    if hidden:
        notes.append(f"Sheets that the workbook hides, and that were read: {', '.join(hidden)[:300]}.")


def _sheet(book: Any, number: int, hidden: list[str]) -> Iterator[Block]:
    """The tables of a sheet and the comments on its cells. hidden: filled with its name where it is not shown."""
    sheet = book.sheet_by_index(number)
    if sheet.visibility != _VISIBLE:
        hidden.append(sheet.name)
    cells = _Cells(book, sheet)
    yield from tables(cells.rows())
    for (row, column), said in sorted(sheet.cell_note_map.items()):
        shown = [text for text in (cells.first(row), cells.shown(row, column)) if text]
        place = f"{get_column_letter(column + 1)}{row + 1}"
        yield comment(said.text, said.author.strip(), ", ".join(dict.fromkeys(shown)) or place)


class _Cells:
    """The cells of a sheet, by their rows and columns from 0, as Excel would show them."""

    def __init__(self, book: Any, sheet: Any) -> None:
        self._sheet = sheet
        self._formats = [_format(book, style) for style in book.xf_list]
        self._epoch: datetime = CALENDAR_MAC_1904 if book.datemode else CALENDAR_WINDOWS_1900

    def rows(self) -> Iterator[Row]:
        """The rows of the sheet."""
        found = self._sheet.merged_cells[:MOST_MERGED]
        merged = MergedCells(Merged(left + 1, top + 1, right, bottom) for top, bottom, left, right in found)
        for row in range(self._sheet.nrows):
            cells: list[str | None] = [self.shown(row, column) for column in range(self._sheet.row_len(row))]
            merged.fill(row + 1, cells)
            yield cells

    def first(self, row: int) -> str:
        """What the first cell of a row says that says anything."""
        columns = range(self._sheet.row_len(row)) if row < self._sheet.nrows else ()
        return next(filter(None, (self.shown(row, column) for column in columns)), "")

    def shown(self, row: int, column: int) -> str:
        """What a cell shows; nothing for one that is not there."""
        if row >= self._sheet.nrows or column >= self._sheet.row_len(row):
            return ""
        cell = self._sheet.cell(row, column)
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        if cell.ctype == xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, ""))
        if cell.ctype not in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
            return str(cell.value)
        form = self._formats[cell.xf_index] if cell.xf_index < len(self._formats) else "General"
        value = int(cell.value) if float(cell.value).is_integer() else cell.value
        try:
            return number_format.cell(value, form, self._epoch)
        except (ValueError, OverflowError):
            return f"{value:.15g}"


def _format(book: Any, style: Any) -> str:
    found = book.format_map.get(style.format_key)
    return found.format_str if found else "General"
