"""What was removed or replaced while searches go on, so that none returns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable


class Removals:
    """The keys that went since the oldest search began that still goes on; older ones concern nobody.

    Not thread-safe by itself: the scanner holds its lock.
    """

    def __init__(self) -> None:
        # When each key went last, counted in such events, the latest last.
        self._gone: dict[str, int] = {}
        self._events = 0
        self._searches: Counter[int] = Counter()

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._gone)

    def note(self, keys: Iterable[str]) -> None:
        """Keys that go in this moment, together."""
        self._events += 1
        if self._searches:
            for key in keys:
                self._gone.pop(key, None)
                self._gone[key] = self._events

    def begin(self) -> int:
        """A search begins; returns the event after which it sees things."""
        self._searches[self._events] += 1
        return self._events

    def end(self, event: int) -> None:
        """A search that began then has ended."""
        self._searches[event] -= 1
        if self._searches[event]:
            return
        del self._searches[event]
        oldest = min(self._searches, default=self._events)
        for key in list(self._gone):
            if self._gone[key] > oldest:
                break
            del self._gone[key]

    def none_of(self, keys: Collection[str], event: int) -> bool:
        """Whether none of these went since that event."""
        return all(self._gone.get(key, 0) <= event for key in keys)
