"""A token by which one thread asks another to stop, wholly or for one source."""

from __future__ import annotations

import threading


class Cancellation:
    """Thread-safe. `cancel()` stops everything, `cancel(source)` that source alone."""

    def __init__(self) -> None:
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
