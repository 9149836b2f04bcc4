"""Starting runs and watching them: a line for each with its progress, the time left, and a button to stop it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import streamlit as st

from pages.parts import formatting, models, resources
from pages.parts.evaluation import configurations
from pages.parts.language import _, figure, msgid, ngettext, server_text
from pages.parts.refreshing import failure, fragment, refreshed, working
from pages.parts.state import EvaluationState
from rag_core.domain import Configuration, Job, ModelStatus, QuestionSet, Run
from rag_core.errors import LecternError
from rag_core.jobs import Request
from rag_core.library import Library

KIND = "evaluate"
BUSY_S, IDLE_S = 0.5, 5.0
PROBLEM = "evaluation_problem"
KINDS = {False: msgid("Passages only"), True: msgid("Passages and answers")}
NOBODY = ""
ANSWERS, JUDGE = "evaluation_answers_too", "evaluation_judge"


def starter(library: Library, chosen: QuestionSet, ticked: Sequence[Configuration]) -> None:
    """What is measured, and the button that begins."""
    with st.container(key="evaluation_start", gap="small"):
        answers = st.segmented_control(
            _("What is measured"), list(KINDS), format_func=lambda answers: _(KINDS[answers]), required=True,
            default=bool(EvaluationState.parse().measured),
            key=ANSWERS, persist_state="session", label_visibility="collapsed",
        )  # fmt: skip
        EvaluationState.write(measured="answers" if answers else "")
        if answers:
            st.caption(_("Asks every question as the chat does: a second or less each by quotes, more by a model."))
            _judge(library, ticked)
        else:
            st.caption(_("Finds passages and compares them with the places given: a matter of seconds."))
        number = len(ticked)
        run = ngettext("Run {number} question", "Run {number} questions", chosen.size)
        label = run + (f" × {number}" if number > 1 else "")
        st.button(
            label, icon=":material/play_arrow:", type="primary", key="evaluation_run",
            disabled=not chosen.size or not ticked, on_click=_begin, args=(chosen.id,),
        )  # fmt: skip
        if not chosen.size:
            st.caption(_("This set has no questions yet. Open **Questions** to add some."))
        elif not ticked:
            st.caption(_("Tick what is to be tried."))
    if problem := st.session_state.pop(PROBLEM, None):
        failure(problem)


def go(library: Library, runs: Sequence[Run]) -> None:
    """Carry out runs, in turns, or go on with those that were stopped."""
    batch = uuid4().hex
    requests = [Request(run.configuration.name, {"batch": batch}, id=run.id) for run in runs]
    library.jobs.submit_all(KIND, requests)


def queued(library: Library) -> dict[str, Job]:
    """The jobs of runs that are under way or wait, by the runs' ids."""
    return {job.id: job for job in library.jobs.all(KIND) if not job.finished}


def progress(library: Library) -> None:
    """The lines of what runs; they refresh by themselves, and the page with them when a run has ended."""
    seen = _seen(library)
    fragment(refreshed, BUSY_S if library.jobs.busy(KIND) else IDLE_S)(
        lambda: _lines(library), lambda: seen != _seen(library)
    )


def measure(run: Run, job: Job) -> tuple[float, str]:
    """How far a run is, from 0 to 1, and in words."""
    share, now = run.done / run.total if run.total else 0.0, job.progress
    if job.stopping:
        return share, _("stopping")
    if job.state == "waiting":
        of = _("waiting, {done} of {whole} done").format(done=figure(run.done), whole=figure(run.total))
        return share, of if run.done else _("waiting")
    left = f", {formatting.left(job.left_s)}" if job.left_s is not None else ""
    if now.stage == "preparing":
        of = _of(now.done, formatting.count(now.total, "document"))
        return share, f"{_('embedding other chunks')}: {of}{left}"
    if not now.done:
        return 0.0, _("beginning with {questions}").format(questions=formatting.count(now.total, "question"))
    return now.done / now.total, _of(now.done, formatting.count(now.total, "question")) + left


def _of(done: int, whole: str) -> str:
    return _("{done} of {whole}").format(done=figure(done), whole=whole)


def resumed_words(runs: Sequence[Run]) -> str:
    """What is said of runs that an earlier process left."""
    if not runs:
        return ""
    under_way = sum(run.state in ("waiting", "running") for run in runs)
    begun = ngettext(
        "Lectern ended while {number} run was under way.",
        "Lectern ended while {number} runs were under way.",
        len(runs),
    )
    left = _("Resumed: {left} to go.").format(left=under_way)
    return f"{begun} {left if under_way else _('Resumed and ended.')}"


def _judge(library: Library, ticked: Sequence[Configuration]) -> None:
    """The model that judges whether sentences are supported, where there is one; and who reads what is said."""
    ready = {item.id: item for item in library.language_models.statuses() if item.ready}
    able = {key: item for key, item in ready.items() if key != "extractive"}
    judge = NOBODY
    if able:
        names = {
            NOBODY: _("by comparing words, numbers and meaning"),
            **{key: server_text(item.label) for key, item in able.items()},
        }
        judge = st.selectbox(
            _("Whether the passages support each sentence is judged"), list(names), format_func=names.__getitem__,
            key=JUDGE,
        )  # fmt: skip
    for status in _remote(library, ticked, ready, judge):
        models.remote_line(status, msgid("the questions and the passages found for them"))


def _remote(
    library: Library, ticked: Sequence[Configuration], ready: dict[str, ModelStatus], judge: str
) -> list[ModelStatus]:
    own = next((field.value for field in library.evaluation.fields() if field.key == "generation.model"), "")
    used = {str(configuration.changes.get("generation.model", own)) for configuration in ticked} | {judge}
    return [ready[name] for name in sorted(used) if name in ready and ready[name].remote]


def _begin(set_id: str) -> None:
    """Begin with what is chosen at this moment: it may have been chosen since the page was drawn."""
    library, state = resources.library(), st.session_state
    answers = bool(state.get(ANSWERS))
    judge = state.get(JUDGE, NOBODY) if answers else NOBODY
    try:
        runs = library.evaluation.begin(set_id, configurations.ticked(library), answers=answers, judge=judge)
    except LecternError as error:
        st.session_state[PROBLEM] = error
        return
    go(library, runs)
    EvaluationState.write(runs=",".join(run.id for run in runs), question="")


def _seen(library: Library) -> tuple[bool, int]:
    return library.jobs.busy(KIND), library.jobs.ended(KIND)


def _lines(library: Library) -> None:
    jobs = library.jobs.all(KIND)
    if jobs and jobs[-1].error is not None:
        failure(jobs[-1].error)
    waiting = queued(library)
    resumed = {job.id for job in jobs if job.resumed}
    if not waiting and not resumed:
        return
    try:
        runs = list(reversed(library.evaluation.runs()))
    except LecternError as error:
        failure(error)
        return
    with st.container(key="evaluation_lines", gap="xsmall"):
        if words := resumed_words([run for run in runs if run.id in resumed]):
            st.caption(f":material/history: {words}")
        for run in runs:
            if run.id in waiting and (run.state in ("waiting", "running") or run.done < run.total):
                _line(library, run, waiting[run.id])


def _line(library: Library, run: Run, job: Job) -> None:
    share, text = measure(run, job)
    name = formatting.plain(formatting.shorten(run.configuration.name, 60))
    working(
        library.jobs, job, min(share, 1.0), f"{name}: :gray[{text}]", line=f"evaluation_line_{run.id}",
        key=f"evaluation_cancel_{run.id}", label=_("Cancel"), icon=":material/close:",
    )  # fmt: skip
