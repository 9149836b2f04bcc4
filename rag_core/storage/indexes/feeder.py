"""Threads that work in the background, so that nobody waits for it: indexes follow, dumps are compacted."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from rag_core.errors import LecternError

_log = logging.getLogger(__name__)
# The first page and the first answer need the processor more than what is kept up in the background.
_FIRST_S = 5.0
_EVERY_S = 30.0


class Feeder:
    """Calls `work` when woken, and now and then for what backs off, until stopped. `what` says what it does.

    first_s: how long it waits after the start, where nothing wakes it.
    """

    def __init__(self, what: str, work: Callable[[], None], first_s: float = _FIRST_S) -> None:
        self._what = what
        self._first_s = first_s
        self._work = work
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lectern-feeder", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._woken.set()

    def stop(self) -> None:
        """End the thread after what it is doing."""
        self._stopped.set()
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        self._woken.wait(self._first_s)
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                self._work()
            except LecternError as error:
                _log.warning("%s later: %s", self._what, error)
            self._woken.wait(_EVERY_S)
