"""Cutting the library's documents anew after another chunking was adopted: how far it is, and what was left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import resources, words
from pages.parts.tasks import REFRESH_S, Task, TaskBoard, failure, renewed
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress

if TYPE_CHECKING:
    from rag_core.library import Library

KIND = "chunk"
WHY = (
    "Documents added from now on are cut in another way than those that are here, which are found better when they are"
    " re-chunked too. They stay searchable meanwhile."
)


def section(library: Library) -> None:
    """Nothing, unless documents have chunks of an earlier setting or default, or are being cut anew."""
    board = resources.rechunkings()
    busy = board.busy
    st.fragment(renewed, run_every=REFRESH_S if busy else None)(
        lambda: _draw(library, board), lambda: busy != board.busy
    )


def begin() -> None:
    """Cut anew what is left, in the background."""
    resources.rechunkings().begin(KIND, cut_anew)


def cut_anew(library: Library, token: Cancellation, tell: Callable[[Progress], None]) -> Progress:
    """Cut what is left anew; returns the last step."""
    last = Progress("done")
    for last in library.chunk_anew(cancellation=token):
        tell(last)
    return last


def measure(task: Task[Progress]) -> tuple[float, str]:
    """How far it is, from 0 to 1, and in words."""
    step = task.progress
    if task.stopping:
        return 0.0 if step is None or not step.total else step.done / step.total, "Stopping"
    if step is None or not step.total:
        return 0.0, "Cutting documents anew"
    left = f" :gray[{words.duration(task.left_s)} left]" if task.left_s is not None else ""
    return step.done / step.total, f"Cutting {step.done:,} of {words.count(step.total, 'document')} anew{left}"


def _draw(library: Library, board: TaskBoard[Progress]) -> None:
    task = board.task
    if task is not None and not task.finished:
        share, text = measure(task)
        with st.container(key="evaluation_chunking_line", horizontal=True, vertical_alignment="center", wrap=False):
            st.progress(share, text=text)
            st.button(
                "Stop", icon=":material/stop_circle:", type="tertiary", key="evaluation_chunking_stop",
                disabled=task.stopping, on_click=board.stop,
            )  # fmt: skip
        return
    if task is not None and task.error is not None:
        failure(task.error)
    elif task is not None and task.result is not None and task.result.note:
        st.caption(f":material/info: {words.plain(task.result.note)}")
    left = library.chunking_left()
    if left:
        have = words.count(left, "document has", "documents have")
        _offer(library, f":orange[:material/warning:] {have} other chunks.")
    elif library.chunking_offered():
        _offer(library, f":material/info: {WHY}")


def _offer(library: Library, why: str) -> None:
    with st.container(key="evaluation_chunking_left", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(why)
        st.button("Re-chunk", type="tertiary", key="evaluation_chunk_anew", on_click=begin)
        st.button("Leave them so", type="tertiary", key="evaluation_chunk_forget", on_click=library.forget_chunking)
