"""The instant at which a library changes its vectors, seen by those who search meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class VectorGeneration:
    """A number that changes when the vectors do. Who searched across a change searches again; nobody holds a lock."""

    def __init__(self) -> None:
        self._number = 0
        self._steady = threading.Event()
        self._steady.set()

    def now(self) -> int:
        """The present number; waits while a change is being made, which takes a commit."""
        self._steady.wait()
        return self._number

    def passed(self, number: int) -> bool:
        """Whether a change began since `now` gave that number."""
        return self._number != number or not self._steady.is_set()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around the change itself: commit, scanner and model."""
        self._steady.clear()
        self._number += 1
        try:
            yield
        finally:
            self._steady.set()
