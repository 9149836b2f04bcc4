"""A second thread for work that can be halved. One search has it at a time; another does both halves itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


class Halves:
    """Does two things at once where its thread is free. Thread-safe; the thread is started when it is first needed."""

    def __init__(self) -> None:
        self._free = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    def both(self, here: Callable[[], Result], there: Callable[[], Result]) -> tuple[Result, Result]:
        """The results of both. What either raises is raised, once both have ended."""
        if not self._free.acquire(blocking=False):
            return here(), there()
        try:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, thread_name_prefix="search")
            other = self._executor.submit(there)
            try:
                found = here()
            finally:
                other.exception()
            return found, other.result()
        finally:
            self._free.release()


HALVES = Halves()
