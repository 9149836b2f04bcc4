"""The runs that are looked at: what follows from them, their numbers, charts and questions."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import formatting, resources
from pages.parts.evaluation import applying, charting, comparing, dialogs, files, looked_up, outcomes, running
from pages.parts.evaluation.running import KINDS
from pages.parts.language import _, figure, ngettext, server_text, within
from pages.parts.state import EvaluationState
from rag_core.domain import Difference, Run
from rag_core.library import Library

MOST = 6


def chosen(runs: Sequence[Run]) -> list[Run]:
    """The runs in the address, or those begun together last; the oldest first, at most six."""
    wanted = EvaluationState.parse().run_ids
    found = [run for run in reversed(runs) if run.id in wanted]
    if not found and runs:
        found = [run for run in reversed(runs) if run.group == runs[0].group]
    return found[-MOST:]


def ready(shown: Sequence[Run]) -> list[Run]:
    """The runs that have a result, once none of them is under way."""
    queued = running.queued(resources.library())
    return [] if any(run.id in queued for run in shown) else [run for run in shown if run.done]


def section(library: Library, shown: Sequence[Run]) -> None:
    """Everything about some runs; nothing while they are under way."""
    found = ready(shown)
    if found:
        _draw(library, found)


def _draw(library: Library, runs: Sequence[Run]) -> None:
    with st.container(key="evaluation_result_heading", horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(_("## Result"))
        files.runs(library, runs)
    st.caption(" · ".join(facts(runs)))
    if without := sum(not brief.answerable for brief in looked_up.briefs(runs[0].id, looked_up.stamp_of(runs[:1]))):
        st.caption(ngettext(
            "{number} question has no answer in the library and no place: only “not found” is measured of them.",
            "{number} questions have no answer in the library and no place: only “not found” is measured of them.",
            without,
        ))  # fmt: skip
    _notes(runs)
    pair = comparing.pair(runs)
    differences = comparing.compared(*pair) if pair else ()
    if pair:
        comparing.verdict(*pair, differences)
    comparing.tables(runs, library.evaluation.metrics(), differences if len(runs) == 2 else ())
    comparing.details(differences)
    _apply(library, runs, pair, differences)
    charting.section(runs)
    outcomes.section(runs)


def facts(runs: Sequence[Run]) -> list[str]:
    """What was asked, how and when."""
    asked = sorted({run.done for run in runs})
    ends = {"least": figure(asked[0]), "most": figure(asked[-1])}
    several = _("{least} to {most} questions").format(**ends)
    count = formatting.count(asked[-1], "question") if len(asked) == 1 else several
    kinds = _(" and ").join(dict.fromkeys(within(_(KINDS[run.answers])) for run in runs))
    named = dict.fromkeys(run.judge for run in runs)
    judges = [formatting.plain(_("judged by {name}").format(name=name)) for name in named if name]
    return [count, kinds, *judges, formatting.day(max(run.created_at for run in runs))]


def _notes(runs: Sequence[Run]) -> None:
    for run in runs:
        name = formatting.plain(run.configuration.name)
        if run.state == "cancelled":
            st.caption(
                _(":material/stop_circle: “{name}” was stopped after {done} of {total} questions.").format(
                    name=name, done=figure(run.done), total=figure(run.total)
                )
            )
        elif run.state == "failed":
            st.caption(f":red[:material/error:] “{name}”: {formatting.plain(server_text(run.error))}")
        for note in run.notes:
            st.caption(f":material/info: “{name}”: {formatting.plain(server_text(note))}")


def _apply(library: Library, runs: Sequence[Run], pair: tuple[Run, Run] | None, found: Sequence[Difference]) -> None:
    """A button for each configuration that could be the library's; the better one stands out, and one that is worse
    has none."""
    own = {field.key: field.value for field in library.evaluation.fields()}
    worse = pair[1].id if pair and comparing.is_worse(found) else None
    able = [run for run in runs if run.id != worse and applying.differs(run.configuration, own)]
    named = {run.configuration.name: run for run in able}
    best = pair[1].id if pair and comparing.is_better(found) else None
    with st.container(key="evaluation_apply", horizontal=True, gap="small"):
        for number, (name, run) in enumerate(named.items()):
            st.button(
                _("Make “{name}” the library's").format(name=formatting.plain(formatting.shorten(name, 40))),
                icon=":material/check:",
                type="primary" if run.id == best else "secondary",
                key=f"evaluation_apply_{number}",
                on_click=dialogs.want,
                args=("apply", run.configuration),
            )
    kind, configuration = dialogs.wanted()
    if kind == "apply":
        applying.form(library, configuration)
    if pair and pair[1].configuration.changes and worse:
        st.caption(
            formatting.plain(
                _("Nothing measured says that “{name}” is better.").format(name=pair[1].configuration.name)
            )
        )
    applying.section(library)
