"""Adding documents: the drop zone, the samples, and a line of progress for every file."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts import resources, samples, words
from pages.parts.jobs import Job, JobBoard
from pages.parts.tasks import renewed
from rag_core.domain import Upload
from rag_core.errors import EncryptedDocument, LecternError

SHOWN = 40
BUSY_S = 0.5
IDLE_S = 3.0


def drop_zone() -> None:
    """Take files; what is dropped goes straight onto the board."""
    turn = st.session_state.setdefault("upload_turn", 0)
    key = f"upload_files_{turn}"
    with st.container(key="upload_drop", gap="xsmall"):
        st.file_uploader(
            "Add documents",
            accept_multiple_files=True,
            key=key,
            on_change=_take_files,
            args=(key,),
            label_visibility="collapsed",
        )
        limit = st.get_option("server.maxUploadSize")
        st.caption(
            f"PDF, Word, Excel, PowerPoint, OpenDocument, web pages, EPUB, mail, CSV, notebooks, Markdown, text and "
            f"source code, up to {limit} MB each. They stay on this machine."
        )


def sample_button(board: JobBoard) -> None:
    """One click to try Lectern without a document of one's own."""
    files = samples.files()
    if not files:
        return
    with st.container(key="upload_sample_row", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("No document at hand?")
        if st.button("Add the sample library", icon=":material/auto_stories:", key="upload_samples"):
            board.submit(files)
            st.rerun()


def progress(board: JobBoard) -> None:
    """The lines of all files on the board; they refresh by themselves, and the page with them when one is done."""
    seen = (board.busy, board.finished_count)
    st.fragment(renewed, run_every=BUSY_S if board.busy else IDLE_S)(
        lambda: _lines(board), lambda: seen != (board.busy, board.finished_count)
    )


def _take_files(key: str) -> None:
    files = st.session_state.get(key) or []
    resources.jobs().submit([Upload(file.name, file.getvalue()) for file in files])
    # A new key empties the widget, so that the server forgets the bytes once they are added.
    st.session_state["upload_turn"] += 1


def _lines(board: JobBoard) -> None:
    jobs = board.jobs()
    if not jobs:
        return
    with st.container(key="upload_jobs", gap="xsmall"):
        if told := resumed(jobs):
            st.caption(f":material/history: {told}")
        for job in jobs[:SHOWN]:
            _line(board, job)
        if len(jobs) > SHOWN:
            st.caption(f"and {words.count(len(jobs) - SHOWN, 'more file')}")
        if sum(job.finished for job in jobs) > 1:
            st.button("Clear finished", key="upload_clear", type="tertiary", on_click=board.clear)


def resumed(jobs: Sequence[Job]) -> str:
    """What is said of the documents that an earlier run left unfinished."""
    found = [job for job in jobs if job.resumed]
    if not found:
        return ""
    left, ready = sum(not job.finished for job in found), sum(job.stage == "ready" for job in found)
    were = "was" if len(found) == 1 else "were"
    begun = f"Lectern ended while {words.count(len(found), 'document')} {were} being added"
    if left:
        return f"{begun}. Resumed: {ready} ready, {left} to go."
    return f"{begun}. Resumed: all ready." if ready == len(found) else f"{begun}. Resumed: {ready} ready."


def _line(board: JobBoard, job: Job) -> None:
    if not job.finished:
        _working(board, job)
    elif job.stage == "ready":
        _ready(board, job)
    elif job.stage == "cancelled":
        _ended(board, job, f":gray[:material/block:] {words.plain(job.name)} :gray[cancelled]")
    elif job.locked:
        _locked(board, job)
    else:
        _failed(board, job)


def _working(board: JobBoard, job: Job) -> None:
    with st.container(key=f"upload_job_{job.id}", horizontal=True, vertical_alignment="center", wrap=False):
        share, doing = measure(job)
        st.progress(share, text=f"{words.plain(words.shorten(job.name, 70))} :gray[{doing}]")
        st.button(
            "Cancel",
            icon=":material/close:",
            key=f"upload_cancel_{job.id}",
            type="tertiary",
            disabled=job.stopping,
            on_click=board.cancel,
            args=(job.id,),
        )


def measure(job: Job) -> tuple[float, str]:
    """How far a file is, from 0 to 1 over all stages, and in words."""
    if job.stopping:
        return 0.0, "stopping"
    part = min(job.done / job.total, 1.0) if job.total else 0.0
    if job.stage == "reading" and part == 1:
        return 0.4, "read"
    if job.stage == "reading":
        return 0.4 * part, f"reading page {job.done} of {job.total}" if job.total else "reading"
    if job.stage == "embedding":
        return 0.4 + 0.55 * part, f"embedding {job.done} of {job.total}" if job.total else "embedding"
    return (0.97, "storing") if job.stage == "storing" else (0.0, "waiting")


def _ready(board: JobBoard, job: Job) -> None:
    note = f" :gray[{words.plain(job.note)}]" if job.note else " :gray[ready]"
    _ended(board, job, f":green[:material/check_circle:] {words.plain(words.shorten(job.name, 90))}{note}")


def _ended(board: JobBoard, job: Job, line: str) -> None:
    with st.container(key=f"upload_job_{job.id}", horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(line)
        _dismiss(board, job)


def _failed(board: JobBoard, job: Job) -> None:
    with st.container(key=f"upload_failed_{job.id}", gap="xsmall"):
        st.markdown(f":red[:material/error:] **{words.plain(words.shorten(job.name, 90))}**")
        st.markdown(words.plain(str(job.error)))
        help_text = job.error.help if isinstance(job.error, LecternError) else ""
        if help_text:
            st.caption(words.plain(help_text))
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Try again",
                icon=":material/refresh:",
                key=f"upload_retry_{job.id}",
                on_click=board.retry,
                args=(job.id,),
            )
            _dismiss(board, job)


def _locked(board: JobBoard, job: Job) -> None:
    wrong = isinstance(job.error, EncryptedDocument) and job.error.wrong_password
    with st.container(key=f"upload_locked_{job.id}", gap="xsmall"):
        st.markdown(f":material/lock: **{words.plain(words.shorten(job.name, 90))}**")
        st.markdown(":red[That password is wrong.]" if wrong else "This document is protected by a password.")
        with (
            st.form(f"upload_unlock_{job.id}", border=False),
            st.container(horizontal=True, vertical_alignment="bottom"),
        ):
            password = st.text_input("Password", type="password", key=f"upload_password_{job.id}", width=240)
            opened = st.form_submit_button("Unlock", icon=":material/lock_open:", type="primary")
        _dismiss(board, job)
    if opened and password:
        board.retry(job.id, password)
        st.rerun(scope="fragment")


def _dismiss(board: JobBoard, job: Job) -> None:
    st.button("Dismiss", key=f"upload_dismiss_{job.id}", type="tertiary", on_click=_forget, args=(board, job))


def _forget(board: JobBoard, job: Job) -> None:
    """Take a line away; a failed document leaves the library with it."""
    board.dismiss(job.id)
    if job.stage == "failed" and job.document_id:
        resources.library().remove(job.document_id)
