"""A token by which one thread asks another to stop, wholly or for one source."""

from __future__ import annotations

import threading
from collections.abc import Mapping


class Cancellation:
    """Thread-safe. `cancel()` stops everything, `cancel(source)` that source alone.

    leases: the jobs that the work is done for, by their ids, with the token that each was taken with. What commits the
    outcome of one checks it in that transaction.
    """

    def __init__(self, leases: Mapping[str, int] | None = None) -> None:
        self.leases = leases or {}
        self._all = threading.Event()
        self._sources: set[str] = set()

    def cancel(self, source: str | None = None) -> None:
        """Ask for a stop; work ends at its next unit (page, batch, token)."""
        if source is None:
            self._all.set()
        else:
            self._sources.add(source)

    def is_set(self, source: str | None = None) -> bool:
        """Whether everything, or this source, should stop."""
        return self._all.is_set() or source in self._sources
