"""Follow-ups of the last answer's plan over a table: "and in Bern?", "sort them by date", "what is their average?"."""

from __future__ import annotations

from dataclasses import replace

from rag_core.answering.conversation import is_follow_up, points_back
from rag_core.answering.encoding import Encode
from rag_core.answering.question import Question, Search
from rag_core.answering.strategies.base import Strategy
from rag_core.answering.streaming import Progress
from rag_core.answering.table_answers import TableFinding, scene_before, table_of, written_of
from rag_core.answering.written import Written
from rag_core.domain import Retrieval, TablePlan, Trace
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.contents import Contents
from rag_core.tables.answers import plan_of
from rag_core.tables.following import asked_of_others, asked_of_them, is_cut_short, shown_otherwise
from rag_core.tables.plans import rows_left, run
from rag_core.tables.question_words import asks_whether
from rag_core.tables.wording import in_words
from rag_core.tables.words import Words

_MOST_CHARS = 80  # of a question that says no more than what is other


class ChangedPlan(Strategy):
    """Answers with the last answer's plan, of other rows, in another order, or again, or asks something else of the
    rows that it found. Thread-safe."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def write(self, question: Question, search: Search, progress: Progress) -> Written | None:
        """None where the last answer is of no table, or the question asks for something else. Raises
        StoreUnavailable."""
        answers = (message.answer for message in reversed(question.history))
        last = next((one for one in answers if one is not None and not one.abstained), None)
        if last is None or last.table is None or question.contents is None or len(question.text) > _MOST_CHARS:
            return None
        found = self._found(last.table.plan, question.text, question.contents)
        if found is None or (written := written_of(found, question.contents, _asked(question.text))) is None:
            return None
        progress.lap("tables")
        # What is asked next follows the plan: the words of this question do not say all of it.
        return replace(written, retrieval=Retrieval((), Trace(query=in_words(found.plan, found.table))))

    def _found(self, kept: TablePlan, text: str, contents: Contents) -> TableFinding | None:
        """What the plan finds as it is asked now; None where it is not, or its table is not there any more."""
        try:
            document, other, table = table_of(kept, contents)
            last, words = plan_of(kept, table), Words(text)
        except (KeyError, InvalidQuestion, ValueError):
            return None
        plan = shown_otherwise(words, last, table)
        if plan is None and (points_back(text) or is_cut_short(words, last, table)):
            plan = asked_of_them(scene_before(text, table, document, self._encode), last)
        if plan is None and is_follow_up(text):
            plan = asked_of_others(words, last, table)
        result = plan and run(plan, table, rows_left(table, plan.conditions))
        return TableFinding(document, kept.table, table, plan, result, other) if plan and result else None


def _asked(text: str) -> Words | None:
    """The words of a question that is answered by yes or no; others ask for less than the plan says."""
    return Words(text) if asks_whether(text) else None
