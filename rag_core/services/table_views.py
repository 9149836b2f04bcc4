"""The tables of a sheet as they are looked at: their columns in short, and some rows at a time."""

from __future__ import annotations

from rag_core.domain import Document, Scope, TableRow, TableRows, TableView
from rag_core.services.questions import QuestionService
from rag_core.tables.browsing import in_short, rows_in_order
from rag_core.tables.table import WholeTable

_MOST_COLUMNS = 100


class TableViews:
    """Thread-safe. Raises KeyError where there is no such document or table, and StoreUnavailable."""

    def __init__(self, questions: QuestionService) -> None:
        self._questions = questions

    def are_coming(self, document: Document) -> bool:
        """Whether the tables of a long document are still being made."""
        return not self._questions.library.contents(Scope()).has_tables_made(document)

    def names(self, document_id: str) -> list[str]:
        """What stands above each table, "" above one that has no name."""
        return [table.name for table in self._tables(document_id)]

    def view(self, document_id: str, table: int) -> TableView:
        """A table in short, and each of its first columns."""
        found = self._table(document_id, table)
        columns = tuple(in_short(column) for column in found.columns[:_MOST_COLUMNS])
        return TableView(found.name, len(found), len(found.columns), columns)

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
    ) -> TableRows:
        """Rows of a table that hold a text, at most `limit` from the place `first` on, in the order of a column; -1:
        as they stand."""
        found = self._table(document_id, table)
        order = rows_in_order(found, containing, by, descending=descending)
        first = max(0, min(first, len(order) - 1))
        return TableRows(tuple(_row(found, row) for row in order[first : first + limit].tolist()), first, len(order))

    def _table(self, document_id: str, table: int) -> WholeTable:
        tables = self._tables(document_id)
        if not 0 <= table < len(tables):
            raise KeyError((document_id, table))
        return tables[table]

    def _tables(self, document_id: str) -> list[WholeTable]:
        contents = self._questions.library.contents(Scope())
        return [table for document in contents.some([document_id]) for table in contents.tables(document)]


def _row(table: WholeTable, row: int) -> TableRow:
    cells = tuple(table.text(row, place) for place in range(min(len(table.columns), _MOST_COLUMNS)))
    return TableRow(cells, int(table.pages[row]), int(table.starts[row]), int(table.ends[row]))
