"""Columns whose sum is no figure of anything: those that run up another, as the balance of an account does, and those
that number the rows."""

from __future__ import annotations

import numpy as np

from rag_core.tables.columns import Column, normalised
from rag_core.tables.joins import JoinedTable
from rag_core.tables.table import WholeTable
from rag_core.tables.values import Numbers

_FIRST_ROWS, _FEWEST = 1_000, 4
_MOSTLY = 0.9  # of the steps from row to row are a figure of another column
_MOST_COLUMNS = 20
_CENT = 0.006
_OF_ONE = frozenset(("unit", "per", "each", "rate", "average", "avg", "mean", "percent", "percentage", "ratio", "share",
                     "einzelpreis", "stückpreis", "prozent", "taux", "unitario", "unitaire"))  # fmt: skip
_PRICES = frozenset(("price", "fare", "tariff", "preis", "fahrpreis", "tarif", "prix", "precio", "tarifa", "prezzo",
                     "prijs", "preço"))  # fmt: skip
_EVEN = 2.0  # times the middle step that none is longer than


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
    if column.kind != "number" or not column.is_key or len(column.codes) < _FEWEST or column.may_be_years:
        return set()
    numbers = column.values[column.codes[:_FIRST_ROWS]][~table.totals[:_FIRST_ROWS]]
    return {0} if bool((np.diff(numbers) == 1).all() and (numbers % 1 == 0).all()) else set()


def row_names(table: WholeTable) -> set[int]:
    """The columns of whole numbers that name rows, as those of staff and invoices do: no two have the same, they go up
    in even steps, and begin where no rank, count or year does."""
    found = {place for place, column in enumerate(table.columns) if _names_rows(column, table)}
    if isinstance(table, JoinedTable):
        of_other = row_names(table.other)
        places = range(table.own, len(table.columns))
        found |= {place for place in places if table.column_of_other(place) in of_other}
    return found


def is_of_one(column: Column) -> bool:
    """Whether its figures are of one thing each, prices of a unit, shares and means: their sum is of nothing."""
    return column.unit == "%" or not _OF_ONE.isdisjoint(normalised(column.head).split())


def is_price(column: Column) -> bool:
    """Whether its figures are prices, which are those of one thing where it is asked what something costs."""
    return not _PRICES.isdisjoint(normalised(column.head).split())


def may_be_ranks(column: Column) -> bool:
    """Whether its figures may say who is first: whole ones from 1 on."""
    return column.is_whole and float(np.nanmin(column.values)) == 1


def labels_of(table: WholeTable) -> tuple[int, ...]:
    """The first column of codes of which each row has its own and that of names right behind it; () where there are
    none."""
    keys = [place for place, column in enumerate(table.columns) if column.kind == "text" and column.is_key]
    if len(keys) < 2 or keys[1] != keys[0] + 1 or isinstance(table, JoinedTable):
        return ()
    code, name = (table.columns[place] for place in keys[:2])
    return tuple(keys[:2]) if name.has_names and not name.has_codes and code.has_codes else ()


def _names_rows(column: Column, table: WholeTable) -> bool:
    if column.kind != "number" or column.unit or not column.is_whole or column.may_be_years or not column.is_key:
        return False
    numbers = column.values[column.codes[:_FIRST_ROWS]][~table.totals[:_FIRST_ROWS]]
    steps = np.diff(numbers)
    if len(numbers) < _FEWEST or not (steps > 0).all():
        return False
    return bool(numbers[0] > 2 * len(table) and steps.max() <= _EVEN * np.median(steps))


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
