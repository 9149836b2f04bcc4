"""Whole tables of the documents that a person sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rag_core.domain import Answer, ColumnType, Document, TablePlan, TableReading, TableRows, TableView
from rag_core.personal.rights import Part, seen_document


class PersonalTableViews(Part):
    """Tables looked at, and how they are read set right."""

    def are_coming(self, document: Document) -> bool:
        """Whether the tables of a long document are still being made."""
        return self._library.table_views.are_coming(seen_document(self._rights, document))

    def names(self, document_id: str) -> list[str]:
        """What stands above each table."""
        self._rights.see(document_id)
        return self._library.table_views.names(document_id)

    def view(self, document_id: str, table: int, **how: Any) -> TableView:
        """A table in short."""
        self._rights.see(document_id)
        return self._library.table_views.view(document_id, table, **how)

    def rows(self, document_id: str, table: int, **how: Any) -> TableRows:
        """Rows of a table."""
        self._rights.see(document_id)
        return self._library.table_views.rows(document_id, table, **how)

    def readings(self, document_id: str) -> list[TableReading]:
        """What was set right of a document's tables."""
        self._rights.see(document_id)
        return self._library.table_views.readings(document_id)

    def correct(
        self, document_id: str, table: int, *, head: int = 0, columns: Mapping[int, ColumnType] | None = None
    ) -> None:
        """Set right how a table is read."""
        self._rights.edit(document_id)
        self._library.table_views.correct(document_id, table, head=head, columns=columns)

    def undo(self, document_id: str, table: int) -> None:
        """Have a table be as it was read."""
        self._rights.edit(document_id)
        self._library.table_views.undo(document_id, table)


class PersonalTablePlans(Part):
    """Plans over tables that they see; a join is of two documents that they see."""

    def ask(self, plan: TablePlan, question: str, *, conversation: str | None = None, **more: Any) -> Answer:
        """What a plan finds, kept in a conversation of theirs."""
        self._see(plan)
        own = self._rights.conversation(conversation) if conversation else None
        answer = self._library.table_plans.ask(plan, question, conversation=own, owner=self._person, **more)
        return self._rights.discreet(answer)

    def csv(self, plan: TablePlan) -> Iterator[bytes]:
        """All the rows that a plan finds."""
        self._see(plan)
        yield from self._library.table_plans.csv(plan)

    def choices(self, plan: TablePlan, column: int, most: int = 1000) -> list[str]:
        """What the cells of a column say."""
        self._see(plan)
        return self._library.table_plans.choices(plan, column, most)

    def _see(self, plan: TablePlan) -> None:
        for document_id in (plan.document_id, plan.other):
            if document_id:
                self._rights.see(document_id)
