"""What takes a moment to compute is kept until a run or the library changes: comparisons, charts, results in brief.

`stamp` is whatever tells the present state from another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import resources
from pages.parts.language import cached
from rag_core.domain import Difference, Drawing, Outcome, Question, Result, RowProblem, Run

Stamp = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """A result in few words. `rank` is that of the first relevant passage; `known` says whether gold tells it."""

    question_id: str
    question: str
    answerable: bool
    known: bool
    rank: int | None
    correct: float | None
    outcome: Outcome
    error: str

    @property
    def score(self) -> float | None:
        """Better is more: whether the answer is right, else how high the first relevant passage stands."""
        if self.error:
            return None
        if self.correct is not None:
            return self.correct
        return (1 / self.rank if self.rank else 0.0) if self.known else None


def stamp_of(runs: Sequence[Run]) -> Stamp:
    """The state of some runs."""
    return tuple((run.id, run.state, run.done) for run in runs)


@cached("Comparing", max_entries=24)
def differences(run_a: str, run_b: str, stamp: Stamp) -> tuple[Difference, ...]:
    """What run B does better or worse than run A."""
    return resources.library().evaluation.compare(run_a, run_b)


@cached("Drawing", max_entries=24)
def drawings(run_ids: tuple[str, ...], stamp: Stamp) -> tuple[Drawing, ...]:
    """The charts of some runs."""
    return resources.library().evaluation.drawings(run_ids)


@st.cache_data(show_spinner=False, max_entries=12)
def briefs(run_id: str, stamp: Stamp) -> list[Brief]:
    """Every result of a run in brief."""
    return [brief(result) for result in resources.library().evaluation.results(run_id, passages=False)]


@st.cache_data(show_spinner=False, max_entries=12)
def problems(set_id: str, stamp: Stamp) -> tuple[RowProblem, ...]:
    """Which places of a set's questions are not in the library."""
    evaluation = resources.library().evaluation
    return evaluation.check(evaluation.questions(set_id))


def brief(result: Result) -> Brief:
    """A result in brief."""
    question: Question = result.question
    return Brief(
        question_id=question.id, question=question.text, answerable=question.answerable,
        known=any(found.relevant is not None for found in result.found) or (bool(question.gold) and not result.found),
        rank=next((found.rank for found in result.found if found.relevant), None),
        correct=result.metrics.get("correct"), outcome=result.outcome, error=result.error,
    )  # fmt: skip
