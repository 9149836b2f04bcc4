"""Adding documents: the drop zone, the samples, and a line of progress for every file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import streamlit as st

from pages.parts import asking_of, collections, formatting, resources, samples, signing_in
from pages.parts.language import _, figure, ngettext, server_text
from pages.parts.refreshing import fragment, refreshed, working
from rag_core.domain import Job, Upload
from rag_core.errors import EncryptedDocument, LecternError
from rag_core.jobs import Jobs, Request

KIND = "add"
SHOWN = 40
FEW = 3  # files that have a line each while they are added
GONE_S = 120.0
LEAST_S = 3.0
BUSY_S = 0.5
IDLE_S = 3.0


def drop_zone() -> None:
    """Take files; what is dropped is added at once."""
    st.session_state.setdefault("upload_turn", 0)
    key = _drop_key()
    with st.container(key="upload_drop", gap="xsmall"):
        st.file_uploader(
            _("Add documents"),
            accept_multiple_files=True,
            key=key,
            on_change=_take_files,
            args=(key,),
            label_visibility="collapsed",
        )
        limit = st.get_option("server.maxUploadSize")
        st.caption(
            _(
                "PDF, Word, Excel, PowerPoint, OpenDocument, web pages, EPUB, mail, calendars, CSV, JSON, "
                "XML, notebooks, Markdown, text, source code, images, and archives of them, up to {limit} "
                "MB each. They stay on this machine."
            ).format(limit=limit)
        )


def add(jobs: Jobs, sources: Sequence[Upload | Path]) -> None:
    """Have files added. The lines of those that are ready are cleared away first."""
    _clear(jobs)
    jobs.submit_all(KIND, [_request(source) for source in sources])


def _request(source: Upload | Path) -> Request:
    params = collections.into()
    if isinstance(source, Upload):
        return Request(source.name, params, private=source)
    return Request(source.name, {**params, "path": str(source)})


def sample_button(jobs: Jobs) -> None:
    """One click to try Lectern without a document of one's own."""
    files = samples.files()
    if not files:
        return
    with st.container(key="upload_sample_row", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_("No document at hand?"))
        if st.button(_("Add the sample library"), icon=":material/auto_stories:", key="upload_samples"):
            add(jobs, [Upload(file.name, file.read_bytes()) for file in files] if signing_in.is_apart() else files)
            st.rerun()
        st.caption(_(samples.TOLD))


def progress(jobs: Jobs, before: tuple[bool, int]) -> None:
    """The lines of all files that are added; they refresh by themselves, and the page with them when one is done.

    before: what was `seen` before the page read its documents, which may be of then.
    """
    fragment(refreshed, BUSY_S if jobs.busy(KIND) else IDLE_S)(
        lambda: _lines(jobs), lambda: before != seen(jobs) or asking_of.is_wanted()
    )  # fmt: skip


def lines(jobs: Jobs) -> list[Job]:
    """The files that have a line: why a document could not be read stands in its row, with what mends it."""
    return [job for job in jobs.all(KIND) if not _has_row(job)]


def _has_row(job: Job) -> bool:
    return job.state == "failed" and bool(job.document_id)


def seen(jobs: Jobs) -> tuple[bool, int]:
    """What the page is drawn anew for where it changes."""
    return jobs.busy(KIND), jobs.ended(KIND)


def _drop_key() -> str:
    return f"upload_files_{st.session_state['upload_turn']}"


def _take_files(key: str) -> None:
    # A fragment that refreshes before the browser has drawn the emptied widget sends the files of the old one again.
    if key != _drop_key():
        return
    files = st.session_state.get(key) or []
    add(resources.library().jobs, [Upload(file.name, file.getvalue()) for file in files])
    # A new key empties the widget, so that the server forgets the bytes once they are added.
    st.session_state["upload_turn"] += 1


def _lines(jobs: Jobs) -> None:
    _clear_old(jobs)
    files = lines(jobs)
    if not files:
        return
    under_way = [job for job in files if not job.finished]
    plain = [job for job in files if _is_plain(job)]
    told = [job for job in files if job.finished and job not in plain]
    told.sort(key=lambda job: job.state != "failed")  # what needs somebody stands first
    alike = _alike(told)
    together = {job.id for jobs_of in alike.values() for job in jobs_of}
    single = [job for job in told if job.id not in together]
    with st.container(key="upload_jobs", gap="xsmall"):
        if words := resumed(files):
            st.caption(f":material/history: {words}")
        _each(jobs, single)
        for number, (note, those) in enumerate(alike.items()):
            words = f":green[:material/check_circle:] {formatting.count(len(those), 'document')} :gray[{note}]"
            _several(jobs, those, words, f"alike_{number}")
        if len(under_way) > FEW:
            _whole(jobs, jobs.all(KIND), under_way)
        else:
            for job in under_way:
                _line(jobs, job)
        if len(plain) > 1 or under_way:
            _added(jobs, plain)
        elif plain:
            _line(jobs, plain[0])
        if len(told) > 1:
            st.button(_("Clear finished"), key="upload_clear", type="tertiary", on_click=jobs.clear, args=(KIND,))


