"""The jobs of one library: taken, carried out lane by lane, cancelled, resumed, told of."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rag_core.cancellation import Cancellation
from rag_core.domain import Job, JobState, Progress
from rag_core.errors import Cancelled, LecternError
from rag_core.jobs.base import Kind, Request, Store
from rag_core.jobs.keeping import Keeper
from rag_core.jobs.lanes import Lanes
from rag_core.jobs.remembering import forget_oldest, let_go_of_files
from rag_core.jobs.versions import Versions
from rag_core.unexpected import stage

logger = logging.getLogger(__name__)

_CLOSE_S = 10.0


class Jobs:
    """Thread-safe. A lane has a thread as long as it has work."""

    def __init__(self, kinds: Sequence[Kind], store: Store) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._store = store
        self._changed = threading.Condition(threading.RLock())
        self._jobs: dict[str, Job] = {}
        self._lanes = Lanes()
        self._versions = Versions()
        self._private: dict[str, Any] = {}
        self._runs: dict[str, _Run] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._keeper = Keeper(store, self._jobs, self._changed)
        self._ended: Counter[str] = Counter()
        self._resumed = False
        self._closed = False

    def submit(self, kind: str, name: str = "", /, **params: Any) -> Job:
        """Have one piece of work done. Where its lane takes one at a time, the job under way there is returned.

        Raises KeyError for a kind that there is not, LecternError once the library is closed.
        """
        return self.submit_all(kind, [Request(name, params)])[0]

    def submit_all(self, kind: str, requests: Sequence[Request]) -> list[Job]:
        """Have several pieces of work of one kind done, in this order."""
        known = self._kinds[kind]
        with self._changed:
            if self._closed:
                raise LecternError("The library is being closed.", help="Try again in a moment.")
            busy = None if known.queues else self._under_way(known.lane)
            jobs = [busy] if busy else [self._queued(request) or self._enter(kind, request) for request in requests]
        self._keep(at_once=True)
        self._start()
        return jobs

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

    def cancel(self, job_id: str) -> None:
        """Stop a job: at once while it waits, at its next step when it is under way."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or job.finished:
                return
            waiting = job.state == "waiting"
            if waiting:
                self._end(job_id, "cancelled")
            else:
                self._update(job_id, stopping=True)
            for run in self._runs.values():
                if job_id in run.ids:
                    run.kind.cancel(run.token, job)
        if waiting:
            self._drop(self._jobs.get(job_id, job))
        self._keep(at_once=True)

    def retry(self, job_id: str, private: Any = None) -> None:
        """Do once more what failed or was cancelled, as it was asked for; with `private` where that helps."""
        with self._changed:
            if private is not None and job_id in self._jobs and self._jobs[job_id].finished:
                self._private[job_id] = private
            if (again := self._again(job_id)) is not None:
                self._jobs[job_id] = replace(again, created_at=_now())
                self._line_up(job_id)
        self._start()

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

    def resume(self) -> None:
        """Go on with what an earlier process left, in the background; done once per process."""
        with self._changed:
            if self._resumed or self._closed:
                return
            self._resumed = True
        threading.Thread(target=self._resume, name="lectern-resuming", daemon=True).start()

    def shut(self) -> None:
        """Begin nothing more; what is under way goes on until it is stopped by its own means, or by `close`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Stop what is under way and wait for it. What was not ended is as an earlier process leaves it."""
        self.shut()
        with self._changed:
            threads = list(self._threads.values())
            for run in self._runs.values():
                run.token.cancel()
        deadline = time.monotonic() + _CLOSE_S
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(deadline - time.monotonic(), 0.0))
        self._keep(at_once=True)

    def _again(self, job_id: str) -> Job | None:
        job = self._jobs.get(job_id)
        return self._kinds[job.kind].again(job, self._private.get(job_id)) if job and job.finished else None

    def _enter(self, kind: str, request: Request, *, resumed: bool = False) -> Job:
        job = Job(
            request.id or uuid.uuid4().hex, kind, request.name, dict(request.params),
            document_id=request.document_id, resumed=resumed, created_at=_now(),
        )  # fmt: skip
        self._jobs.pop(job.id, None)  # what is asked for again comes last
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

    def _start(self) -> None:
        """Give each lane that has work a thread."""
        with self._changed:
            for lane in self._lanes if not self._closed else ():
                if lane not in self._threads:
                    name = f"lectern-{lane}"
                    self._threads[lane] = threading.Thread(target=self._work, args=(lane,), name=name, daemon=True)
                    self._threads[lane].start()

    def _line_up(self, job_id: str) -> None:
        """A job waits from now on, in the lane that is its own now."""
        job = self._jobs[job_id]
        for run in self._runs.values():
            run.ids.discard(job_id)  # one that ended it and is not through yet
        self._lanes.put(job_id, self._kinds[job.kind].lane_of(job))
        self._touch(job_id)

    def _work(self, lane: str) -> None:
        while True:
            with self._changed:
                run = None if self._closed else self._next(lane)
                if run is None:
                    self._threads.pop(lane, None)
                    return
                self._runs[lane] = run
            self._carry_out(run)
            with self._changed:
                del self._runs[lane]
            self._keep(at_once=True)
            self._start()

    def _next(self, lane: str) -> _Run | None:
        waiting = [self._jobs[job_id] for job_id in self._lanes.of(lane)]
        if not waiting:
            return None
        kind = self._kinds[waiting[0].kind]
        alike = [job for job in waiting if job.kind == kind.name]
        batch: tuple[Job, ...] = (alike[0],)
        with suppress(LecternError), stage("job batch"):  # or whichever is at fault fails alone
            batch = tuple(kind.batch(alike))
        self._lanes.take(*(job.id for job in batch))
        return _Run(self, kind, batch)

    def _carry_out(self, run: _Run) -> None:
        error: LecternError | None = None
        state: JobState = "failed"
        try:
            with stage("job", *run.ids):
                run.kind.run(run)
        except LecternError as raised:
            error, state = raised, "cancelled" if isinstance(raised, Cancelled) else "failed"
        with self._changed:
            for job_id in () if self._closed else run.ids:
                if job_id in self._jobs and not self._jobs[job_id].finished:
                    self._end(job_id, state, error=error or LecternError("It ended early.", help="Try again."))

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
        self._update(job_id, state=state, ended_at=_now(), stopping=False, **changes)
        if job_id in self._private:
            let_go_of_files(self._jobs, self._private)

    def _touch(self, job_id: str) -> None:
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

    def _drop(self, job: Job) -> None:
        try:
            with stage("drop"):
                self._kinds[job.kind].dropped(job)
        except LecternError as error:
            logger.warning("What was cancelled could not be undone: %s", error)
            with self._changed:
                if job.id in self._jobs:
                    self._update(job.id, state="failed", error=error)

    def _keep(self, *, at_once: bool = False) -> None:
        if self._keeper.keep(at_once=at_once):
            with self._changed:
                forget_oldest(self._jobs, self._private, self._keeper.unkept)
                self._versions.forget(self._jobs, len(self._jobs))

    def _resume(self) -> None:
        try:
            with stage("resumption"):
                self._take_up()
        except LecternError as error:
            logger.warning("What an earlier process left is looked for again: %s", error)
            self._resumed = False
        self._keep(at_once=True)
        self._start()

    def _take_up(self) -> None:
        left = self._store.unfinished()
        with self._changed:
            for job in left:
                if job.id not in self._jobs and job.kind in self._kinds:
                    self._revive(job)
        for name, kind in self._kinds.items():
            for request in kind.left(self.all(name)):
                with self._changed:
                    self._enter(name, request, resumed=True)

    def _revive(self, job: Job) -> None:
        self._jobs[job.id] = replace(job, state="waiting", resumed=True, stopping=False, progress=Progress("waiting"))
        if self._kinds[job.kind].can_resume(job):
            self._line_up(job.id)
            return
        error = LecternError("Lectern ended before this did.", help="Start it again.")
        self._end(job.id, "failed", error=error)


