"""Columns whose sum is no figure of anything: those that run up another, as the balance of an account does, and those
that number the rows."""

from __future__ import annotations

import numpy as np

from rag_core.tables.table import WholeTable
from rag_core.tables.values import Numbers

_FIRST_ROWS, _FEWEST = 1_000, 4
_MOSTLY = 0.9  # of the steps from row to row are a figure of another column
_MOST_COLUMNS = 20
_CENT = 0.006


def balances(table: WholeTable) -> set[int]:
    """The columns of numbers whose steps are what other columns have in the row, in the order of time or against it."""
    kept = ~table.totals[:_FIRST_ROWS]
    found = {
        place: column.values[column.codes[:_FIRST_ROWS]][kept]
        for place, column in enumerate(table.columns)
        if column.kind == "number"
    }
    if not 2 <= len(found) <= _MOST_COLUMNS or int(kept.sum()) <= _FEWEST:
        return set()
    return {
        place for place, numbers in found.items() if _runs_up(numbers, [found[one] for one in found if one != place])
    }


def row_numbers(table: WholeTable) -> set[int]:
    """The first column, where it has whole numbers that go up by one from row to row."""
    column = table.columns[0]
    if column.kind != "number" or not column.is_key or len(column.codes) < _FEWEST:
        return set()
    numbers = column.values[column.codes[:_FIRST_ROWS]][~table.totals[:_FIRST_ROWS]]
    return {0} if bool((np.diff(numbers) == 1).all() and (numbers % 1 == 0).all()) else set()


def _runs_up(numbers: Numbers, others: list[Numbers]) -> bool:
    steps = np.abs(np.diff(numbers))
    known = ~np.isnan(steps) & (steps > 0)
    if int(known.sum()) < _FEWEST:
        return False
    amounts = np.abs(np.stack(others))
    with np.errstate(invalid="ignore"):
        forth, back = (
            (np.abs(some - steps) < _CENT).any(axis=0)[known].mean() for some in (amounts[:, 1:], amounts[:, :-1])
        )
    return max(float(forth), float(back)) >= _MOSTLY
