"""Threads that work in the background, so that nobody waits for it: indexes follow, dumps are compacted."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from rag_core.errors import LecternError
from rag_core.storage.postgres.database import ConnectionLost
from rag_core.unexpected import stage

_log = logging.getLogger(__name__)
# The first page and the first answer need the processor more than what is kept up in the background.
_FIRST_S = 5.0
_EVERY_S = 30.0


class BackgroundLoop:
    """Calls `work` when woken, and now and then for what backs off, until stopped. `what` says what it does.

    fault: why it does not get on with that, for people; empty while all is well. It goes on trying.
    first_s: how long it waits after the start, where nothing wakes it.
    lull_s: how long nothing more may come before it works, at most `longest_s` after it was woken: many small batches
    while files come cost those who bring them in more than a large one afterwards.
    """

    def __init__(
        self, what: str, work: Callable[[], None], *, first_s: float = _FIRST_S, lull_s: float = 0.0,
        longest_s: float = 0.0,
    ) -> None:  # fmt: skip
        self.fault = ""
        self._what = what
        self._first_s, self._lull_s, self._longest_s = first_s, lull_s, longest_s
        self._work = work
        self._woken = threading.Event()
        self._hurried = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lectern-feeder", daemon=True)
        self._thread.start()

    def wake(self, *, hurry: bool = False) -> None:
        """There is something to do; `hurry`: somebody waits for it, and no lull is waited for."""
        if hurry:
            self._hurried.set()
        self._woken.set()

    def stop(self) -> None:
        """End the thread after what it is doing."""
        self._stopped.set()
        self.wake(hurry=True)
        self._thread.join()

    def _run(self) -> None:
        woken = self._woken.wait(self._first_s)
        while not self._stopped.is_set():
            if woken:
                self._await_lull()
            self._hurried.clear()
            self._woken.clear()
            self._try()
            # One who stops it sets the first before the second, which may have been cleared since.
            woken = self._stopped.is_set() or self._woken.wait(_EVERY_S)

    def _try(self) -> None:
        """Work; whatever goes wrong, the next time may go well."""
        try:
            with stage("background"):
                self._work()
        except ConnectionLost as error:  # which everybody is told who asks for anything
            _log.warning("%s later: %s", self._what, error)
        except LecternError as error:
            self.fault = f"{self._what} later: {error}"
            _log.warning("%s", self.fault)
        else:
            self.fault = ""

    def _await_lull(self) -> None:
        latest = time.monotonic() + self._longest_s
        while not self._hurried.is_set() and (left := latest - time.monotonic()) > 0:
            self._woken.clear()
            if not self._woken.wait(min(self._lull_s, left)):
                return
