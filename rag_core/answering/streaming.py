"""From a thread that works to a generator that is read: failures come across, and an idle reader stops the work."""

from __future__ import annotations

import atexit
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from rag_core.domain import Step, StreamEvent
from rag_core.errors import Cancelled

if TYPE_CHECKING:
    from rag_core.answering.written import Written

Event = TypeVar("Event")
Result = TypeVar("Result")

_POLL_S = 0.05
_JOIN_S = 0.5
_LAST_S = 5.0
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _wait_for_the_last() -> None:
    """A thread that comes back from a model's native code when Python has gone aborts the process (SIGABRT)."""
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(_LAST_S)


class Worker(Generic[Event, Result]):
    """Runs `work(emit, stopping)` in a thread of its own; `events` gives what was emitted, `result` what it returned.

    What the work raises is raised to the reader after the last event. Leaving the `with` block asks the work to end
    (`stopping()` is then true) and waits for it, at most half a second: what waits for a silent server ends by itself.
    """

    def __init__(self, work: Callable[[Callable[[Event], None], Callable[[], bool]], Result]) -> None:
        self._work = work
        self.result: Result | None = None
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lectern-answer", daemon=True)

    def __enter__(self) -> Worker[Event, Result]:
        self._thread.start()
        _threads.add(self._thread)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join(_JOIN_S)

    def events(self, cancelled: Callable[[], bool]) -> Iterator[Event]:
        """Yield events as they come; ends early, without waiting for the work, once `cancelled` says so.

        Raises whatever the work raised.
        """
        while not cancelled():
            try:
                event = self._events.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if event is None:
                if self._error is not None:
                    raise self._error
                return
            yield event
        self._stop.set()

    def _run(self) -> None:
        try:
            self.result = self._work(self._events.put, self._stop.is_set)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the events are read
            self._error = error
        finally:
            self._events.put(None)


class Progress:
    """What a strategy tells while it is at work, in the worker's thread; each call raises Cancelled after a stop."""

    def __init__(
        self,
        emit: Callable[[StreamEvent | Written | str], None],
        stopping: Callable[[], bool],
        latency_ms: dict[str, float],
    ) -> None:
        self._emit = emit
        self.stopping = stopping
        self._latency_ms = latency_ms
        self._since = time.perf_counter()

    def check(self) -> None:
        """Raise Cancelled where whoever reads has stopped."""
        if self.stopping():
            raise Cancelled("The answer was stopped.")

    def tell(self, event: StreamEvent | Written | str) -> None:
        """A stage or step; what is written so far, once before its text and again as it grows; or text."""
        self.check()
        self._emit(event)

    def tell_stage(self, stage: str, step: Step | None = None) -> None:
        """What is done now."""
        self.tell(StreamEvent(stage=stage, step=step))

    def lap(self, stage: str) -> None:
        """Note the milliseconds since the last lap."""
        now = time.perf_counter()
        self._latency_ms[stage] = round((now - self._since) * 1000, 2)
        self._since = now
