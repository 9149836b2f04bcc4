"""Whole tables of the documents that a person sees."""

from __future__ import annotations

from typing import Any

from rag_core.domain import Answer, TablePlan
from rag_core.personal.rights import Offered, Part, Rights


class PersonalTableViews(Part):
    """Tables looked at, and how they are read set right."""

    service = "table_views"
    are_coming = Offered(Rights.seen)
    names = Offered(Rights.see)
    view = Offered(Rights.see)
    rows = Offered(Rights.see)
    readings = Offered(Rights.see)
    correct = Offered(Rights.edit)
    undo = Offered(Rights.edit)


class PersonalTablePlans(Part):
    """Plans over tables that they see; a join is of two documents that they see."""

    service = "table_plans"
    csv = Offered(Rights.plan)
    choices = Offered(Rights.plan)

    def ask(self, plan: TablePlan, question: str, *, conversation: str | None = None, **more: Any) -> Answer:
        """What a plan finds, kept in a conversation of theirs."""
        self._rights.plan(plan)
        own = self._rights.conversation(conversation) if conversation else None
        answer = self._library.table_plans.ask(plan, question, conversation=own, owner=self._person, **more)
        return self._rights.discreet(answer)
