"""Which jobs wait in which lane: finding the next ones costs no look at all the jobs that there are."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rag_core.settings import JobSettings


def carries(settings: JobSettings, lane: str) -> bool:
    """Whether a process carries out a lane: a worker those that it takes, a server those that it does not leave."""
    return _is_among(lane, settings.taken) if settings.taken else not _is_among(lane, settings.left)


def _is_among(lane: str, lanes: Collection[str]) -> bool:
    """Whether it is one of some lanes, or one that goes beside such a one: `adding long` beside `adding`."""
    return any(f"{lane} ".startswith(f"{one} ") for one in lanes)


class Lanes:
    """Jobs by id, each in the lane that it waits in until a run takes it. Not thread-safe by itself."""

    def __init__(self) -> None:
        self._lanes: dict[str, dict[str, None]] = {}
        self._lane_of: dict[str, str] = {}

    def put(self, job_id: str, lane: str) -> None:
        """A job waits from now on, behind all others of that lane."""
        self.take(job_id)
        self._lanes.setdefault(lane, {})[job_id] = None
        self._lane_of[job_id] = lane

    def take(self, *ids: str) -> None:
        """Jobs wait no longer; harmless where they did not."""
        for job_id in ids:
            lane = self._lane_of.pop(job_id, None)
            if lane is not None:
                del self._lanes[lane][job_id]
                if not self._lanes[lane]:
                    del self._lanes[lane]

    def of(self, lane: str) -> list[str]:
        """Those that wait in a lane, in their order."""
        return list(self._lanes.get(lane, ()))

    def __iter__(self) -> Iterator[str]:
        """The lanes in which any job waits."""
        return iter(list(self._lanes))
