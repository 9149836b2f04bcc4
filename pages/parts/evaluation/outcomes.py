"""The questions of the runs shown, each with how it went: to be filtered, sorted and opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts import table
from pages.parts.evaluation import comparing, looked_up
from pages.parts.evaluation.looked_up import Brief
from pages.parts.language import _, figure, msgid
from pages.parts.state import EvaluationState
from rag_core.domain import Outcome, Run

FILTERS = {
    "all": msgid("All"),
    "better": msgid("Better"),
    "worse": msgid("Worse"),
    "missed": msgid("Not found or wrong"),
    "failed": msgid("Failed"),
}

SAID: dict[Outcome, str] = {
    "answered": msgid("answered"), "perhaps": msgid("perhaps"), "not found": msgid("not found"),
}  # fmt: skip


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
    st.markdown(_("## Questions"))
    counts = {name: sum(line.is_in(name) for line in found) for name in FILTERS}
    chosen = st.segmented_control(
        _("Which questions"), [name for name in FILTERS if counts[name] or name == "all"], default="all", required=True,
        format_func=lambda name: f"{_(FILTERS[name])} {figure(counts[name])}", key="evaluation_which",
        label_visibility="collapsed",
    )  # fmt: skip
    shown = [line for line in found if line.is_in(chosen or "all")]
    columns = {str(place): [in_words(line.briefs[place]) for line in shown] for place in range(len(runs))}
    named = comparing.labels(runs)
    texts = [table.text(line.question) for line in shown]
    table.draw(
        "evaluation_results", _("Questions of the runs"),
        {"open": [":material/arrow_forward:"] * len(shown), _("Question"): texts, **columns},
        {
            "open": table.act("evaluation_open", lambda row: EvaluationState.write(question=shown[row].question_id)),
            _("Question"): table.wide(_("Question"), 190),
            **{str(place): table.wide(table.text(named[run.id]), 120) for place, run in enumerate(runs)},
        },
    )  # fmt: skip


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


def in_words(brief: Brief | None) -> str:
    """How a question went in one run: sorted by these words, what went well comes first."""
    if brief is None:
        return _("not asked")
    if brief.error:
        return _("✗ failed")
    lost = _("passage not found") if brief.known else ""
    where = _("passage {rank}").format(rank=f"{brief.rank:>2}") if brief.rank else lost
    if brief.correct is None:
        if not where:
            return _("place not known") if brief.answerable else _("has no answer")
        return f"✓ {where}" if brief.rank else f"✗ {where}"
    right = brief.correct >= 0.5
    wrong = (
        _("✗ wrong") if brief.outcome == "answered" else _("✗ said “{outcome}”").format(outcome=_(SAID[brief.outcome]))
    )
    said = _("✓ right") if right else wrong
    return f"{said}, {where}" if where else said
