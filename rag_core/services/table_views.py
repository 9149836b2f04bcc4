"""The tables of a sheet looked at, some columns and rows at a time, and how they are read set right by hand.

What is set right counts at once for whatever is asked, outlives that the document is read again, and goes over to a new
version of it as far as that has the same columns; the rest is told of among its notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from rag_core.domain import (
    ColumnReading,
    ColumnType,
    Document,
    Scope,
    TableReading,
    TableRow,
    TableRows,
    TableView,
)
from rag_core.services.editing import ready_document
from rag_core.services.questions import QuestionService
from rag_core.storage import Storage
from rag_core.storage.indexes.table_index import TableIndex
from rag_core.tables.browsing import in_short, rows_in_order
from rag_core.tables.readings import at_top
from rag_core.tables.table import WholeTable

MOST_COLUMNS = 100
"""Columns that are given together where no other number is asked for."""
_TOP_CELLS = 30


class TableViews:
    """Thread-safe. Raises KeyError where there is no such document or table, and StoreUnavailable."""

    def __init__(self, storage: Storage, questions: QuestionService) -> None:
        self._storage = storage
        self._questions = questions

    def are_coming(self, document: Document) -> bool:
        """Whether the tables of a long document are still being made."""
        return not self._questions.library.contents(Scope()).has_tables_made(document)

    def names(self, document_id: str) -> list[str]:
        """What stands above each table, "" above one that has no name."""
        return [table.name for table in self._tables(document_id)]

    def view(
        self, document_id: str, table: int, *, first_column: int = 0, columns: int = MOST_COLUMNS
    ) -> TableView:  # fmt: skip
        """A table in short, and each of some of its columns."""
        found = self._table(document_id, table)
        first, last = _window(found, first_column, columns)
        some = tuple(in_short(column) for column in found.columns[first:last])
        top = tuple(row[:_TOP_CELLS] for row in found.top)
        return TableView(found.name, len(found), len(found.columns), first, some, found.head, top, found.reading)

    def rows(
        self,
        document_id: str,
        table: int,
        *,
        first: int = 0,
        limit: int = 50,
        containing: str = "",
        by: int = -1,
        descending: bool = False,
        first_column: int = 0,
        columns: int = MOST_COLUMNS,
    ) -> TableRows:
        """Rows of a table that hold a text, at most `limit` from the place `first` on, in the order of a column; -1:
        as they stand. Of each the cells of some columns."""
        found = self._table(document_id, table)
        order = rows_in_order(found, containing, by, descending=descending)
        first = max(0, min(first, len(order) - 1))
        window = _window(found, first_column, columns)
        rows = tuple(_row(found, row, window) for row in order[first : first + limit].tolist())
        return TableRows(rows, first, len(order), window[0])

    def correct(
        self, document_id: str, table: int, *, head: int = 0, columns: Mapping[int, ColumnType] | None = None
    ) -> None:
        """Say which row of a table is its head, from 1 on, 0 for the one as read, and what columns hold, by their
        numbers, from 0 on; this takes the place of what was said before. Nothing of both: it is as read.

        Raises ValueError for a row or column that there is not, LecternError where the document is not ready.
        """
        found, document = self._table(document_id, table), ready_document(self._storage, document_id)
        for column, kind in (columns or {}).items():
            if not 0 <= column < len(found.columns) or kind not in get_args(ColumnType):
                raise ValueError(f"The table has no column {column}, or none can hold “{str(kind)[:20]}”.")
        if not head and not columns:
            self.undo(document_id, table)
            return
        reading = TableReading(table, found.name, head, *_said(found, head, columns or {}))
        self._storage.documents.table_readings.keep(document_id, reading)
        self._storage.index(TableIndex).read_anew(document)

    def undo(self, document_id: str, table: int) -> None:
        """Have a table be as it was read; also what was set right of one that its document has no longer."""
        document = ready_document(self._storage, document_id)
        self._storage.documents.table_readings.discard(document_id, table)
        self._storage.index(TableIndex).read_anew(document)

    def readings(self, document_id: str) -> list[TableReading]:
        """All that was set right of a document's tables, also what fits none of them any more."""
        ready_document(self._storage, document_id)
        return list(self._storage.documents.table_readings.of(document_id))

    def _table(self, document_id: str, table: int) -> WholeTable:
        tables = self._tables(document_id)
        if not 0 <= table < len(tables):
            raise KeyError((document_id, table))
        return tables[table]

    def _tables(self, document_id: str) -> Sequence[WholeTable]:
        contents = self._questions.library.contents(Scope())
        return [table for document in contents.some([document_id]) for table in contents.tables(document)]


def _said(
    table: WholeTable, head: int, columns: Mapping[int, ColumnType]
) -> tuple[tuple[str, ...], tuple[ColumnReading, ...]]:
    """The cells of a row that is to be the head, and what columns hold, by their heads then. Raises ValueError."""
    if not 0 <= head < len(table.top) or (head and len(table.top[head - 1]) < 2):
        raise ValueError(f"The head is one of the first {len(table.top) - 1} rows, and has two cells or more.")
    heads = table.top[head - 1] if head else ()
    is_known = head or not (table.reading and table.reading.head)  # what stood above the columns as read
    names = heads or at_top([column.head for column in table.columns if is_known])
    said = [
        ColumnReading(column, names[column] if column < len(names) else "", kind)
        for column, kind in sorted(columns.items())
    ]
    return heads, tuple(said)


def _window(table: WholeTable, first: int, count: int) -> tuple[int, int]:
    """The first and the last column, not included, of some that are asked for."""
    first = max(0, min(first, len(table.columns) - 1))
    return first, first + max(count, 1)


def _row(table: WholeTable, row: int, window: tuple[int, int]) -> TableRow:
    cells = tuple(table.text(row, place) for place in range(window[0], min(window[1], len(table.columns))))
    return TableRow(cells, int(table.pages[row]), int(table.starts[row]), int(table.ends[row]))
