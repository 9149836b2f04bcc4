"""A table looked at: each column in short, and its rows found by a text and put into an order."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rag_core.domain import TableColumn
from rag_core.tables.clock import time_shown
from rag_core.tables.columns import Column, Mask
from rag_core.tables.plans import Rows
from rag_core.tables.postings import Texts
from rag_core.tables.table import WholeTable
from rag_core.tables.values import Numbers

_DIGITS = 6


def in_short(column: Column) -> TableColumn:
    """What a column holds."""
    empty = int(np.count_nonzero(column.codes == column.blank)) if column.blank >= 0 else 0
    distinct = len(column.texts) - (column.blank >= 0)
    least, most, mean = _ends(column) if column.kind != "text" else ("", "", "")
    kind = column.by_hand or ("time" if column.is_time else column.kind)
    return TableColumn(column.head, kind, column.unit, distinct, empty, least, most, mean)


def _ends(column: Column) -> tuple[str, str, str]:
    """The least and the largest cell, and the mean of all rows; a day is one even where a cell says it otherwise."""
    known = np.flatnonzero(~np.isnan(column.values))
    if not len(known):
        return "", "", ""
    ends = [int(known[place(column.values[known])]) for place in (np.argmin, np.argmax)]
    if column.kind == "date":
        least, most = (_moment(column, float(column.values[end])) for end in ends)
        return least, most, ""
    return column.texts[ends[0]], column.texts[ends[1]], f"{float(np.nanmean(column.numbers)):.{_DIGITS}g}"


def _moment(column: Column, value: float) -> str:
    return time_shown(value) if column.is_time else (date(1970, 1, 1) + timedelta(days=value)).isoformat()


def rows_in_order(table: WholeTable, text: str = "", by: int = -1, *, descending: bool = False) -> Rows:
    """The rows of which a cell holds a text, in whatever letters, in the order of a column; -1: as they stand.

    What has no value in that column comes last.
    """
    found = np.flatnonzero(_holding(table, text.strip())) if text.strip() else np.arange(len(table))
    if not 0 <= by < len(table.columns):
        return found
    keys = _keys(table.columns[by])[found]
    order: Rows = found[np.argsort(-keys if descending else keys, kind="stable")]
    return order


def _holding(table: WholeTable, text: str) -> Mask:
    found = np.zeros(len(table), bool)
    for column in table.columns:
        cells = pc.match_substring(_array(column), text, ignore_case=True).to_numpy(zero_copy_only=False)
        found |= cells[column.codes]
    return found


def _keys(column: Column) -> Numbers:
    """What a column's rows are ordered by: what their cells are worth, or where these stand in the alphabet."""
    if column.kind != "text":
        return column.numbers
    ranks: NDArray[np.float64] = pc.rank(pc.utf8_lower(_array(column)), tiebreaker="dense").to_numpy().astype(float)
    if column.blank >= 0:
        ranks[column.blank] = np.nan
    found: Numbers = ranks[column.codes]
    return found


def _array(column: Column) -> Any:
    texts = column.texts
    return texts.array if isinstance(texts, Texts) else pa.array(texts, pa.large_string())
