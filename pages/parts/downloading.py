"""Getting a model: those worth having, any other by its name, how far a download is, and those that stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import words
from pages.parts.tasks import Task, TaskBoard, failure, watched
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress, SuggestedModel, UnfinishedDownload
from rag_core.errors import Cancelled

if TYPE_CHECKING:
    from rag_core.library import Library

NAMES = "`owner/repository`, `owner/repository:Q4_K_M`, `owner/repository/file.gguf`, or an address of a .gguf file."


def section(library: Library, board: TaskBoard[Progress]) -> None:
    """Models to choose from, a line for others, and the download under way."""
    st.caption("A download asks the hub of models for the file. Nothing about your documents is sent.")
    watched(lambda: _draw(library, board))


def begin(board: TaskBoard[Progress], wanted: str, sha256: str = "") -> None:
    """Begin a download, unless one is under way."""

    def work(library: Library, token: Cancellation, tell: Callable[[Progress], None]) -> Progress:
        last = Progress("done")
        try:
            for last in library.language_models.download(wanted, sha256=sha256, cancellation=token):
                tell(last)
        except Cancelled as stopped:
            return Progress("cancelled", note=f"{stopped} {stopped.help}")
        return last

    board.begin("download", work)


def _draw(library: Library, board: TaskBoard[Progress]) -> None:
    task = board.task
    with st.container(key="models_get", gap="small"):
        if task is not None and not task.finished:
            _working(board, task)
        elif task is not None:
            _outcome(task)
        for number, download in enumerate([] if board.busy else library.language_models.unfinished()):
            _unfinished(library, board, download, number)
        with st.container(key="models_suggested", gap="small"):
            for number, model in enumerate(library.language_models.suggestions()):
                _suggestion(board, model, number)
        _other(board)


def _working(board: TaskBoard[Progress], task: Task[Progress]) -> None:
    share, text = measure(task)
    with st.container(key="models_download_line", horizontal=True, vertical_alignment="center", wrap=False):
        st.progress(share, text=text)
        st.button(
            "Stop", icon=":material/stop_circle:", key="models_stop", type="tertiary", disabled=task.stopping,
            on_click=board.stop,
        )  # fmt: skip
    st.caption("You may leave this page meanwhile. What was fetched is kept when it stops.")


def measure(task: Task[Progress]) -> tuple[float, str]:
    """How far a download is, from 0 to 1, and in words."""
    step = task.progress
    if task.stopping:
        return 0.0, "Stopping"
    if step is None or step.stage == "finding":
        return 0.0, "Looking for the file"
    share = min(step.done / step.total, 1.0) if step.total else 0.0
    if step.stage == "checking":
        return share, "Checking its SHA-256"
    left = f" :gray[{words.duration(task.left_s)} left]" if task.left_s is not None and step.total else ""
    whole = f" of {words.size(step.total)}" if step.total else ""
    return share, f"{words.plain(step.note)}: {words.size(step.done)}{whole}{left}"


def _outcome(task: Task[Progress]) -> None:
    if task.error is not None:
        failure(task.error)
    elif task.result is not None and task.result.stage == "done":
        st.markdown(
            f":green[:material/check_circle:] **Downloaded and checked** :gray[{words.plain(task.result.note)}]"
        )
    elif task.result is not None:
        st.markdown(f":gray[:material/stop_circle: {words.plain(task.result.note)}]")


def _unfinished(library: Library, board: TaskBoard[Progress], download: UnfinishedDownload, number: int) -> None:
    with st.container(key=f"models_unfinished_{number}", horizontal=True, vertical_alignment="center", gap="small"):
        whole = f" of {words.size(download.size_bytes)}" if download.size_bytes else ""
        st.markdown(
            f"**{words.plain(download.name)}** :gray[{words.size(download.done_bytes)}{whole} are here]",
            width="stretch",
        )
        st.button("Resume", key=f"models_resume_{number}", on_click=begin, args=(board, download.wanted))
        discard = library.language_models.discard
        st.button("Discard", key=f"models_discard_{number}", type="tertiary", on_click=discard, args=(download.name,))


def _suggestion(board: TaskBoard[Progress], model: SuggestedModel, number: int) -> None:
    with st.container(key=f"models_suggestion_{number}", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None, width="stretch"):
            needs = f"{words.size(model.size_bytes)}, needs {words.size(model.memory_bytes)} of memory"
            st.markdown(f"**{words.plain(model.title)}** :gray[{needs}]")
            st.caption(model.purpose if model.fits else f"{model.purpose} :orange[More than this machine has.]")
        if model.present:
            st.markdown(":green[:material/check: Here]", width="content")
        else:
            st.button(
                "Download", icon=":material/download:", key=f"models_download_{number}", disabled=board.busy,
                help=f"Download {model.wanted}", on_click=begin, args=(board, model.wanted),
            )  # fmt: skip


def _other(board: TaskBoard[Progress]) -> None:
    with st.form("models_other_form", border=False):
        st.text_input("Another model, by its name on the hub or its address", key="models_wanted")
        st.caption(NAMES)
        st.text_input("SHA-256, to check it by (optional)", key="models_sha256")
        st.form_submit_button(
            "Download", icon=":material/download:", key="models_download", on_click=_submit, args=(board,),
            disabled=board.busy,
        )  # fmt: skip


def _submit(board: TaskBoard[Progress]) -> None:
    state = st.session_state
    if state["models_wanted"].strip():
        begin(board, state["models_wanted"], state["models_sha256"])
