"""All runs of a question set: which are looked at, which are gone on with, which are deleted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

import streamlit as st

from pages.parts import formatting, resources, table
from pages.parts.evaluation import dialogs, numbers, running
from pages.parts.evaluation.running import KINDS
from pages.parts.language import _, dialog, figure, msgid, server_text
from pages.parts.state import EvaluationState
from rag_core.domain import Metric, Run
from rag_core.library import Library

TABLE = "evaluation_history"
STATES = {
    "running": msgid("Under way"),
    "done": msgid("Done"),
    "cancelled": msgid("Stopped"),
    "failed": msgid("Failed"),
}
HEADLINES = ("correct", "context_recall", "hit_rate")
Cell = str | datetime


def section(library: Library, runs: Sequence[Run], shown: Sequence[Run]) -> None:
    """The table. What is ticked is shown above, side by side."""
    st.markdown(_("## Runs of this set"))
    metrics, waiting = {metric.key: metric for metric in library.evaluation.metrics()}, running.queued(library)
    rows = [row(run, metrics, waiting) for run in runs]
    if not any(cells["resume"] for cells in rows):
        rows = [{name: cell for name, cell in cells.items() if name != "resume"} for cells in rows]
    ticked = [number for number, run in enumerate(runs) if run in shown]
    if (st.session_state.get(TABLE) or {}).get("selection", {}).get("rows") != ticked:
        st.session_state[TABLE] = {"selection": {"rows": ticked, "columns": [], "cells": []}}
    st.dataframe(
        {name: [cells[name] for cells in rows] for name in rows[0]}, hide_index=True, key=TABLE, row_height=40,
        height="content" if len(rows) <= 10 else "auto", alt=_("Runs of this question set"),
        on_select=lambda: _tick(runs), selection_mode="multi-row",
        column_config={
            _("Configuration"): table.wide(_("Configuration"), 170),
            _("Begun"): st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm"),
            "resume": table.act("evaluation_resume", lambda place: _resume(runs[place])),
            "delete": table.act("evaluation_delete", lambda place: _ask(runs[place])),
        },
    )  # fmt: skip
    kind, wanted = dialogs.wanted()
    if run := next((item for item in runs if kind == "delete run" and item.id == wanted), None):
        _confirm(library, run)


def row(run: Run, metrics: dict[str, Metric], waiting: Collection[str]) -> dict[str, Cell]:
    """A run's line; `waiting` are those that are under way or will be."""
    left = run.state in ("waiting", "running")
    state = "running" if left and run.id in waiting else "cancelled" if left else run.state
    key = next((key for key in HEADLINES if key in run.metrics and key in metrics), None)
    some = _("{done} of {whole}").format(done=figure(run.done), whole=figure(run.total))
    asked = figure(run.done) if run.done == run.total else some
    of = "" if run.state == "done" else f", {_('of those asked')}"
    return {
        _("Configuration"): table.text(run.configuration.name),
        _("What"): _(KINDS[run.answers]),
        _("Begun"): run.created_at.astimezone().replace(tzinfo=None),
        # The line above counts a run under way, again and again; the table is drawn once.
        _("Asked"): _("of {number}").format(number=figure(run.total)) if state == "running" else asked,
        _("Result"): f"{server_text(metrics[key].label)} {numbers.value(metrics[key], run.metrics[key].mean)}{of}"
        if key
        else "",
        _("State"): f"{_(STATES[state])}: {table.text(server_text(run.error))}" if run.error else _(STATES[state]),
        "resume": ":material/replay:" if state in ("cancelled", "failed") else "",
        "delete": ":material/delete:",
    }


def _tick(runs: Sequence[Run]) -> None:
    ticked = sorted(st.session_state[TABLE]["selection"]["rows"], reverse=True)
    # The older one first: it is what the others are compared with.
    EvaluationState.write(runs=",".join(runs[number].id for number in ticked), question="")


def _resume(run: Run) -> None:
    library = resources.library()
    running.go(library, [library.evaluation.run(run.id)])


def _ask(run: Run) -> None:
    dialogs.want("delete run", run.id)


@dialog("Delete this run?", until_closed=dialogs.WANTED, icon=":material/delete:")
def _confirm(library: Library, run: Run) -> None:
    st.markdown(f"**{formatting.plain(run.configuration.name)}**, {formatting.day(run.created_at)}")
    st.caption(_("Its results are deleted. The question set stays."))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Keep it"), key="evaluation_keep_run"):
            dialogs.close()
        if st.button(_("Delete"), type="primary", key="evaluation_delete_run"):
            library.jobs.cancel(run.id)
            library.evaluation.delete_run(run.id)
            EvaluationState.write(runs=",".join(name for name in EvaluationState.parse().run_ids if name != run.id))
            dialogs.close()
