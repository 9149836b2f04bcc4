"""Tables with a column for each month or year, as they are asked over all of these: a row for each of their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from rag_core.tables.columns import Column
from rag_core.tables.table import WholeTable
from rag_core.tables.values import Kind, Numbers, moment_in

_FEWEST, _MOST_CELLS = 3, 200_000
VALUE = "Value"
"""The head of the column of what stood below the months or years."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PeriodTable(WholeTable):
    """A table whose months or years stand in a column, and what stood below them in another, the last two.

    wide: the table as it stands; others, periods: the columns of it that are still columns, and those that are not.
    """

    wide: WholeTable
    others: tuple[int, ...]
    periods: tuple[int, ...]

    def place_of(self, row: int, column: int) -> tuple[int, int]:
        """Where a cell stands in the wide table, by row and column; the figure of its row where it is of no column."""
        at, period = divmod(row, len(self.periods))
        return at, self.others[column] if 0 <= column < len(self.others) else self.periods[period]

    def is_needed_for(self, columns: Sequence[int]) -> bool:
        """Whether some columns are those of the months or years and their figures."""
        return max(columns, default=-1) >= len(self.others)


def period_tables(tables: Sequence[WholeTable]) -> list[PeriodTable]:
    """Those of some tables with columns for months or years, with a row for each."""
    return [made for table in tables if (made := _by_period(table)) is not None]


def periods_of(table: WholeTable) -> dict[int, tuple[int, int, int]]:
    """The columns of figures whose heads are a year, a month or a day, as numbers; none where they are fewer than
    three, or all of the table."""
    kinds = table.kinds
    found = {
        place: moment
        for place, head in enumerate(table.heads)
        if kinds[place] == "number" and (moment := moment_in(head)) is not None
    }
    return found if _FEWEST <= len(found) < len(kinds) else {}


def _by_period(table: WholeTable) -> PeriodTable | None:
    moments = periods_of(table)
    others = tuple(place for place in range(len(table.heads)) if place not in moments)
    if not moments or len(table) * len(table.heads) > _MOST_CELLS:
        return None
    if any(moment_in(table.heads[place]) for place in others):
        return None  # words below a year: the heads do not stand above their columns
    periods = tuple(moments)
    rows = np.arange(len(table)).repeat(len(periods))
    kept = [table.columns[place] for place in others]
    columns = [
        *(Column(one.head, one.texts, one.codes[rows], one.kind, one.values, one.unit, one.blank) for one in kept),
        _of_periods([table.heads[place] for place in periods], [*moments.values()], len(table)),
        _of_figures([table.columns[place] for place in periods]),
    ]
    return PeriodTable(
        columns, table.pages[rows], table.starts[rows], table.ends[rows], table.totals[rows], table.name,
        above=table.above, wide=table, others=others, periods=periods,
    )  # fmt: skip


def _of_periods(heads: Sequence[str], moments: Sequence[tuple[int, int, int]], rows: int) -> Column:
    """The column of months or years: days where all have both, numbers where they are years."""
    codes = np.tile(np.arange(len(heads), dtype=np.int32), rows)
    values: Numbers = np.full(len(heads), np.nan)
    kind: Kind = "text"
    if all(year and month for year, month, _ in moments):
        days = [date(year, month, day or 1) - date(1970, 1, 1) for year, month, day in moments]
        kind, values = "date", np.array([day.days for day in days], np.float64)
    elif all(year and not month for year, month, _ in moments):
        kind, values = "number", np.array([year for year, *_ in moments], np.float64)
    name = (
        "Year" if not any(month for _, month, _ in moments) else "Day" if any(day for *_, day in moments) else "Month"
    )
    return Column(name, tuple(heads), codes, kind, values)


def _of_figures(columns: Sequence[Column]) -> Column:
    """The column of figures, those of a row behind each other."""
    known: dict[str, int] = {}
    values: list[float] = []
    codes = np.empty((len(columns[0].codes), len(columns)), np.int32)
    for place, column in enumerate(columns):
        of = np.empty(len(column.texts), np.int32)
        for code, text in enumerate(column.texts):
            of[code] = known.setdefault(text, len(known))
            values += [float(column.values[code])] * (len(known) - len(values))
        codes[:, place] = of[column.codes]
    unit = next((column.unit for column in columns if column.unit), "")
    return Column(VALUE, tuple(known), codes.reshape(-1), "number", np.array(values), unit, known.get("", -1))
