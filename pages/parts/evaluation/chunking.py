"""Re-chunking the library's documents after another chunking was applied: how far it is, and what was left."""

from __future__ import annotations

import streamlit as st

from pages.parts import formatting, resources
from pages.parts.language import _, figure, msgid, ngettext, server_text
from pages.parts.refreshing import REFRESH_S, failure, fragment, refreshed, working
from rag_core.domain import Job
from rag_core.library import Library

KIND = "rechunk"
WHY = msgid(
    "Documents added from now on are chunked in another way than those that are here, which are found better when they"
    " are re-chunked too. They stay searchable meanwhile."
)


def section(library: Library) -> None:
    """Nothing, unless documents have chunks of an earlier setting or default, or are being re-chunked."""
    busy = library.jobs.busy(KIND)
    fragment(refreshed, REFRESH_S if busy else None)(lambda: _draw(library), lambda: busy != library.jobs.busy(KIND))


def begin() -> None:
    """Re-chunk what is left, in the background."""
    resources.library().jobs.submit(KIND)


def measure(job: Job) -> tuple[float, str]:
    """How far it is, from 0 to 1, and in words."""
    step = job.progress
    if job.stopping:
        return step.done / step.total if step.total else 0.0, _("Stopping")
    if not step.total:
        return 0.0, _("Re-chunking documents")
    left = f" :gray[{formatting.left(job.left_s)}]" if job.left_s is not None else ""
    return step.done / step.total, _("Re-chunking {done} of {documents}{left}").format(
        done=figure(step.done), documents=formatting.count(step.total, "document"), left=left
    )


def _draw(library: Library) -> None:
    job = library.jobs.last(KIND)
    if job is not None and not job.finished:
        line, key = "evaluation_chunking_line", "evaluation_chunking_stop"
        working(library.jobs, job, *measure(job), line=line, key=key)
        return
    if job is not None and job.error is not None:
        failure(job.error)
    elif job is not None and job.result is not None and job.result.note:
        st.caption(f":material/info: {formatting.plain(server_text(job.result.note))}")
    left = library.maintenance.to_rechunk()
    if left:
        have = ngettext("{number} document has other chunks.", "{number} documents have other chunks.", left)
        _offer(library, f":orange[:material/warning:] {have}")
    elif library.maintenance.can_rechunk():
        _offer(library, f":material/info: {_(WHY)}")


def _offer(library: Library, why: str) -> None:
    with st.container(key="evaluation_chunking_left", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(why)
        st.button(_("Re-chunk"), type="tertiary", key="evaluation_rechunk", on_click=begin)
        keep = library.maintenance.keep_chunks
        st.button(_("Leave them so"), type="tertiary", key="evaluation_chunk_forget", on_click=keep)
