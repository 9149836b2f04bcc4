"""The jobs of one library: taken, carried out lane by lane, cancelled, resumed, told of."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag_core.cancellation import Cancellation
from rag_core.domain import Job, JobState, Progress
from rag_core.errors import Cancelled, LecternError
from rag_core.jobs.base import Kind, Request
from rag_core.jobs.board import Board, Run, now
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from rag_core.storage.postgres.jobs import JobStore

logger = logging.getLogger(__name__)

_CLOSE_S = 10.0
_LOOK_S = 0.5
# How often what another process left without a job is looked for.
_LEFT_S = 10.0
# How often a runner says that it lives, and looks for jobs of one that does so no longer.
_BEAT_S = 5.0
# After so many times that a job was begun and neither ended nor came a step further it is left to the user.
_MOST_ATTEMPTS = 5


class Jobs(Board):
    """Thread-safe. A lane has a thread as long as it has work.

    Each job is taken from the store before it is carried out, and is this runner's while it says that it lives, every
    `beat_s` seconds. What another runner of the same store has taken is followed, and carried out where that one ends.
    Jobs of lanes that this one does not carry out are put into the store for others, and followed there.
    """

    def __init__(
        self, kinds: Sequence[Kind], store: JobStore, beat_s: float = _BEAT_S,
        carries: Callable[[str], bool] = lambda lane: True,
    ) -> None:  # fmt: skip
        super().__init__(kinds, store, carries)
        self._threads: dict[str, threading.Thread] = {}
        self._beat_s = beat_s
        self._watcher: threading.Thread | None = None
        self._resumed = self._took_up = self._draining = False
        self._taken_up_s = 0.0

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

    def cancel(self, job_id: str) -> None:
        """Stop a job: at once while it waits, at its next step when it is under way."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or job.finished:
                return
            waiting, is_away = job.state == "waiting", job_id in self._elsewhere
            if waiting:
                self._end(job_id, "cancelled")
            elif is_away:  # its runner writes how it is
                self._jobs[job_id] = replace(job, stopping=True)
                self._touch(job_id, kept=True)
            if not is_away:
                self._stop(job_id)
        if waiting:
            self._drop(self._jobs.get(job_id, job))
        self._keep(at_once=True)
        if is_away:  # also where it was taken a moment ago
            self._try(lambda: self._store.stop(job_id))

    def _stop(self, job_id: str) -> None:
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or job.stopping:
                return
            for run in self._runs.values():
                if job_id in run.ids:
                    run.kind.cancel(run.token, job)
            if not job.finished:
                self._update(job_id, stopping=True)

    def retry(self, job_id: str, private: Any = None) -> None:
        """Do once more what failed or was cancelled, as it was asked for; with `private` where that helps."""
        with self._changed:
            if private is not None and job_id in self._jobs and self._jobs[job_id].finished:
                self._private[job_id] = private
            if (again := self._again(job_id)) is not None:
                owner = self._keeper.owner if job_id in self._private else ""
                self._jobs[job_id] = replace(again, created_at=now(), owner=owner, token=self._jobs[job_id].token)
                self._line_up(job_id)
        self._keep(at_once=True)
        self._start()

    def follow(self, ids: Collection[str], token: Cancellation) -> Iterator[Job]:
        """Jobs as they change, until all have ended. They are cancelled by the token, or where the caller leaves."""
        version, left = -1, {*ids}
        try:
            while left and not (self._closed or token.is_set()):
                for job_id in filter(token.is_set, tuple(left)):
                    self.cancel(job_id)
                version, changed = self.since(version)
                for job in changed:
                    if job.id in left:
                        left -= {job.id} if job.finished else set()
                        yield job
                left &= self._jobs.keys()
                self.wait(version, _LOOK_S)
        finally:
            for job_id in left:
                if not (self._closed and job_id in self._elsewhere):  # which goes on without this runner
                    self.cancel(job_id)
            with self._changed:
                self._changed.wait_for(lambda: self._closed or not self._unfinished(left), _CLOSE_S)

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

    def drain(self, timeout_s: float) -> bool:
        """Begin nothing more, and wait for the end of what is under way. Returns whether it has come.

        What waits is left to other runners.
        """
        with self._changed:
            self._draining = True
            return self._changed.wait_for(lambda: not self._runs, timeout_s)

    def close(self) -> None:
        """Stop what is under way and wait for it. What was not ended is as an earlier process leaves it."""
        self.shut()
        with self._changed:
            threads = list(self._threads.values())
            for run in self._runs.values():
                run.token.cancel()
            watcher, self._watcher = self._watcher, None
        if watcher is not None:
            self._try(self._store.wake)
            threads.append(watcher)
        deadline = time.monotonic() + _CLOSE_S
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(deadline - time.monotonic(), 0.0))
        self._keep(at_once=True)
        if watcher is not None:
            self._try(lambda: self._store.leave(self._keeper.owner))

    def _start(self) -> None:
        """Give each lane that has work a thread."""
        with self._changed:
            if self._closed or self._draining:
                return
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="lectern-jobs", daemon=True)
                self._watcher.start()
            for lane in self._lanes:
                if lane not in self._threads:
                    name = f"lectern-{lane}"
                    self._threads[lane] = threading.Thread(target=self._work, args=(lane,), name=name, daemon=True)
                    self._threads[lane].start()

    def _work(self, lane: str) -> None:
        while (chosen := self._choose(lane)) is not None:
            if (run := self._taken(lane, *chosen)) is None:
                continue
            self._carry_out(run)
            with self._changed:
                del self._runs[lane]
                self._changed.notify_all()
            self._keep(at_once=True)
            self._start()

    def _choose(self, lane: str) -> tuple[Kind, Sequence[Job]] | None:
        """The jobs of a lane that are to be carried out next; without any, or once it is closed, its thread ends."""
        with self._changed:
            waiting = [self._jobs[job_id] for job_id in self._lanes.of(lane)]
            if self._closed or self._draining or not waiting:
                self._threads.pop(lane, None)
                return None
            kind = self._kinds[waiting[0].kind]
            if waiting[0].attempts > 1:  # whoever began it may have died of it: no other has a part in that
                return kind, waiting[:1]
            alike = [job for job in waiting if job.kind == kind.name and job.attempts <= 1]
            with suppress(LecternError), stage("job batch"):  # or whichever is at fault fails alone
                return kind, kind.batch(alike)
            return kind, alike[:1]

    def _taken(self, lane: str, kind: Kind, batch: Sequence[Job]) -> Run | None:
        """A run of those of some jobs that could be taken. Those that another runner has are followed from now on."""
        runs: list[Run] = []

        def taken(leases: Mapping[str, tuple[int, int]]) -> None:
            with self._changed:
                for job_id, (token, attempts) in leases.items():
                    if job := self._jobs.get(job_id):
                        self._jobs[job_id] = replace(job, owner=self._keeper.owner, token=token, attempts=attempts)
                waiting = {job.id for job in batch}.intersection(self._lanes.of(lane))
                if ours := [self._jobs[job.id] for job in batch if job.id in waiting & leases.keys()]:
                    runs.append(Run(self, kind, ours))
                    self._runs[lane] = runs[0]
                self._elsewhere |= waiting - leases.keys() - self._keeper.unkept
                self._lanes.take(*(job.id for job in ours), *self._elsewhere)

        if self._try(lambda: self._keeper.take([job.id for job in batch], taken)) and runs:
            return runs[0]
        with self._changed:
            self._changed.wait_for(lambda: self._closed or batch[0].id not in self._lanes.of(lane), self._beat_s)
        return None

    def _carry_out(self, run: Run) -> None:
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

    def _drop(self, job: Job) -> None:
        try:
            with stage("drop"):
                self._kinds[job.kind].dropped(job)
        except LecternError as error:
            logger.warning("What was cancelled could not be undone: %s", error)
            with self._changed:
                if job.id in self._jobs:
                    self._update(job.id, state="failed", error=error)

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
        self._look(resumed=True)
        self._take_up_left()
        self._took_up = True

    def _take_up_left(self) -> None:
        """Have jobs for what was begun without one by a process that is gone."""
        self._taken_up_s = time.monotonic()
        for name, kind in self._kinds.items():
            for request in kind.left(self.all(name)):
                with self._changed:
                    self._enter(name, request, resumed=True)

    def _revive(self, job: Job, resumed: bool) -> None:
        """Have a job wait here that no runner has who lives. resumed: those of before this runner are gone."""
        begun = resumed or bool(job.owner or job.attempts)
        self._jobs[job.id] = replace(job, state="waiting", resumed=begun, owner="", progress=Progress("waiting"))
        if begun and not self._kinds[job.kind].can_resume(job):
            self._end(job.id, "failed", error=LecternError("Lectern ended before this did.", help="Start it again."))
        elif job.attempts >= _MOST_ATTEMPTS:
            told = f"It was begun {job.attempts} times, and Lectern ended each time before it did."
            error = LecternError(told, help="Try it again, or leave it out.")
            self._end(job.id, "failed", error=error)
            self._kinds[job.kind].given_up(job, error)
        else:
            self._line_up(job.id)

    def _watch(self) -> None:
        """Say that this runner lives, and look for what others put, or left as they ended."""
        while not self._closed:
            self._store.listen(self._beat_s)
            if not self._closed:
                self._try(self._beat)

    def _beat(self) -> None:
        with self._changed:
            leases = {
                key: token for run in self._runs.values() for key, token in run.token.leases.items() if key in run.ids
            }
        if taken := self._store.beat(self._keeper.owner, leases):
            self._lose(taken)
        for job_id in self._store.to_stop(self._keeper.owner):
            self._stop(job_id)
        self._keep(at_once=True)
        self._look()
        if self._took_up and time.monotonic() - self._taken_up_s > _LEFT_S:
            self._take_up_left()
        self._start()

    def _look(self, *, resumed: bool = False) -> None:
        """See how the jobs are that other runners have, and take over what they left."""
        with self._changed:
            self._elsewhere &= self._jobs.keys()
            looks = resumed or self._took_up
        wanted = self._keeper.kept(tuple(self._elsewhere))
        free = self._store.free() if looks or wanted else []
        again = {key: job for key, job in self._keeper.kept(free).items() if job.finished}  # elsewhere asked for anew
        found = self._store.some([*wanted, *(key for key in free if looks and (key in again or key not in self._jobs))])
        # Asked behind the rows: one that was taken between would be put back with the token that it was taken with.
        free = self._store.free() if found else []
        for job in found:
            with self._changed:
                is_new = job.id not in self._jobs or self._jobs[job.id] is again.get(job.id)
                if not (is_new or job.id in self._elsewhere):
                    continue
                if job.id in free and self._can_take(job):
                    self._elsewhere.discard(job.id)
                    self._revive(job, resumed)
                elif job.id in wanted and self._jobs.get(job.id) is wanted[job.id]:  # or it was changed meanwhile
                    self._jobs[job.id] = replace(job, stopping=wanted[job.id].stopping and not job.finished)
                    if job.finished:
                        self._elsewhere.discard(job.id)
                    self._touch(job.id, kept=True)

    def _can_take(self, job: Job) -> bool:
        return job.kind in self._kinds and self._is_ours(job) and self._kinds[job.kind].can_take(job)

    def _unfinished(self, ids: Collection[str]) -> bool:
        return any(job_id in self._jobs and not self._jobs[job_id].finished for job_id in ids)

    def _try(self, act: Callable[[], object]) -> bool:
        """Do what can be done later as well. Returns whether it was."""
        try:
            with stage("job leases"):
                act()
        except LecternError as error:
            logger.warning("Jobs wait for their store: %s", error)
            return False
        return True
