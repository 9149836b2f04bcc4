"""Long work on the library, in a thread of its own: it goes on when the page is left, and every session sees it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import streamlit as st

from pages.parts import words
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Work = Callable[["Library", Cancellation, Callable[[Progress], None]], Result]
REFRESH_S = 1.0
LEAST_S = 2.0


@dataclass(frozen=True, slots=True)
class Task(Generic[Result]):
    """Work as it stands now. Times are of this machine's steady clock, in seconds.

    `mark` is the time at which the present stage began and what was done then.
    """

    kind: str
    started: float
    progress: Progress | None = None
    mark: tuple[float, int] = (0.0, 0)
    took_s: float = 0.0
    result: Result | None = None
    error: LecternError | None = None
    stopping: bool = False

    @property
    def finished(self) -> bool:
        """Whether it ended, with a result or an error."""
        return self.result is not None or self.error is not None

    @property
    def left_s(self) -> float | None:
        """How long the present stage still takes at its pace, seconds; None while that cannot be told."""
        since, before = self.mark
        spent, step = time.monotonic() - since, self.progress
        if step is None or step.done <= before or spent < LEAST_S:
            return None
        return spent / (step.done - before) * (step.total - step.done)


class TaskBoard(Generic[Result]):
    """Thread-safe. One task at a time; the last one stays to be looked at. `named` begins the words of a failure."""

    def __init__(self, library: Callable[[], Library], named: str) -> None:
        self._library = library
        self._named = named
        self._lock = threading.Lock()
        self._token = Cancellation()
        self._task: Task[Result] | None = None

    @property
    def task(self) -> Task[Result] | None:
        """The task under way, or the last one."""
        return self._task

    @property
    def busy(self) -> bool:
        """Whether a task is under way."""
        task = self._task
        return task is not None and not task.finished

    def begin(self, kind: str, work: Work[Result]) -> None:
        """Begin a task, unless one is under way. `work` is given the library, a token and whom to tell its steps."""
        with self._lock:
            if self.busy:
                return
            self._token = Cancellation()
            self._task = Task(kind, time.monotonic())
        threading.Thread(target=self._run, args=(work,), name=f"lectern-{kind}", daemon=True).start()

    def stop(self) -> None:
        """Ask the task under way to stop at its next step."""
        if self.busy:
            self._update(stopping=True)
            self._token.cancel()

    def _run(self, work: Work[Result]) -> None:
        began = time.monotonic()
        try:
            result = work(self._library(), self._token, self._tell)
            self._update(result=result, took_s=time.monotonic() - began)
        except LecternError as error:
            self._update(error=error)
        except Exception:
            logger.exception("%s ended unexpectedly", self._named)
            help_text = "The log says more; then try again."
            self._update(error=LecternError(f"{self._named} ended unexpectedly.", help=help_text))

    def _tell(self, step: Progress) -> None:
        task = self._task
        if task is not None and (task.progress is None or task.progress.stage != step.stage):
            self._update(mark=(time.monotonic(), step.done))
        self._update(progress=step)

    def _update(self, **changes: object) -> None:
        with self._lock:
            if self._task is not None:
                self._task = replace(self._task, **changes)  # type: ignore[arg-type]


def watched(draw: Callable[[], None]) -> None:
    """Draw a part of a page that refreshes by itself, whether a task runs or not: another session may begin one.

    It never asks for the whole page anew, which would undo a click on another page in that moment.
    """
    st.fragment(draw, run_every=REFRESH_S)()


def renewed(draw: Callable[[], None], changed: Callable[[], bool]) -> None:
    """Draw a part of a page, then the whole page anew where something changed that nobody clicked for.

    In this order: `st.rerun` asks for the page that is drawn now, in place of a click on another page that waits to be
    heard, and drawing hears it first.
    """
    draw()
    if changed():
        st.rerun()


def doing(task: Task[Result], text: str) -> None:
    """A line for work that cannot say how far it is."""
    with st.container(key=f"system_doing_{task.kind}"):
        st.markdown(f"{text} :gray[{int(time.monotonic() - task.started)} s]")


def failure(error: LecternError) -> None:
    """Why it did not work, and what to do."""
    st.markdown(f":red[:material/error:] **{words.plain(str(error))}**")
    st.caption(words.plain(error.help))
