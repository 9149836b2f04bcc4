"""Questions before documents: whatever is added or follows in the background leaves the processor to whoever waits for
an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# A batch waits no longer, or a crowd that asks without a pause would keep documents out for good.
_LONGEST_S = 0.5
_STILL_SHARE = 0.8
# What takes longer is a language model's writing, beside which documents go on.
_HEEDED_S = 5.0


class Precedence:
    """Who reads for a question, and who has time. Thread-safe.

    longest_s: how long a batch gives way at most.
    """

    def __init__(self, longest_s: float = _LONGEST_S) -> None:
        self._longest_s = longest_s
        self._changed = threading.Condition()
        self._began: dict[object, float] = {}

    @contextmanager
    def question(self) -> Iterator[None]:
        """Something is searched or read meanwhile that an answer waits for."""
        key = object()
        with self._changed:
            self._began[key] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                del self._began[key]
                self._changed.notify_all()

    def give_way(self) -> None:
        """Wait while there is a question."""
        with self._changed:
            self._changed.wait_for(self._has_time, self._longest_s)

    def is_asked(self) -> bool:
        """Whether there is a question that work of low priority stands still for: in four fifths of each second, or a
        crowd that asks without a pause would stop it for good."""
        with self._changed:
            return time.monotonic() % 1.0 < _STILL_SHARE and not self._has_time()

    def _has_time(self) -> bool:
        now = time.monotonic()
        return all(now - began >= _HEEDED_S for began in self._began.values())


PRECEDENCE = Precedence()
"""That of all that this process does: it shares its processor."""
