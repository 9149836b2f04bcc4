"""Plans over whole tables, run as they are: one that a person changed, all the rows that one found, other values."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from rag_core.answering.question import Question, check_question
from rag_core.answering.table_answers import TableFinding, table_of, written_of
from rag_core.answering.written import answer_of
from rag_core.domain import Answer, Scope, TablePlan
from rag_core.errors import InvalidQuestion
from rag_core.evaluation.files.cells import defused
from rag_core.models.registry import EXTRACTIVE
from rag_core.runtime.precedence import PRECEDENCE
from rag_core.services.preferences import Preferences
from rag_core.services.questions import QuestionService
from rag_core.storage import Storage
from rag_core.tables.answers import plan_of
from rag_core.tables.plans import rows_left, run

_AT_ONCE = 1000  # rows of CSV that are made together
_FIGURES = re.compile(r"[+\-]?[\d\s.,:/()'’%€$£¥-]*")


class TablePlans:
    """Runs plans over the tables of one library. Thread-safe. All raise KeyError where there is no such document, and
    InvalidQuestion where the plan does not fit its tables."""

    def __init__(self, storage: Storage, preferences: Preferences, questions: QuestionService) -> None:
        self._storage = storage
        self._preferences = preferences
        self._questions = questions

    def ask(
        self, plan: TablePlan, question: str, *, conversation: str | None = None, query: str = "", begun_by: str = "",
        owner: str = "",
    ) -> Answer:  # fmt: skip
        """What a plan finds, kept as the answer to a question that says so, in a conversation; see `Library.stream`.

        query: the same in other words, which later questions of the conversation follow, "" for the question. owner:
        the person whose conversation it is."""
        settings = self._preferences.settings
        question = check_question(question, settings.answering.max_question_chars)
        query = check_question(query, settings.answering.max_question_chars) if query.strip() else ""
        asked = Question(question, (question,), EXTRACTIVE, settings)
        with PRECEDENCE.question():
            written = written_of(self._run(plan), self._questions.library.contents(Scope()))
        if written is None:
            raise InvalidQuestion("The rows cannot be shown now.", help="Ask again once the document is ready.")
        conversation, message = self._storage.conversations.ask(conversation, question, begun_by=begun_by, owner=owner)
        answer = answer_of(asked, written, {}, stopped=False)
        trace = replace(answer.trace, query=query)
        answer = replace(answer, conversation=conversation, message_id=message, trace=trace)
        self._storage.conversations.answer(message, answer)
        return answer

    def csv(self, plan: TablePlan) -> Iterator[bytes]:
        """All the rows that a plan finds, with every column, as CSV in UTF-8 that spreadsheets open as it is.

        A cell that they would take for a formula, and that is no number, begins with an apostrophe."""
        found = self._run(plan)
        rows = iter(found.result.rows.tolist())
        heads = [column.head for column in found.table.columns]
        cells = ([found.table.text(row, place) for place in range(len(heads))] for row in rows)
        yield b"\xef\xbb\xbf"
        lines = chain([heads], cells)
        while some := list(islice(lines, _AT_ONCE)):
            text = io.StringIO(newline="")
            csv.writer(text).writerows([_inert(cell) for cell in line] for line in some)
            yield text.getvalue().encode()

    def choices(self, plan: TablePlan, column: int, most: int = 1000) -> list[str]:
        """What the cells of a column of the plan's table say, each once, at most so many."""
        table = table_of(plan, self._questions.library.contents(Scope()))[-1]
        if not 0 <= column < len(table.columns):
            raise InvalidQuestion("The table has no such column.")
        return [text for text in table.columns[column].texts[:most] if text.strip()]

    def _run(self, plan: TablePlan) -> TableFinding:
        document, other, table = table_of(plan, self._questions.library.contents(Scope()))
        try:
            asked = plan_of(plan, table)
        except ValueError as error:
            raise InvalidQuestion("The table cannot be asked that.", help=str(error)) from error
        result = run(asked, table, rows_left(table, asked.conditions))
        if result is None:
            raise InvalidQuestion("Nothing fits all of this.", help="Leave a condition out, or choose another value.")
        return TableFinding(document, plan.table, table, asked, result, other)


def _inert(cell: str) -> str:
    """A cell that no program runs: numbers, days and telephone numbers with a sign are left as they are."""
    return cell if _FIGURES.fullmatch(cell) else defused(cell)
