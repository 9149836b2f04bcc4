"""Questions before documents: what is added leaves the processor to whoever waits for an answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# A batch waits no longer, or a crowd that asks without a pause would keep documents out for good.
_LONGEST_S = 0.5


class Precedence:
    """Who reads for a question, and who has time. Thread-safe."""

    def __init__(self, longest_s: float = _LONGEST_S) -> None:
        self._longest_s = longest_s
        self._changed = threading.Condition()
        self._reading = 0

    @contextmanager
    def question(self) -> Iterator[None]:
        """Something is read meanwhile that an answer waits for."""
        with self._changed:
            self._reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    def give_way(self) -> None:
        """Wait while anything is read for a question."""
        with self._changed:
            self._changed.wait_for(lambda: not self._reading, self._longest_s)


PRECEDENCE = Precedence()
"""That of all models of this process: they share its processor."""
