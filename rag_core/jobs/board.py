"""The jobs of one runner as they stand: looked at, waited for, changed one at a time, kept."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rag_core.cancellation import Cancellation
from rag_core.domain import Job, JobState, Progress
from rag_core.jobs.base import Kind, Request
from rag_core.jobs.keeping import Keeper
from rag_core.jobs.lanes import Lanes
from rag_core.jobs.remembering import forget_oldest, let_go_of_files
from rag_core.jobs.versions import Versions

if TYPE_CHECKING:
    from rag_core.storage.postgres.jobs import JobStore

logger = logging.getLogger(__name__)


class Board:
    """Thread-safe. Whoever changes more than one thing holds `_changed` meanwhile."""

    def __init__(self, kinds: Sequence[Kind], store: JobStore, carries: Callable[[str], bool]) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._carries = carries
        self._store = store
        self._changed = threading.Condition(threading.RLock())
        self._jobs: dict[str, Job] = {}
        self._lanes = Lanes()
        self._versions = Versions()
        self._private: dict[str, Any] = {}
        self._runs: dict[str, Run] = {}
        self._keeper = Keeper(store, self._jobs, self._changed, self._lose)
        self._elsewhere: set[str] = set()  # those that another runner has
        self._ended: Counter[str] = Counter()
        self._closed = False

    def all(self, *kinds: str) -> tuple[Job, ...]:
        """The jobs of this process, and those it resumed, in the order in which they came; of those that have ended
        the last ones, of which there may be thousands."""
        with self._changed:
            return tuple(job for job in self._jobs.values() if not kinds or job.kind in kinds)

    def past(self, limit: int = 100) -> list[Job]:
        """The last jobs, those of earlier processes among them, the newest first. Raises StoreUnavailable."""
        self._keep(at_once=True)
        return self._store.past(limit)

    def get(self, job_id: str) -> Job:
        """One job, also of an earlier process. Raises KeyError, StoreUnavailable."""
        with self._changed:
            job = self._jobs.get(job_id)
        job = job or self._store.get(job_id)
        if job is None:
            raise KeyError(job_id)
        return job

    def last(self, *kinds: str) -> Job | None:
        """The job of these kinds that came last."""
        jobs = self.all(*kinds)
        return jobs[-1] if jobs else None

    def busy(self, *kinds: str) -> bool:
        """Whether any job of these kinds waits or is under way."""
        return any(not job.finished for job in self.all(*kinds))

    def ended(self, *kinds: str) -> int:
        """How many jobs of these kinds have ended in this process."""
        with self._changed:
            return sum(count for kind, count in self._ended.items() if not kinds or kind in kinds)

    def wait(self, version: int = -1, timeout_s: float | None = None) -> int:
        """Wait until something changes after `version`; returns the version of now, the same after the time-out."""
        with self._changed:
            self._changed.wait_for(lambda: self._versions.now != version or self._closed, timeout_s)
            return self._versions.now

    def since(self, version: int) -> tuple[int, list[Job]]:
        """The version of now, and the jobs that changed after `version`, the earliest change first."""
        with self._changed:
            changed = [self._jobs[job_id] for job_id in self._versions.since(version) if job_id in self._jobs]
            return self._versions.now, changed

    def can_retry(self, job_id: str) -> bool:
        """Whether a job has ended, and what it was asked with is still there."""
        with self._changed:
            return self._again(job_id) is not None

    def dismiss(self, job_id: str) -> None:
        """Forget a job that has ended. Raises StoreUnavailable where the store alone knows of it."""
        if job_id in self._jobs:
            self._forget([job_id])
        elif (job := self._store.get(job_id)) is not None and job.finished:
            self._store.remove([job_id])

    def clear(self, *kinds: str, states: Sequence[JobState] = ("done", "failed", "cancelled")) -> None:
        """Forget the jobs of these kinds that ended so."""
        self._forget([job.id for job in self.all(*kinds) if job.state in states])

    def _start(self) -> None:
        """Have what waits begun."""
        raise NotImplementedError

    def _again(self, job_id: str) -> Job | None:
        job = self._jobs.get(job_id)
        return self._kinds[job.kind].again(job, self._private.get(job_id)) if job and job.finished else None

    def _enter(self, kind: str, request: Request, *, resumed: bool = False) -> Job:
        before = self._jobs.pop(request.id, None)  # what is asked for again comes last
        job = Job(
            request.id or uuid.uuid4().hex, kind, request.name, dict(request.params),
            document_id=request.document_id, resumed=resumed, created_at=now(),
            owner=self._keeper.owner if request.private is not None else "", token=before.token if before else 0,
        )  # fmt: skip
        self._jobs[job.id] = job
        if request.private is not None:
            self._private[job.id] = request.private
        self._line_up(job.id)
        return job

    def _queued(self, request: Request) -> Job | None:
        job = self._jobs.get(request.id)
        return job if job is not None and not job.finished else None

    def _under_way(self, lane: str) -> Job | None:
        return next(
            (job for job in self._jobs.values() if not job.finished and self._kinds[job.kind].lane_of(job) == lane),
            None,
        )

    def _line_up(self, job_id: str) -> None:
        """A job waits from now on, in the lane that is its own now."""
        job = self._jobs[job_id]
        for run in self._runs.values():
            run.ids.discard(job_id)  # one that ended it and is not through yet
        if self._is_ours(job):
            self._lanes.put(job_id, self._kinds[job.kind].lane_of(job))
        else:
            self._elsewhere.add(job_id)
        self._touch(job_id)

    def _is_ours(self, job: Job) -> bool:
        """Whether a job that waits may be carried out here: its lane is this runner's, or what it was asked with is
        here alone."""
        return job.id in self._private or self._carries(self._kinds[job.kind].lane_of(job))

    def _update(self, job_id: str, **changes: Any) -> Job:
        self._jobs[job_id] = job = replace(self._jobs[job_id], **changes)
        if job.document_id or job.finished:
            self._let_go(job)
        self._touch(job_id)
        return job

    def _let_go(self, job: Job) -> None:
        """What was asked with may have hundreds of megabytes; what never came into the library can be tried again."""
        if job.document_id or job.state == "done":
            self._private.pop(job.id, None)

    def _end(self, job_id: str, state: JobState, **changes: Any) -> None:
        self._ended[self._jobs[job_id].kind] += 1
        self._lanes.take(job_id)
        self._update(job_id, state=state, ended_at=now(), stopping=False, owner="", **changes)
        if job_id in self._private:
            let_go_of_files(self._jobs, self._private)

    def _touch(self, job_id: str, *, kept: bool = False) -> None:
        if not kept:
            self._keeper.unkept.add(job_id)
        self._versions.touch(job_id)
        self._changed.notify_all()

    def _forget(self, ids: Sequence[str]) -> None:
        with self._changed:
            gone = [job_id for job_id in ids if job_id in self._jobs and self._jobs[job_id].finished]
            for job_id in gone:
                del self._jobs[job_id]
                self._private.pop(job_id, None)
            self._keeper.unkept.difference_update(gone)
            self._versions.touch()
            self._changed.notify_all()
        if gone:
            self._keeper.remove(gone)

    def _keep(self, *, at_once: bool = False) -> None:
        if self._keeper.keep(at_once=at_once):
            with self._changed:
                forget_oldest(self._jobs, self._private, self._keeper.unkept)
                self._versions.forget(self._jobs, len(self._jobs))

    def _lose(self, ids: Collection[str]) -> None:
        """Another runner has taken jobs: they are its own, and followed from here."""
        with self._changed:
            for run in self._runs.values():
                for job_id in run.ids.intersection(ids):
                    run.ids.discard(job_id)
                    logger.warning("Another process has taken the job %s.", job_id)
                    run.kind.lost(run.token, self._jobs[job_id])
            self._lanes.take(*ids)
            self._elsewhere.update(job_id for job_id in ids if job_id in self._jobs)
            self._keeper.unkept.difference_update(ids)


class Run:
    """Taken jobs, and how to tell of them. Thread-safe. One that another runner has taken meanwhile is left alone."""

    def __init__(self, runner: Board, kind: Kind, jobs: Sequence[Job]) -> None:
        self._runner = runner
        self.kind = kind
        self.jobs = tuple(jobs)
        self.ids = {job.id for job in jobs}
        """Those that are this run's still."""
        self.token = Cancellation({job.id: job.token for job in jobs})

    def private(self, job_id: str) -> Any:
        """What the job was asked with and is not kept; None where there is nothing (left)."""
        with self._runner._changed:
            return self._runner._private.get(job_id)

    def tell(self, job_id: str, progress: Progress, **changes: Any) -> Job | None:
        """A step of a job. Returns the job as it is now; None for one that was dismissed meanwhile."""
        with self._runner._changed:
            job = self._runner._jobs.get(job_id)
            if job is None or job.finished or job_id not in self.ids:
                return job
            if job.state == "waiting":
                changes |= {"state": "running", "began_at": job.began_at or now()}
            if job.progress.stage != progress.stage or job.state == "waiting":
                changes["mark"] = (time.monotonic(), progress.done)
            job = self._runner._update(job_id, progress=progress, **changes)
        self._runner._keep()
        return job

    def put_back(self, job_id: str, **changes: Any) -> Job | None:
        """Have a job wait again, perhaps in another lane. One that is another runner's by now is as it was."""
        with self._runner._changed:
            if job_id not in self.ids:
                return next(job for job in self.jobs if job.id == job_id)
            job = self._runner._jobs.get(job_id)
            if job is None or job.finished:
                return job
            job = self._runner._update(job_id, state="waiting", owner="", attempts=0, **changes)
            self._runner._line_up(job_id)
        self._runner._start()
        return job

    def end(self, job_id: str, state: JobState, **changes: Any) -> None:
        """A job is done, failed or cancelled. What is stopped as the library is closed goes on at the next start."""
        with self._runner._changed:
            job = self._runner._jobs.get(job_id)
            stopped = self._runner._closed and state == "cancelled"
            if job is not None and not job.finished and job_id in self.ids and not stopped:
                self._runner._end(job_id, state, **changes)


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)
