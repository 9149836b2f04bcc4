"""The questions of the runs shown, each with how it went: to be filtered, sorted and opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts import words
from pages.parts.evaluation import address, comparing, grid, looked_up, numbers
from pages.parts.evaluation.looked_up import Brief
from rag_core.domain import Run

FILTERS = {"all": "All", "better": "Better", "worse": "Worse", "missed": "Not found or wrong", "failed": "Failed"}
TABLE, PAGE, ORDER = "evaluation_results", "evaluation_page_of_results", "evaluation_results_order"


@dataclass(frozen=True, slots=True)
class Line:
    """A question with what each run made of it, None where a run has not asked it."""

    question_id: str
    question: str
    briefs: tuple[Brief | None, ...]

    @property
    def change(self) -> float:
        """By how much the last of two runs does better."""
        scores = [brief.score if brief else None for brief in self.briefs]
        if len(scores) != 2 or scores[0] is None or scores[1] is None:
            return 0.0
        return scores[1] - scores[0]

    def is_in(self, name: str) -> bool:
        """Whether it is one of a filter's."""
        if name == "failed":
            return any(brief is not None and brief.error for brief in self.briefs)
        if name == "missed":
            return any(brief is not None and brief.score == 0 for brief in self.briefs)
        return {"better": self.change > 0, "worse": self.change < 0}.get(name, True)


def section(runs: Sequence[Run]) -> None:
    """The filters and the table."""
    found = lines(runs)
    if not found:
        return
    st.markdown("## Questions")
    counts = {name: sum(line.is_in(name) for line in found) for name in FILTERS}
    chosen = st.segmented_control(
        "Which questions", [name for name in FILTERS if counts[name] or name == "all"], default="all", required=True,
        format_func=lambda name: f"{FILTERS[name]} {counts[name]:,}", key="evaluation_which",
        label_visibility="collapsed",
    )  # fmt: skip
    shown = ordered([line for line in found if line.is_in(chosen or "all")], st.session_state.get(ORDER))
    named = comparing.labels(runs)
    columns = [grid.column("Question", "question", title=True, sort=True)]
    columns += [grid.column(named[run.id], str(place), number=True, sort=True) for place, run in enumerate(runs)]
    rows = [_row(line) for line in grid.page_of(PAGE, shown)]
    grid.draw(
        TABLE, "Questions of the runs", columns, rows, sort=st.session_state.get(ORDER), on_open=_open, on_sort=_sort
    )
    grid.pager(PAGE, shown)


def lines(runs: Sequence[Run]) -> list[Line]:
    """Every question that any of the runs has asked, in the order of the first that has."""
    by_run = [
        {brief.question_id: brief for brief in looked_up.briefs(run.id, looked_up.stamp_of([run]))} for run in runs
    ]
    texts = {brief.question_id: brief.question for briefs in by_run for brief in briefs.values()}
    return [
        Line(question_id, text, tuple(briefs.get(question_id) for briefs in by_run))
        for question_id, text in texts.items()
    ]


def ordered(found: Sequence[Line], order: tuple[str, bool] | None) -> list[Line]:
    """Sorted by the question, or by how well a run did: `("question", downwards)`, `("0", downwards)`."""
    if order is None:
        return list(found)
    key, down = order
    if key == "question":
        return sorted(found, key=lambda line: line.question.casefold(), reverse=down)
    place = int(key)

    def score(line: Line) -> float:
        brief = line.briefs[place] if place < len(line.briefs) else None
        return -1.0 if brief is None or brief.score is None else brief.score

    return sorted(found, key=score, reverse=down)


def in_words(brief: Brief | None) -> dict[str, Any]:
    """How a question went in one run, as a cell."""
    if brief is None:
        return grid.cell("not asked", tone="dim")
    if brief.error:
        return grid.cell("failed", tone="bad")
    where = f"passage {numbers.ordinal(brief.rank)}" if brief.rank else "passage not found" if brief.known else ""
    if brief.correct is None:
        if not where:
            return grid.cell("place not known" if brief.answerable else "has no answer", tone="dim")
        return grid.cell(where.removeprefix("passage "), tone="" if brief.rank else "bad")
    right = brief.correct >= 0.5
    said = "right" if right else "said “not found”" if brief.abstained else "wrong"
    return grid.cell(said, where, "good" if right else "bad")


def _row(line: Line) -> dict[str, Any]:
    cells = [grid.cell(line.question, opens=True), *map(in_words, line.briefs)]
    return grid.row(line.question_id, words.shorten(line.question, 60), cells)


def _open() -> None:
    address.open_question(st.session_state[TABLE]["open"])


def _sort() -> None:
    grid.turn_order(ORDER, st.session_state[TABLE]["sort"])
