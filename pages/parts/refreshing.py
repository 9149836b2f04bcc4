"""Parts of a page that draw themselves again while work goes on, and how work that ended is told of."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from pages.parts import words
from rag_core.domain import Job
from rag_core.jobs import Jobs

REFRESH_S = 1.0


def watched(draw: Callable[[], None]) -> None:
    """Draw a part of a page that refreshes by itself, whether a job runs or not: another session may begin one.

    It never asks for the whole page anew, which would undo a click on another page in that moment.
    """
    st.fragment(draw, run_every=REFRESH_S)()


def refreshed(draw: Callable[[], None], changed: Callable[[], bool]) -> None:
    """Draw a part of a page, then the whole page anew where something changed that nobody clicked for.

    In this order: `st.rerun` asks for the page that is drawn now, in place of a click on another page that waits to be
    heard, and drawing hears it first.
    """
    draw()
    if changed():
        st.rerun()


def working(
    jobs: Jobs, job: Job, share: float, text: str, *, line: str, key: str,
    label: str = "Stop", icon: str = ":material/stop_circle:", too_late: bool = False,
) -> None:  # fmt: skip
    """A line for work under way: how far it is, from 0 to 1 and in words, and a button that stops it."""
    with st.container(key=line, horizontal=True, vertical_alignment="center", wrap=False):
        st.progress(share, text=text)
        st.button(
            label, icon=icon, key=key, type="tertiary", disabled=job.stopping or too_late,
            on_click=jobs.cancel, args=(job.id,),
        )  # fmt: skip


def doing(job: Job, text: str) -> None:
    """A line for work that cannot say how far it is."""
    spent_s = int(time.time() - job.began_at.timestamp()) if job.began_at else 0
    with st.container(key=f"system_doing_{job.kind}"):
        st.markdown(f"{text} :gray[{spent_s} s]")


def failure(error: Exception) -> None:
    """Why it did not work, and what to do."""
    st.markdown(f":red[:material/error:] **{words.plain(str(error))}**")
    st.caption(words.plain(getattr(error, "help", "")))
