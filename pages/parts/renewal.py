"""Embedding the library anew with another model: why, how far it is, and the buttons to begin, stop and forget it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import words
from pages.parts.tasks import Task, TaskBoard, failure, watched
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress, Successor
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

KIND = "reembed"


def section(library: Library, board: TaskBoard[Progress]) -> None:
    """Nothing, unless the library is to be embedded anew, is being so, or was."""
    watched(lambda: _draw(library, board))


def embed_anew(library: Library, token: Cancellation, tell: Callable[[Progress], None]) -> Progress:
    """Embed every chunk anew; returns the last step."""
    last = Progress("done")
    for last in library.reembed(cancellation=token):
        tell(last)
    return last


def forget(library: Library, token: Cancellation, tell: Callable[[Progress], None]) -> Progress:
    """Throw away what a stopped run has made."""
    library.forget_reembedding()
    return Progress("forgotten")


def explain(successor: Successor) -> str:
    """Why, as Markdown."""
    present, wanted = (f"**{words.plain(name)}**" for name in (successor.present, successor.wanted))
    if successor.begun:
        return (
            f"{successor.done:,} of {words.count(successor.total, 'chunk')} are embedded with {wanted}, and kept. "
            f"{present} answers until all of them are."
        )
    return (
        f"The settings ask for {wanted}; this library was made with {present}, which goes on answering. "
        f"Its {words.count(successor.total, 'chunk')} can be embedded anew from the stored texts while you search and "
        "chat. You can stop it at any time; it goes on from there."
    )


def _draw(library: Library, board: TaskBoard[Progress]) -> None:
    task = board.task
    working = task is not None and not task.finished
    try:
        successor = None if working else library.status().successor
    except LecternError:  # it is said above, where the facts are
        successor = None
    if successor is None and task is None:
        return
    st.markdown("## Another embedding model")
    with st.container(key="system_renewal", gap="small"):
        if task is not None and working:
            _working(board, task)
            return
        if successor is not None:
            st.markdown(explain(successor))
            _buttons(successor, board)
        if task is not None and task.error is not None:
            failure(task.error)
        elif task is not None and task.result is not None:
            _outcome(task, task.result)


def _buttons(successor: Successor, board: TaskBoard[Progress]) -> None:
    with st.container(key="system_renewal_buttons", horizontal=True, gap="small"):
        label = "Go on" if successor.begun else "Embed anew"
        st.button(
            label, icon=":material/model_training:", type="primary", key="system_reembed",
            on_click=board.begin, args=(KIND, embed_anew),
        )  # fmt: skip
        if successor.begun:
            tip = "Throws away the new vectors made so far. What the library holds stays as it is."
            st.button(
                "Forget it", icon=":material/delete:", key="system_forget", help=tip,
                on_click=board.begin, args=("forget", forget),
            )  # fmt: skip


def _working(board: TaskBoard[Progress], task: Task[Progress]) -> None:
    share, text = measure(task)
    with st.container(key="system_renewal_line", horizontal=True, vertical_alignment="center", wrap=False):
        st.progress(share, text=text)
        st.button(
            "Stop", icon=":material/stop_circle:", key="system_stop", type="tertiary",
            disabled=task.stopping or _last(task), on_click=board.stop,
        )  # fmt: skip
    st.caption("The model in use answers meanwhile, and you may leave this page.")


def measure(task: Task[Progress]) -> tuple[float, str]:
    """How far it is, from 0 to 1 over all stages, and in words."""
    step = task.progress
    if task.kind != KIND:
        return 0.0, "Throwing away the new vectors"
    if step is None:
        return 0.0, "Loading the model"
    part = min(step.done / step.total, 1.0) if step.total else 0.0
    if task.stopping:
        return 0.9 * part, "Stopping"
    if step.stage == "embedding":
        left = f" :gray[{words.duration(task.left_s)} left]" if task.left_s is not None else ""
        return 0.9 * part, f"Embedding {step.done:,} of {words.count(step.total, 'chunk')}{left}"
    if step.stage == "writing":
        return 0.9 + 0.07 * part, f"Writing {step.done:,} of {words.count(step.total, 'dump file')}"
    return 0.97, "Switching"


def _last(task: Task[Progress]) -> bool:
    """Whether it is too late to stop."""
    return task.kind != KIND or (task.progress is not None and task.progress.stage in ("switching", "done"))


def _outcome(task: Task[Progress], end: Progress) -> None:
    if end.stage == "done" and end.done:
        done = f"{words.count(end.done, 'chunk')} in {words.duration(task.took_s)}; the new model answers from now on"
        st.markdown(f":green[:material/check_circle:] **Embedded anew** :gray[{done}]")
    elif end.stage == "done":
        st.markdown(f":green[:material/check_circle:] :gray[{words.plain(end.note)}]")
    elif end.stage == "cancelled":
        st.markdown(":gray[:material/stop_circle: Stopped. What was embedded is kept, also when Lectern is closed.]")
    else:
        st.markdown(":gray[:material/delete: The new vectors were thrown away.]")