def _each(jobs: Jobs, ended: Sequence[Job]) -> None:
    """A line for each of these; more than a few are folded, so that the table stays in sight."""
    with st.expander(_not_added(ended)) if len(ended) > FEW else nullcontext():
        for job in ended[:SHOWN]:
            _line(jobs, job)
        if len(ended) > SHOWN:
            st.caption(ngettext("and {number} more file", "and {number} more files", len(ended) - SHOWN))


def _not_added(ended: Sequence[Job]) -> str:
    failed = sum(job.state == "failed" for job in ended)
    told = [
        ngettext("{number} file not added", "{number} files not added", failed) if failed else "",
        formatting.count(len(ended) - failed, "file") if len(ended) > failed else "",
    ]  # fmt: skip
    return " · ".join(filter(None, told))


def _whole(jobs: Jobs, files: Sequence[Job], under_way: Sequence[Job]) -> None:
    """All that is under way in one line, with what is read now."""
    with st.container(key="upload_whole", horizontal=True, vertical_alignment="center", wrap=False):
        done = len(files) - len(under_way)
        st.progress(
            sum(measure(job)[0] for job in files if not job.finished) / len(files) + done / len(files),
            text=" :gray[·] ".join(
                [_("{done} of {whole}").format(done=figure(done), whole=figure(len(files))), *_left(files, done)]
            ),
        )
        st.button(
            _("Cancel all"), icon=":material/close:", key="upload_cancel_all", type="tertiary", on_click=_cancel_all,
            args=(jobs, [job.id for job in under_way]),
        )  # fmt: skip
    now = [formatting.plain(formatting.shorten(job.name, 40)) for job in under_way if job.state == "running"]
    if now:
        st.caption(", ".join(now[:FEW]))


def _left(files: Sequence[Job], done: int) -> list[str]:
    """`about 6 min`, by how long those took that are done."""
    begun = [job.began_at for job in files if job.began_at]
    spent_s = time.time() - min(begun).timestamp() if begun else 0.0
    if not done or spent_s < LEAST_S:
        return []
    return [formatting.left(spent_s / done * (len(files) - done))]


def _cancel_all(jobs: Jobs, ids: Sequence[str]) -> None:
    for job_id in ids:
        jobs.cancel(job_id)


def _clear_old(jobs: Jobs) -> None:
    """What ended well goes by itself, once it was to be seen for a while."""
    ended = [job.ended_at for job in jobs.all(KIND) if job.ended_at]
    if ended and not jobs.busy(KIND) and is_past(max(ended)):
        _clear(jobs)


def _clear(jobs: Jobs) -> None:
    """Forget what ended well, and what failed that has a row of its own."""
    jobs.clear(KIND, states=("done", "cancelled"))
    for job in jobs.all(KIND):
        if _has_row(job):
            jobs.dismiss(job.id)


def is_past(moment: datetime) -> bool:
    """Whether what ended then was to be seen for long enough."""
    return time.time() - moment.timestamp() > GONE_S


def _is_plain(job: Job) -> bool:
    """Whether a file is ready and there is nothing more to say of it."""
    return job.state == "done" and not job.progress.note


def _can_retry(jobs: Jobs, job: Job) -> bool:
    """Whether a file failed for a reason that may be gone, and not for what it holds, and is still there."""
    lasts = isinstance(job.error, LecternError) and job.error.lasts
    return job.state == "failed" and not lasts and jobs.can_retry(job.id)


def resumed(jobs: Sequence[Job]) -> str:
    """What is said of the documents that an earlier run left unfinished."""
    found = [job for job in jobs if job.resumed]
    if not found:
        return ""
    left, ready = sum(not job.finished for job in found), sum(job.state == "done" for job in found)
    begun = ngettext(
        "Lectern ended while {number} document was being added.",
        "Lectern ended while {number} documents were being added.", len(found),
    )  # fmt: skip
    if left:
        return f"{begun} {_('Resumed: {ready} ready, {left} to go.').format(ready=ready, left=left)}"
    all_ready = ready == len(found)
    return f"{begun} {_('Resumed: all ready.') if all_ready else _('Resumed: {ready} ready.').format(ready=ready)}"


def _line(jobs: Jobs, job: Job) -> None:
    if not job.finished:
        _working(jobs, job)
    elif job.state == "done":
        _ready(jobs, job)
    elif job.state == "cancelled":
        _ended(jobs, job, f":gray[:material/block:] {formatting.plain(job.name)} :gray[{_('cancelled')}]")
    elif isinstance(job.error, EncryptedDocument):
        _locked(jobs, job)
    else:
        _failed(jobs, job)


def _working(jobs: Jobs, job: Job) -> None:
    share, doing = measure(job)
    working(
        jobs, job, share, f"{formatting.plain(formatting.shorten(job.name, 70))} :gray[{doing}]",
        line=f"upload_job_{job.id}", key=f"upload_cancel_{job.id}", label=_("Cancel"), icon=":material/close:",
    )  # fmt: skip


