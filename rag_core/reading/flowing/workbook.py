"""Excel workbooks (XLSX): a page for each sheet, what stands in cells as Excel shows it, tables between empty rows.

Formulas count with the value that was stored with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from openpyxl import load_workbook

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


def read(path: Path, max_chars: int) -> Flow:
    """Open a workbook. Raises as `archive.office` does."""
    archive.office(path)
    file = path.open("rb")  # openpyxl would judge a path by its suffix
    workbook = load_workbook(file, read_only=True, data_only=True)
    said = workbook.properties
    return Flow(_blocks(workbook, file), Details((said.title or "").strip(), (said.creator or "").strip()))


def tables(rows: Iterable[Row]) -> Iterator[Block]:
    """Tables that empty rows set apart, read as they are asked for."""
    for filled, group in groupby(rows, key=lambda row: any(row)):
        if filled:
            yield Block("table", rows=group)


def _blocks(workbook: Any, file: BinaryIO) -> Iterator[Block]:
    sheets = workbook.worksheets
    with file:
        for number, sheet in enumerate(sheets):
            if number:
                yield Block("page")
            if not _DEFAULT_NAME.fullmatch(sheet.title):
                yield Block("heading", sheet.title, level=2)
            sheet.reset_dimensions()  # what a file says of its size may be wrong
            yield from tables([_shown(cell) for cell in row] for row in sheet.iter_rows())


def _shown(cell: Any) -> str:
    """A cell as Excel would show it, as far as its format is one of numbers, shares, amounts and dates."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value, cell.number_format or "General")
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
