"""Parts of a page that draw themselves again while work goes on, and how work that ended is told of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

import streamlit as st

from pages.parts import formatting
from pages.parts.language import TYPING, _, server_text
from rag_core.domain import Job
from rag_core.errors import LecternError
from rag_core.jobs import Jobs
from rag_core.library import Library
from rag_core.unexpected import stage

REFRESH_S = 1.0
RECOVERING_S = 2.0
Arguments = ParamSpec("Arguments")


@contextmanager
def recovering(library: Library) -> Iterator[None]:
    """Draw a page. Why one cannot be drawn is said, and it is drawn anew once the library's stores answer again."""
    try:
        yield
    except LecternError as error:
        failure(error)
        if not _answers(library):
            fragment(_drawn_anew, RECOVERING_S)(library)


def anew() -> None:
    """Draw the whole page anew, since something changed that nobody clicked for.

    A dialog is made anew with the page: its cursor goes to the first field, and words are lost that were not sent yet.
    So while there is one with fields, the page stays as it is and is drawn once that closes.
    """
    typing = st.session_state.get(TYPING)
    if typing is None or typing not in st.session_state:
        st.rerun()


def fragment(draw: Callable[Arguments, None], every_s: float | None = None) -> Callable[Arguments, None]:
    """A part of a page that is drawn again by itself; why it cannot be is said in its place, in Lectern's words."""

    @wraps(draw)
    def drawn(*given: Arguments.args, **named: Arguments.kwargs) -> None:
        try:
            with stage("fragment"):
                draw(*given, **named)
        except LecternError as error:
            failure(error)

    return st.fragment(drawn, run_every=every_s)


def _answers(library: Library) -> bool:
    try:
        library.intake()
    except LecternError:
        return False
    return True


def _drawn_anew(library: Library) -> None:
    if _answers(library):
        anew()


def watched(draw: Callable[[], None]) -> None:
    """Draw a part of a page that refreshes by itself, whether a job runs or not: another session may begin one.

    It never asks for the whole page anew, which would undo a click on another page in that moment.
    """
    fragment(draw, REFRESH_S)()


def refreshed(draw: Callable[[], None], changed: Callable[[], bool]) -> None:
    """Draw a part of a page, then the whole page anew where something changed that nobody clicked for.

    In this order: `st.rerun` asks for the page that is drawn now, in place of a click on another page that waits to be
    heard, and drawing hears it first.
    """
    draw()
    if changed():
        anew()


def working(
    jobs: Jobs, job: Job, share: float, text: str, *, line: str, key: str,
    label: str = "", icon: str = ":material/stop_circle:", too_late: bool = False,
) -> None:  # fmt: skip
    """A line for work under way: how far it is, from 0 to 1 and in words, and a button that stops it."""
    with st.container(key=line, horizontal=True, vertical_alignment="center", wrap=False):
        st.progress(share, text=text)
        st.button(
            label or _("Stop"), icon=icon, key=key, type="tertiary", disabled=job.stopping or too_late,
            on_click=jobs.cancel, args=(job.id,),
        )  # fmt: skip


def doing(job: Job, text: str) -> None:
    """A line for work that cannot say how far it is."""
    spent_s = int(time.time() - job.began_at.timestamp()) if job.began_at else 0
    with st.container(key=f"system_doing_{job.kind}"):
        st.markdown(f"{text} :gray[{spent_s} s]")


def failure(error: Exception) -> None:
    """Why it did not work, and what to do."""
    st.markdown(f":red[:material/error:] **{formatting.plain(server_text(str(error)))}**")
    st.caption(formatting.plain(server_text(getattr(error, "help", ""))))
