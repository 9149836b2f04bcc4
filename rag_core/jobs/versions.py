"""What changed since somebody looked: a number for every change, and the last one of each job."""

from __future__ import annotations

from collections.abc import Container
from itertools import takewhile

_ROOM = 1_000


class Versions:
    """Jobs by id, each with the number of its last change. Not thread-safe by itself."""

    def __init__(self) -> None:
        self.now = 0
        self._last: dict[str, int] = {}  # the latest change last

    def touch(self, *ids: str) -> None:
        """Something changed: these jobs, or which there are."""
        self.now += 1
        for job_id in ids:
            self._last.pop(job_id, None)
            self._last[job_id] = self.now

    def since(self, version: int) -> list[str]:
        """The jobs that changed after that, the earliest change first."""
        return [*takewhile(lambda job_id: self._last[job_id] > version, reversed(self._last))][::-1]

    def forget(self, known: Container[str], count: int) -> None:
        """Forget the jobs that are not known any more, once they are many beside the `count` that are."""
        if len(self._last) > 2 * count + _ROOM:
            self._last = {job_id: version for job_id, version in self._last.items() if job_id in known}
