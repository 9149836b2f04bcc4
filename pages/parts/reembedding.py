"""Re-embedding the library with another model: why, how far it is, and the buttons to begin, stop and discard it."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, refreshing
from pages.parts.language import _, figure, server_text
from pages.parts.refreshing import failure, watched
from rag_core.domain import Job, Progress, TargetProfile
from rag_core.errors import LecternError
from rag_core.library import Library

KIND, DISCARD = "reembed", "discard"


def section(library: Library) -> None:
    """Nothing, unless the library is to be re-embedded, is being so, or was."""
    watched(lambda: _draw(library))


def begin(library: Library, kind: str) -> None:
    """Re-embed, go on with it, or discard what it has made."""
    library.jobs.submit(kind)


def explain(target: TargetProfile) -> str:
    """Why, as Markdown."""
    present, wanted = (f"**{formatting.plain(name)}**" for name in (target.present, target.wanted))
    if target.begun:
        return _(
            "{done} of {chunks} are embedded with {wanted}, and kept. {present} answers until all of them are."
        ).format(
            done=figure(target.done), chunks=formatting.count(target.total, "chunk"), wanted=wanted, present=present
        )
    return _(
        "The settings ask for {wanted}; this library was made with {present}, which goes on answering. "
        "Its {chunks} can be re-embedded from the stored texts while you search and "
        "chat. You can stop it at any time; it goes on from there."
    ).format(wanted=wanted, present=present, chunks=formatting.count(target.total, "chunk"))


def _draw(library: Library) -> None:
    job = library.jobs.last(KIND, DISCARD)
    working = job is not None and not job.finished
    try:
        target = None if working else library.maintenance.status().target
    except LecternError:  # it is said above, where the facts are
        target = None
    if target is None and job is None:
        return
    st.markdown(_("## Another embedding model"))
    with st.container(key="system_reembedding", gap="small"):
        if job is not None and working:
            _working(library, job)
            return
        if target is not None:
            st.markdown(explain(target))
            _buttons(library, target)
        if job is not None and job.error is not None:
            failure(job.error)
        elif job is not None and job.result is not None:
            _outcome(job, job.result)


def _buttons(library: Library, target: TargetProfile) -> None:
    with st.container(key="system_reembedding_buttons", horizontal=True, gap="small"):
        label = _("Resume") if target.begun else _("Re-embed")
        st.button(
            label, icon=":material/model_training:", type="primary", key="system_reembed",
            on_click=begin, args=(library, KIND),
        )  # fmt: skip
        if target.begun:
            tip = _("Throws away the new vectors made so far. What the library holds stays as it is.")
            st.button(
                _("Discard"), icon=":material/delete:", key="system_forget", help=tip,
                on_click=begin, args=(library, DISCARD),
            )  # fmt: skip


def _working(library: Library, job: Job) -> None:
    too_late = job.kind != KIND or job.progress.stage in ("cutting over", "done")
    line = "system_reembedding_line"
    refreshing.working(library.jobs, job, *measure(job), line=line, key="system_stop", too_late=too_late)
    st.caption(_("The model in use answers meanwhile, and you may leave this page."))


def measure(job: Job) -> tuple[float, str]:
    """How far it is, from 0 to 1 over all stages, and in words."""
    step = job.progress
    if job.kind != KIND:
        return 0.0, _("Discarding the new vectors")
    if step.stage in ("", "waiting"):
        return 0.0, _("Loading the model")
    part = min(step.done / step.total, 1.0) if step.total else 0.0
    if job.stopping:
        return 0.9 * part, _("Stopping")
    if step.stage == "embedding":
        left = f" :gray[{formatting.left(job.left_s)}]" if job.left_s is not None else ""
        return 0.9 * part, _("Embedding {done} of {chunks}{left}").format(
            done=figure(step.done), chunks=formatting.count(step.total, "chunk"), left=left
        )
    if step.stage == "writing":
        return 0.9 + 0.07 * part, _("Writing {done} of {files}").format(
            done=figure(step.done), files=formatting.count(step.total, "dump file")
        )
    return 0.97, _("Cutting over")


def _outcome(job: Job, end: Progress) -> None:
    if end.stage == "done" and end.done:
        done = _("{chunks} in {time}").format(
            chunks=formatting.count(end.done, "chunk"), time=formatting.duration(job.took_s)
        )
        st.markdown(
            _(
                ":green[:material/check_circle:] **Re-embedded** :gray[{done}; the new model answers from now on]"
            ).format(done=done)
        )
    elif end.stage == "done":
        st.markdown(f":green[:material/check_circle:] :gray[{formatting.plain(server_text(end.note))}]")
    elif end.stage == "cancelled":
        st.markdown(_(":gray[:material/stop_circle: Stopped. What was embedded is kept, also when Lectern is closed.]"))
    else:
        st.markdown(_(":gray[:material/delete: The new vectors were discarded.]"))
