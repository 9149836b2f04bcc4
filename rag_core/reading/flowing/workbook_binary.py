"""Excel's binary workbooks (XLSB): a page for each sheet; amounts are shown without their formats, days as days."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import python_calamine

from rag_core.errors import UnreadableDocument
from rag_core.reading.flowing import archive, number_format
from rag_core.reading.flowing.blocks import Block, Flow, Row
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.sheet_tables import tables
from rag_core.reading.flowing.workbook import DEFAULT_NAME

_PANIC = "PanicException"  # what a fault of the library is, which no exception of Python is above


def read(path: Path, max_chars: int) -> Flow:
    """Open a workbook. Raises as `archive.checked` does, and UnreadableDocument for a damaged one."""
    notes: list[str] = []
    with archive.checked(path), _faults_told():
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(path.read_bytes()))
    return Flow(_blocks(book, notes), notes=notes)


def _blocks(book: python_calamine.CalamineWorkbook, notes: list[str]) -> Iterator[Block]:
    """notes: filled with what was not read."""
    sheets = [one for one in book.sheets_metadata if one.typ == python_calamine.SheetTypeEnum.WorkSheet]
    for number, sheet in enumerate(sheets):
        if number:
            yield Block("page")
        if not DEFAULT_NAME.fullmatch(sheet.name):
            yield Block("heading", sheet.name, level=2)
        yield from spared(tables(_rows(book, sheet.name)), f"The sheet “{sheet.name}”", notes)
    visible = python_calamine.SheetVisibleEnum.Visible
    if hidden := [sheet.name for sheet in sheets if sheet.visible != visible]:
        notes.append(f"Sheets that the workbook hides, and that were read: {', '.join(hidden)[:300]}.")


def _rows(book: python_calamine.CalamineWorkbook, name: str) -> Iterator[Row]:
    with _faults_told():
        rows = book.get_sheet_by_name(name).iter_rows()
    for row in rows:
        yield [_shown(value) for value in row]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return f"{value:.15g}" if isinstance(value, float) else number_format.moment(value)


@contextmanager
def _faults_told() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if isinstance(error, python_calamine.CalamineError | ValueError | OSError) or type(error).__name__ == _PANIC:
            raise UnreadableDocument("The file is damaged: a part of it makes no sense.") from error
        raise