class _Run:
    """Jobs that are carried out together: what `base.Run` asks for."""

    def __init__(self, runner: Jobs, kind: Kind, jobs: tuple[Job, ...]) -> None:
        self.kind = kind
        self.jobs = jobs
        self.ids = {job.id for job in jobs}
        self.token = Cancellation()
        self._runner = runner

    def private(self, job_id: str) -> Any:
        with self._runner._changed:
            return self._runner._private.get(job_id)

    def tell(self, job_id: str, progress: Progress, **changes: Any) -> Job | None:
        with self._runner._changed:
            job = self._runner._jobs.get(job_id)
            if job is None or job.finished:
                return job
            if job.state == "waiting":
                changes |= {"state": "running", "began_at": job.began_at or _now()}
            if job.progress.stage != progress.stage or job.state == "waiting":
                changes["mark"] = (time.monotonic(), progress.done)
            job = self._runner._update(job_id, progress=progress, **changes)
        self._runner._keep()
        return job

    def put_back(self, job_id: str, **changes: Any) -> Job | None:
        with self._runner._changed:
            job = self._runner._jobs.get(job_id)
            if job is None or job.finished:
                return job
            job = self._runner._update(job_id, state="waiting", **changes)
            self._runner._line_up(job_id)
        self._runner._start()
        return job

    def end(self, job_id: str, state: JobState, **changes: Any) -> None:
        with self._runner._changed:
            job = self._runner._jobs.get(job_id)
            # What is stopped because the library is closed goes on at the next start.
            if job is not None and not job.finished and not (self._runner._closed and state == "cancelled"):
                self._runner._end(job_id, state, **changes)


def _now() -> datetime:
    return datetime.now(UTC)
