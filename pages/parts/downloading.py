"""Getting a model: those worth having, any other by its name, how far a download is, and those that stopped."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, owning
from pages.parts.language import _, msgid, server_text
from pages.parts.refreshing import failure, watched, working
from rag_core.domain import Job, SuggestedModel, UnfinishedDownload
from rag_core.library import Library

NAMES = msgid(
    "`owner/repository`, `owner/repository:Q4_K_M`, `owner/repository/file.gguf`, or an address of a .gguf file."
)


def section(library: Library) -> None:
    """Models to choose from, a line for others, and the download under way."""
    st.caption(_("A download asks the hub of models for the file. Nothing about your documents is sent."))
    watched(lambda: _draw(library))


def begin(library: Library, wanted: str, sha256: str = "") -> None:
    """Begin a download, unless one is under way."""
    library.jobs.submit("download", wanted, wanted=wanted, sha256=sha256, owner=owning.is_owner())


def _draw(library: Library) -> None:
    job = library.jobs.last("download")
    busy = job is not None and not job.finished
    with st.container(key="models_get", gap="small"):
        if job is not None and busy:
            _working(library, job)
        elif job is not None:
            _outcome(job)
            clear = library.jobs.clear
            st.button(_("Dismiss"), key="models_dismiss", type="tertiary", on_click=clear, args=("download",))
        for number, download in enumerate([] if busy else library.language_models.unfinished()):
            _unfinished(library, download, number)
        with st.container(key="models_suggested", gap="small"):
            for number, model in enumerate(library.language_models.suggestions()):
                _suggestion(library, model, number, busy=busy)
        _other(library, busy=busy)


def _working(library: Library, job: Job) -> None:
    working(library.jobs, job, *measure(job), line="models_download_line", key="models_stop")
    st.caption(_("You may leave this page meanwhile. What was fetched is kept when it stops."))


def measure(job: Job) -> tuple[float, str]:
    """How far a download is, from 0 to 1, and in words."""
    step = job.progress
    if job.stopping:
        return 0.0, _("Stopping")
    if step.stage in ("", "waiting", "finding"):
        return 0.0, _("Looking for the file")
    share = min(step.done / step.total, 1.0) if step.total else 0.0
    if step.stage == "checking":
        return share, _("Checking its SHA-256")
    left = f" :gray[{formatting.left(job.left_s)}]" if job.left_s is not None and step.total else ""
    return share, f"{formatting.plain(step.note)}: {_of(step.done, step.total)}{left}"


def _of(done_bytes: int, size_bytes: int | None) -> str:
    """`1.2 GB of 2.5 GB`; the first alone where the other is not known."""
    done = formatting.size(done_bytes)
    return _("{done} of {whole}").format(done=done, whole=formatting.size(size_bytes)) if size_bytes else done


def _outcome(job: Job) -> None:
    if job.state == "cancelled" and job.error is not None:
        words = f"{server_text(str(job.error))} {server_text(getattr(job.error, 'help', ''))}"
        st.markdown(f":gray[:material/stop_circle: {formatting.plain(words)}]")
    elif job.error is not None:
        failure(job.error)
    elif job.result is not None:
        st.markdown(
            _(":green[:material/check_circle:] **Downloaded and checked** :gray[{note}]").format(
                note=formatting.plain(server_text(job.result.note))
            )
        )


def _unfinished(library: Library, download: UnfinishedDownload, number: int) -> None:
    with st.container(key=f"models_unfinished_{number}", horizontal=True, vertical_alignment="center", gap="small"):
        here = _("{sizes} are here").format(sizes=_of(download.done_bytes, download.size_bytes))
        st.markdown(
            f"**{formatting.plain(download.name)}** :gray[{here}]",
            width="stretch",
        )
        st.button(_("Resume"), key=f"models_resume_{number}", on_click=begin, args=(library, download.wanted))
        discard = library.language_models.discard
        st.button(
            _("Discard"), key=f"models_discard_{number}", type="tertiary", on_click=discard, args=(download.name,)
        )


def _suggestion(library: Library, model: SuggestedModel, number: int, *, busy: bool) -> None:
    with st.container(key=f"models_suggestion_{number}", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None, width="stretch"):
            needs = _("{size}, needs {memory} of memory").format(
                size=formatting.size(model.size_bytes), memory=formatting.size(model.memory_bytes)
            )
            st.markdown(f"**{formatting.plain(model.title)}** :gray[{needs}]")
            more = "" if model.fits else f" :orange[{_('More than this machine has.')}]"
            st.caption(f"{server_text(model.purpose)}{more}")
        if model.present:
            st.markdown(_(":green[:material/check: Here]"), width="content")
        else:
            st.button(
                _("Download"), icon=":material/download:", key=f"models_download_{number}", disabled=busy,
                help=_("Download {wanted}").format(wanted=model.wanted), on_click=begin, args=(library, model.wanted),
            )  # fmt: skip


def _other(library: Library, *, busy: bool) -> None:
    with st.form("models_other_form", border=False):
        st.text_input(_("Another model, by its name on the hub or its address"), key="models_wanted")
        st.caption(_(NAMES))
        st.text_input(_("SHA-256, to check it by (optional)"), key="models_sha256")
        st.form_submit_button(
            _("Download"), icon=":material/download:", key="models_download", on_click=_submit, args=(library,),
            disabled=busy,
        )  # fmt: skip


def _submit(library: Library) -> None:
    state = st.session_state
    if state["models_wanted"].strip():
        begin(library, state["models_wanted"], state["models_sha256"])
