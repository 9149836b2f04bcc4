"""One question of the runs shown: the reference, and what each run found and answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.parts import chat_widget, formatting
from pages.parts.components import component
from pages.parts.evaluation import comparing, gold, numbers, outcomes
from pages.parts.language import _, figure, server_text
from pages.parts.state import EvaluationState
from rag_core.domain import Found, Metric, Result, Run
from rag_core.library import Library

PREVIEW_CHARS = 240


def draw(library: Library, runs: Sequence[Run], question_id: str) -> None:
    """The whole view."""
    _steps(runs, question_id)
    results = [next(iter(library.evaluation.results(run.id, [question_id])), None) for run in runs]
    question = next((result.question for result in results if result), None)
    if question is None:
        st.markdown(_("**These runs have not asked this question.**"))
        return
    st.markdown(f"## {formatting.plain(question.text)}")
    gold.reference(question, gold.titles(library.documents()))
    metrics, named = library.evaluation.metrics(), comparing.labels(runs)
    with st.container(key="evaluation_side_by_side"):
        for run, result in zip(runs, results, strict=True):
            with st.container(key=f"evaluation_side_{run.id}", gap="small"):
                st.markdown(f"**{formatting.plain(named[run.id])}**")
                _side(run, result, metrics)


def passages(result: Result) -> list[dict[str, Any]]:
    """The passages of a result as the component takes them; the first relevant one is open."""
    excerpts = [place.excerpt for place in result.question.gold if place.excerpt]
    first = next((found.rank for found in result.found if found.relevant), None)
    return [_passage(found, excerpts, opened=found.rank == first) for found in result.found]


def _passage(found: Found, excerpts: list[str], *, opened: bool) -> dict[str, Any]:
    return {
        "rank": found.rank,
        "title": found.title,
        "place": formatting.page(found.page, found.page_label),
        "score": figure(found.score, ".2f"),
        "verdict": _("holds the answer") if found.relevant else "",
        "tone": "relevant" if found.relevant else "",
        "text": found.text,
        "preview": formatting.shorten(found.text, PREVIEW_CHARS),
        "marks": gold.marks(found.text, excerpts) if found.relevant else [],
        "open": opened,
    }


def _steps(runs: Sequence[Run], question_id: str) -> None:
    """Back to the results, and on to the neighbours in the list."""
    ids = [line.question_id for line in outcomes.lines(runs)]
    place = ids.index(question_id) if question_id in ids else None
    with st.container(key="evaluation_steps", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            _("Results"), icon=":material/arrow_back:", type="tertiary", key="evaluation_back_to_results",
            on_click=EvaluationState.write, kwargs={"question": ""},
        )  # fmt: skip
        if place is None:
            return
        st.caption(_("{at} of {whole}").format(at=figure(place + 1), whole=figure(len(ids))))
        for name, label, icon, step in (
            ("previous", _("Previous"), ":material/chevron_left:", -1),
            ("next", _("Next"), ":material/chevron_right:", 1),
        ):
            there = 0 <= place + step < len(ids)
            st.button(
                label, icon=icon, type="tertiary", key=f"evaluation_{name}", disabled=not there,
                on_click=EvaluationState.write, kwargs={"question": ids[place + step] if there else ""},
            )  # fmt: skip


def _side(run: Run, result: Result | None, metrics: Sequence[Metric]) -> None:
    if result is None:
        st.caption(_("This run has not asked it."))
        return
    if result.error:
        st.markdown(f":red[:material/error:] {formatting.plain(server_text(result.error))}")
        return
    active = None
    if run.answers:
        if (correct := result.metrics.get("correct")) is not None:
            st.markdown(f":green[:material/check: {_('right')}]" if correct else f":red[:material/close: {_('wrong')}]")
        key = f"evaluation_answer_{run.id}_{result.question.id}"
        active = st.session_state.get(f"{key}_passage")
        chat_widget.draw(key, chat_widget.measured(result, active), on_open=partial(_turn_to, key), on_retry=_nothing)
    with st.expander(_("Measures"), icon=":material/straighten:", key=f"evaluation_measures_{run.id}"):
        st.caption("  \n".join(map(formatting.plain, measured(result, metrics))) or _("Nothing could be measured."))
    if result.found and not any(found.relevant for found in result.found) and result.question.gold:
        st.caption(_(":orange[:material/search_off:] None of these passages holds the answer."))
    data = {"passages": passages(result), "empty": _("No passage was found."), "active": active}
    component("evidence")(key=f"evaluation_evidence_{run.id}_{result.question.id}", data=data)
    for note in dict.fromkeys(result.notes):
        st.caption(f":material/info: {formatting.plain(server_text(note))}")


def measured(result: Result, metrics: Sequence[Metric]) -> list[str]:
    """`Hit rate 100 %`, for each metric that has a value here."""
    values = ((metric, result.metrics.get(metric.key)) for metric in metrics)
    return [
        f"{server_text(metric.label)} {numbers.value(metric, value)}" for metric, value in values if value is not None
    ]


def _turn_to(key: str) -> None:
    st.session_state[f"{key}_passage"] = st.session_state[key]["open"]


def _nothing() -> None:
    """What a run answered is not asked again here."""
