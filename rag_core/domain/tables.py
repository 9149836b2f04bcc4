"""What a question found in a whole table, and the plan that found it. Columns and tables count from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Comparison = Literal["is", "not", "equals", "over", "under", "at least", "at most", "within", "month"]
ColumnType = Literal["text", "number", "date", "time", "yes/no", "choice"]
"""What a column can be said to hold: "choice" are words of which each is one of a few."""


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """What a person says that a column holds, and what stood above it by then."""

    column: int
    head: str
    kind: ColumnType


@dataclass(frozen=True, slots=True)
class TableReading:
    """What a person set right of how a table was read, by its number and name.

    head: the row that is its head, counted from 1 on from the table's first row; 0: as read. heads: that row's cells,
    by which a new version of the document is known to have the same table.
    """

    table: int
    name: str
    head: int = 0
    heads: tuple[str, ...] = ()
    columns: tuple[ColumnReading, ...] = ()


@dataclass(frozen=True, slots=True)
class TableCondition:
    """What rows have in a column, in `words` too: one of the cells `values`, or a figure held against them.

    "is" lists cells as they stand, "not" those that rows have not; the others compare a number ("60000"), or days
    ("2024-03-01"): those of a period are its first and last. "month" compares the month of a date, or its day
    ("14 May"), of any year, with the first and the last asked.
    """

    column: int
    head: str
    comparison: Comparison
    values: tuple[str, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Which rows of which of a document's tables, and what is done with them: "count", "sum", "look up" and so on.

    target: the column that it is done with, by: that which chooses or groups the rows, -1 where there is none. size:
    how many of the furthest are found. other: the document whose tables those of `document_id` are joined with, "" for
    none: `table` counts what comes of that.
    """

    document_id: str
    table: int
    conditions: tuple[TableCondition, ...]
    operation: str
    target: int = -1
    by: int = -1
    size: int = 1
    other: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with where it stands on its page."""

    cells: tuple[str, ...]
    page: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column in short. distinct: how many different cells it has; empty: how many rows have none.

    least, most: as they stand in cells, mean: as a number, each "" where the column is of words, or of days.
    """

    head: str
    kind: ColumnType
    unit: str
    distinct: int
    empty: int
    least: str = ""
    most: str = ""
    mean: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A whole table in short: some of its `width` columns, from `first_column` on, and how many rows it has.

    head: the row of `top`, its first ones as they stand, that is the last of its head, from 1 on; 0: it has none.
    reading: what a person set right of it.
    """

    name: str
    rows: int
    width: int
    first_column: int
    columns: tuple[TableColumn, ...]
    head: int = 0
    top: tuple[tuple[str, ...], ...] = ()
    reading: TableReading | None = None


@dataclass(frozen=True, slots=True)
class TableRows:
    """Some rows of a table in the order that was asked for, from `first` on, of `count` that hold what was looked for.

    Each has the cells of some columns, from `first_column` on.
    """

    rows: tuple[TableRow, ...]
    first: int
    count: int
    first_column: int = 0


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The rows that a plan found, the first few of `count`, and how what is computed was computed, "" for what is not.

    title: of the document; name: what stands above the table. heads: those of the columns that are given, the plan's
    among them: very wide tables are given in part. groups: the cells of a column with the figure of each, the largest
    first, at most fifty.
    """

    plan: TablePlan
    title: str
    name: str
    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    count: int
    formula: str = ""
    groups: tuple[tuple[str, float], ...] = ()
