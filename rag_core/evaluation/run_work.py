"""Runs carried out, one group after another: what a job of the kind `evaluate` does."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import Progress, Run, RunState
from rag_core.errors import Cancelled, LeaseLost, LecternError
from rag_core.evaluation.host import Host

if TYPE_CHECKING:
    from rag_core.evaluation.gold.locating import Locator
    from rag_core.storage import Storage

RESUMED = "It was stopped and went on later: its times are of different moments."
_CHANGED = "The library changed since the run was begun."
_log = logging.getLogger(__name__)


class RunWork:
    """Carries out runs in the thread of whoever calls. Thread-safe: what one call is at, another passes over."""

    def __init__(self, storage: Storage, host: Host, locator: Callable[[], Locator]) -> None:
        self._storage, self._host, self._locator = storage, host, locator
        self._runs = storage.evaluation_runs
        self._choosing = threading.Lock()
        self._under_way: set[str] = set()

    def steps(self, run_ids: Sequence[str] | None, token: Cancellation) -> Iterator[Progress]:
        """See `Evaluation.steps`."""
        runs = self._chosen(run_ids)
        try:
            for run in runs if run_ids is not None else ():
                with suppress(LeaseLost):
                    self._runs.enter(run.id, "waiting", leases=token.leases)
            for together in _together(runs):
                if self._host.closing():
                    return
                yield from in_turns([self._carried(run, token) for run in together])
        except Exception:
            if not self._host.closing():  # or its stores and models were closed under it: the next owner goes on
                raise
        finally:
            self._under_way.difference_update(run.id for run in runs)

    def cancel(self, run_id: str) -> None:
        """Have a run that nobody carries out count as cancelled; one that is not there is left."""
        run = self._runs.get(run_id)
        if run is not None and run.state in ("waiting", "running"):
            self._runs.enter(run_id, "cancelled")

    def _chosen(self, run_ids: Sequence[str] | None) -> list[Run]:
        """These runs, or all that were not ended, the oldest first, without those that another call is at."""
        with self._choosing:
            runs = [
                run
                for run in reversed(self._runs.all())
                if (run.id in run_ids if run_ids is not None else run.state in ("waiting", "running"))
                and run.id not in self._under_way
            ]
            self._under_way.update(run.id for run in runs)
        return runs

    def _carried(self, run: Run, token: Cancellation) -> Iterator[Progress]:
        with suppress(LeaseLost):  # whoever has taken it goes on with it
            if token.is_set() or token.is_set(run.id):
                self._runs.enter(run.id, "cancelled", leases=token.leases)
                return
            self._runs.enter(run.id, "running", leases=token.leases)
            yield from self._done(run, token)

    def _done(self, run: Run, token: Cancellation) -> Iterator[Progress]:
        from rag_core.evaluation.runner import Runner

        runner = Runner(
            self._host, run, self._locator(), self._storage.documents.pages,
            lambda kept: self._runs.keep(run.id, kept, token.leases), token,
        )  # fmt: skip
        state: RunState = "done"
        error = ""
        left = self._runs.missing(run.id)
        if 0 < len(left) < run.total:
            self._runs.note(run.id, [RESUMED])
        try:
            yield from runner.steps(left)
        except LeaseLost:
            raise
        except Cancelled:
            state = "cancelled"
        except LecternError as problem:
            state, error = "failed", f"{problem} {problem.help}".strip()
        except Exception as problem:  # noqa: BLE001  it is logged, and the run marked
            _log.exception("A run ended unexpectedly")
            # One that is not marked would come back at every start, before all others.
            state, error = "failed", f"It ended unexpectedly: {problem!r}. The log says more."
        if state == "done" or not self._host.closing():  # or the next owner goes on with it
            self._finish(run, state, error, token)

    def _finish(self, run: Run, state: RunState, error: str, token: Cancellation) -> None:
        from rag_core.evaluation.measuring.comparing import summarise

        self._runs.summarise(run.id, summarise(self._runs.results(run.id, passages=False), seed=run.seed))
        if library_now(self._storage) != run.library and (now := self._runs.get(run.id)):
            self._runs.note(run.id, [*now.notes, _CHANGED])
        self._runs.enter(run.id, state, error, token.leases)


def _together(runs: Sequence[Run]) -> Iterable[list[Run]]:
    """The runs in the order in which they are carried out: those that were begun together and need the same model."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.group, *_model(run)), []).append(run)
    return groups.values()


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
    return tuple(str(value) for key, value in run.settings.items() if run.answers and key.startswith("generation."))
