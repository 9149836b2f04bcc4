"""All runs of a question set: which are looked at, which are gone on with, which are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import resources, words
from pages.parts.evaluation import address, grid, numbers, running
from pages.parts.evaluation.grid import Tone
from pages.parts.evaluation.running import KINDS
from rag_core.domain import Metric, Run
from rag_core.library import Library

TABLE, PAGE = "evaluation_history", "evaluation_page_of_history"
STATES: dict[str, tuple[str, Tone]] = {
    "running": ("Under way", ""),
    "done": ("Done", "good"),
    "cancelled": ("Stopped", ""),
    "failed": ("Failed", "bad"),
}
HEADLINES = ("correct", "context_recall", "hit_rate")


def section(library: Library, runs: Sequence[Run], shown: Sequence[Run]) -> None:
    """The table. What is ticked is shown above, side by side."""
    st.markdown("## Runs of this set")
    metrics = {metric.key: metric for metric in library.evaluation.metrics()}
    columns = [grid.column("Configuration", title=True), grid.column("Begun"), grid.column("Asked", number=True)]
    columns += [grid.column("Result", number=True), grid.column("State")]
    ids = [run.id for run in shown]
    rows = [row(run, metrics, ticked=run.id in ids) for run in grid.page_of(PAGE, runs)]
    grid.draw(
        TABLE, "Runs of this question set", columns, rows, ticks=True, on_tick=lambda: _tick(runs, ids), on_act=_act
    )
    grid.pager(PAGE, runs)
    wanted = st.session_state.pop("evaluation_deleting", None)
    if run := next((item for item in runs if item.id == wanted), None):
        _confirm(library, run)


def row(run: Run, metrics: dict[str, Metric], *, ticked: bool) -> dict[str, Any]:
    """A run's line."""
    queued = run.state in ("waiting", "running") and run.id in running.queued(resources.library())
    stalled = run.state in ("waiting", "running") and not queued
    label, tone = STATES["cancelled" if stalled else "running" if queued else run.state]
    key = next((key for key in HEADLINES if key in run.metrics and key in metrics), None)
    asked = f"{run.done:,}" if run.done == run.total else f"{run.done:,} of {run.total:,}"
    if queued:  # the line above counts, again and again; the table is drawn once
        asked = f"of {run.total:,}"
    whole = run.state == "done"
    result = grid.cell("")
    if key:
        label_of = metrics[key].label if whole else f"{metrics[key].label}, of those asked"
        result = grid.cell(numbers.value(metrics[key], run.metrics[key].mean), label_of, "" if whole else "dim")
    cells = [
        grid.cell(run.configuration.name, KINDS[run.answers], "strong"),
        grid.cell(words.day(run.created_at), tone="dim"),
        grid.cell(asked),
        result,
        grid.cell(label, run.error, tone, badge=True),
    ]
    acts = [grid.act("delete", "Delete", "bin")]
    if stalled or run.state in ("cancelled", "failed"):
        acts.insert(0, grid.act("go", "Resume", "retry", "Resume"))
    name = f"{run.configuration.name}, {words.day(run.created_at)}"
    return grid.row(run.id, name, cells, acts, ticked=ticked)


def _tick(runs: Sequence[Run], shown: Sequence[str]) -> None:
    ticked = st.session_state[TABLE]["tick"]
    chosen = set(shown) ^ {ticked}
    # The older one first: it is what the others are compared with.
    address.show_runs([run.id for run in reversed(runs) if run.id in chosen])


def _act() -> None:
    act = st.session_state[TABLE]["act"]
    if act["name"] == "go":
        library = resources.library()
        running.go(library, [library.evaluation.run(act["id"])])
    else:
        st.session_state["evaluation_deleting"] = act["id"]


@st.dialog("Delete this run?", icon=":material/delete:")
def _confirm(library: Library, run: Run) -> None:
    st.markdown(f"**{words.plain(run.configuration.name)}**, {words.day(run.created_at)}")
    st.caption("Its results are deleted. The question set stays.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep it", key="evaluation_keep_run"):
            st.rerun()
        if st.button("Delete", type="primary", key="evaluation_delete_run"):
            library.jobs.cancel(run.id)
            library.evaluation.delete_run(run.id)
            address.show_runs([run_id for run_id in address.runs() if run_id != run.id])
            st.rerun()
