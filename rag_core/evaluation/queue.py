"""The runs that wait or were left in their middle, carried out one group after another."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import Progress, Run, RunState
from rag_core.errors import Cancelled, LecternError
from rag_core.evaluation.host import Host

if TYPE_CHECKING:
    from rag_core.evaluation.gold.locating import Locator
    from rag_core.storage import Storage

RESUMED = "It was stopped and went on later: its times are of different moments."
_CHANGED = "The library changed since the run was begun."
_POLL_S = 0.2
_log = logging.getLogger(__name__)


class RunQueue:
    """Carries out the runs of one library, one caller at a time. Thread-safe."""

    def __init__(self, storage: Storage, host: Host, locator: Callable[[], Locator]) -> None:
        self._storage, self._host, self._locator = storage, host, locator
        self._runs = storage.evaluation_runs
        self._turn = threading.Lock()

    def carry_out(self, run_ids: Sequence[str] | None, token: Cancellation) -> Iterator[Progress]:
        """See `Evaluation.carry_out`."""
        while not self._turn.acquire(timeout=_POLL_S):
            if self._host.closing():
                return
            if token.is_set():
                for run_id in run_ids or ():
                    self.cancel(run_id)
                return
            yield Progress("waiting")
        try:
            yield from self._all_carried(run_ids, token)
        except Exception:
            if not self._host.closing():  # or its stores and models were closed under it: the next owner goes on
                raise
        finally:
            self._turn.release()

    def cancel(self, run_id: str) -> None:
        """Have a run that nobody carries out count as cancelled; one that is not there is left."""
        run = self._runs.get(run_id)
        if run is not None and run.state in ("waiting", "running"):
            self._runs.enter(run_id, "cancelled")

    def _all_carried(self, run_ids: Sequence[str] | None, token: Cancellation) -> Iterator[Progress]:
        for run_id in run_ids or ():
            self._runs.enter(run_id, "waiting")
        done: set[str] = set()
        while not self._host.closing() and (runs := self._next(run_ids, done)):
            done.update(run.id for run in runs)
            yield from in_turns([self._carried(run, token) for run in runs])

    def _next(self, run_ids: Sequence[str] | None, done: Collection[str]) -> list[Run]:
        """The runs to do next: the oldest that is left, and those begun with it that need the same model."""
        left = [
            run
            for run in reversed(self._runs.all())
            if (run_ids is None or run.id in run_ids) and run.id not in done and run.state in ("waiting", "running")
        ]
        return [run for run in left if (run.group, _model(run)) == (left[0].group, _model(left[0]))]

    def _carried(self, run: Run, token: Cancellation) -> Iterator[Progress]:
        from rag_core.evaluation.runner import Runner

        if token.is_set() or token.is_set(run.id):
            self._runs.enter(run.id, "cancelled")
            return
        self._runs.enter(run.id, "running")
        runner = Runner(
            self._host, run, self._locator(), self._storage.documents.pages,
            lambda kept: self._runs.keep(run.id, kept), token,
        )  # fmt: skip
        state: RunState = "done"
        error = ""
        left = self._runs.missing(run.id)
        if 0 < len(left) < run.total:
            self._runs.note(run.id, [RESUMED])
        try:
            yield from runner.steps(left)
        except Cancelled:
            if self._host.closing():
                return  # the next owner goes on with it
            state = "cancelled"
        except LecternError as problem:
            if self._host.closing():
                return
            state, error = "failed", f"{problem} {problem.help}".strip()
        except Exception as problem:  # noqa: BLE001  it is logged, and the run marked
            _log.exception("A run ended unexpectedly")
            if self._host.closing():
                return
            # One that is not marked would come back at every start, before all others.
            state, error = "failed", f"It ended unexpectedly: {problem!r}. The log says more."
        self._finish(run, state, error)

    def _finish(self, run: Run, state: RunState, error: str) -> None:
        from rag_core.evaluation.measuring.comparing import summarise

        self._runs.summarise(run.id, summarise(self._runs.results(run.id, passages=False), seed=run.seed))
        if library_now(self._storage) != run.library and (now := self._runs.get(run.id)):
            self._runs.note(run.id, [*now.notes, _CHANGED])
        self._runs.enter(run.id, state, error)


def library_now(storage: Storage) -> dict[str, object]:
    """What the library holds: whoever compares two runs sees whether it was the same."""
    ready, chunks, _, _ = storage.documents.counts()
    ids = storage.documents.ready_ids()
    digest = hashlib.sha256(" ".join(f"{key}:{generation}" for key, generation in ids.items()).encode())
    profile = storage.documents.profile()
    return {
        "documents": ready, "chunks": chunks, "digest": digest.hexdigest()[:16],
        "profile": profile.id if profile else "", "embedding": profile.name if profile else "",
    }  # fmt: skip


def in_turns(works: Sequence[Iterator[Progress]]) -> Iterator[Progress]:
    """The steps of several works, one of each in turn; each round begins with another."""
    left = list(works)
    try:
        while left:
            for work in tuple(left):
                step = next(work, None)
                if step is None:
                    left.remove(work)
                else:
                    yield step
            left = left[1:] + left[:1]
    finally:
        for work in left:
            if isinstance(work, Generator):
                work.close()


def _model(run: Run) -> tuple[object, ...]:
    """What must be the same for two runs to take turns."""
    return tuple(value for key, value in run.settings.items() if key.startswith("generation.")) if run.answers else ()