def measure(job: Job) -> tuple[float, str]:
    """How far a file is, from 0 to 1 over all stages, and in words."""
    if job.stopping:
        return 0.0, _("stopping")
    step = job.progress
    part = min(step.done / step.total, 1.0) if step.total else 0.0
    left = f", {formatting.left(job.left_s)}" if part < 1 and job.left_s is not None else ""
    if step.stage == "reading" and part == 1:
        return 0.4, _("read")
    if step.stage == "reading":
        at = _("reading page {page} of {whole}").format(page=step.done, whole=step.total) + left
        return 0.4 * part, (at if step.done else _("opening")) if step.total else _("reading")
    if step.stage == "embedding":
        at = _("indexing {done} of {whole}").format(done=step.done, whole=step.total) + left
        return 0.4 + 0.55 * part, at if step.total else _("indexing")
    return (0.97, _("storing")) if step.stage == "storing" else (0.0, _("waiting"))


def _ready(jobs: Jobs, job: Job) -> None:
    note = f" :gray[{formatting.plain(server_text(job.progress.note) or _('ready'))}]"
    line = f":green[:material/check_circle:] {formatting.plain(formatting.shorten(job.name, 90))}{note}"
    _ended(jobs, job, line, [job.document_id] if job.document_id else [])


def _alike(told: Sequence[Job]) -> dict[str, list[Job]]:
    """Files of which the same is said, by what it is: those that are many have one line."""
    found: dict[str, list[Job]] = {}
    for job in told:
        if job.state == "done":
            found.setdefault(formatting.plain(server_text(job.progress.note)), []).append(job)
    return {note: those for note, those in found.items() if len(those) > 1}


def _added(jobs: Jobs, added: Sequence[Job]) -> None:
    if added:
        words = ngettext(
            ":green[:material/check_circle:] {number} document :gray[added]",
            ":green[:material/check_circle:] {number} documents :gray[added]",
            len(added),
        )
        _several(jobs, added, words, "added")


def _several(jobs: Jobs, those: Sequence[Job], words: str, name: str) -> None:
    """One line for files that ended in the same way."""
    ids = [job.document_id for job in those if job.document_id]
    with st.container(key=f"upload_{name}", horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(words)
        if ids:
            asking_of.button(ids, _("Ask these {count}").format(count=figure(len(ids))), f"upload_ask_{name}")
        ends = [job.id for job in those]
        st.button(_("Dismiss"), key=f"upload_dismiss_{name}", type="tertiary", on_click=_dismiss_all, args=(jobs, ends))


def _dismiss_all(jobs: Jobs, ids: Sequence[str]) -> None:
    for job_id in ids:
        jobs.dismiss(job_id)


def _ended(jobs: Jobs, job: Job, line: str, asked: Sequence[str] = ()) -> None:
    with st.container(key=f"upload_job_{job.id}", horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(line)
        if asked:
            asking_of.button(asked, _("Ask this"), f"upload_ask_{job.id}")
        _dismiss(jobs, job)


def _failed(jobs: Jobs, job: Job) -> None:
    with st.container(key=f"upload_failed_{job.id}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(f":red[:material/error:] **{formatting.plain(formatting.shorten(job.name, 90))}**")
            if _can_retry(jobs, job):
                st.button(
                    _("Try again"), icon=":material/refresh:", key=f"upload_retry_{job.id}", type="tertiary",
                    on_click=jobs.retry, args=(job.id,),
                )  # fmt: skip
            _dismiss(jobs, job)
        st.markdown(formatting.plain(server_text(str(job.error))))
        help_text = job.error.help if isinstance(job.error, LecternError) else ""
        if help_text:
            st.caption(formatting.plain(server_text(help_text)))


def _locked(jobs: Jobs, job: Job) -> None:
    wrong = isinstance(job.error, EncryptedDocument) and job.error.wrong_password
    with st.container(key=f"upload_locked_{job.id}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(f":material/lock: **{formatting.plain(formatting.shorten(job.name, 90))}**")
            _dismiss(jobs, job)
        st.markdown(_(":red[That password is wrong.]") if wrong else _("This document is protected by a password."))
        with (
            st.form(f"upload_unlock_{job.id}", border=False),
            st.container(horizontal=True, vertical_alignment="bottom"),
        ):
            password = st.text_input(_("Password"), type="password", key=f"upload_password_{job.id}", width=240)
            opened = st.form_submit_button(_("Unlock"), icon=":material/lock_open:", type="primary")
    if opened and password:
        jobs.retry(job.id, password)
        st.rerun(scope="fragment")


def _dismiss(jobs: Jobs, job: Job) -> None:
    st.button(_("Dismiss"), key=f"upload_dismiss_{job.id}", type="tertiary", on_click=jobs.dismiss, args=(job.id,))
