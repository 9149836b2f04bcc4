"""The board of runs: one thread carries them out, every session sees how far they are."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pages.parts.tasks import LEAST_S
from rag_core.cancellation import Cancellation
from rag_core.domain import Progress
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Batch:
    """Runs that are carried out together, and the token that stops them."""

    run_ids: tuple[str, ...]
    token: Cancellation = field(default_factory=Cancellation)
    stopping: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is. `since` is when its stage began (seconds of the steady clock), `before` what was
    done by then."""

    progress: Progress
    since: float
    before: int

    @property
    def left_s(self) -> float | None:
        """How long the stage still takes at its pace, seconds; None while that cannot be told."""
        spent, done = time.monotonic() - self.since, self.progress.done - self.before
        if done <= 0 or spent < LEAST_S:
            return None
        return spent / done * (self.progress.total - self.progress.done)


class RunBoard:
    """Thread-safe. Batches are carried out in the order in which they came; the runs of one take turns.

    Nothing is stopped when Lectern ends: what was left goes on at the next start.
    """

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._batches: list[Batch] = []
        self._worker: threading.Thread | None = None
        self._looked = False
        self._steps: dict[str, Step] = {}
        self.error: LecternError | None = None
        self.resumed: tuple[str, ...] = ()
        self.finished_count = 0

    @property
    def busy(self) -> bool:
        """Whether any run is under way or waits."""
        return bool(self._batches)

    def queued(self) -> frozenset[str]:
        """The runs that are under way or wait here."""
        with self._lock:
            return frozenset(run_id for batch in self._batches for run_id in batch.run_ids)

    def step(self, run_id: str) -> Step | None:
        """How far a run is that is under way."""
        return self._steps.get(run_id)

    def stopping(self, run_id: str) -> bool:
        """Whether a run was asked to stop and has not yet."""
        with self._lock:
            return any(run_id in batch.stopping for batch in self._batches)

    def go(self, run_ids: Sequence[str]) -> None:
        """Carry out runs, or go on with those that were stopped."""
        if not self.busy:
            self.resumed = ()
        self._enqueue(run_ids)

    def stop(self, run_id: str) -> None:
        """Ask one run to stop at its next question; what it has stays."""
        with self._lock:
            for batch in self._batches:
                if run_id in batch.run_ids:
                    batch.stopping.add(run_id)
                    batch.token.cancel(run_id)

    def resume(self) -> None:
        """Go on with what an earlier process left; done once per process."""
        with self._lock:
            if self._looked:
                return
            self._looked = True
        threading.Thread(target=self._look, name="lectern-looking", daemon=True).start()

    def _look(self) -> None:
        try:
            left = [
                run.id for run in reversed(self._library().evaluation.runs()) if run.state in ("waiting", "running")
            ]
            known = self.queued()
            self.resumed = tuple(run_id for run_id in left if run_id not in known)
            self._enqueue(self.resumed)
        except LecternError as error:
            logger.warning("Runs that were left are looked for again: %s", error)
            self._looked = False

    def _enqueue(self, run_ids: Sequence[str]) -> None:
        if not run_ids:
            return
        with self._lock:
            self.error = None
            self._batches.append(Batch(tuple(run_ids)))
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="lectern-evaluating", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._batches:
                    self._worker = None
                    return
                batch = self._batches[0]
            try:
                for step in self._library().evaluation.carry_out(batch.run_ids, cancellation=batch.token):
                    self._tell(step)
            except LecternError as error:
                self.error = error
            except Exception:
                logger.exception("A run ended unexpectedly")
                self.error = LecternError("A run ended unexpectedly.", help="The log says more; then go on with it.")
            with self._lock:
                self._batches.remove(batch)
                self._steps.clear()
                self.finished_count += 1

    def _tell(self, progress: Progress) -> None:
        last = self._steps.get(progress.note)
        if last is not None and last.progress.stage == progress.stage:
            self._steps[progress.note] = replace(last, progress=progress)
        else:
            self._steps[progress.note] = Step(progress, time.monotonic(), progress.done)
