"""Jobs written to the store as they change, and taken from it; a store that fails stops nothing under way."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from rag_core.domain import Job
from rag_core.errors import LecternError
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from rag_core.storage.postgres.jobs import JobStore

_log = logging.getLogger(__name__)
# How often what changed is kept while work goes on: the truth about documents and runs is kept by themselves.
_KEEP_S = 0.5


class Keeper:
    """Writes what changed. `jobs` are all there are, which whoever holds `turn` changes.

    lost: told of jobs that another process has taken, whatever this one thinks of them.
    """

    def __init__(
        self, store: JobStore, jobs: Mapping[str, Job], turn: AbstractContextManager[object],
        lost: Callable[[Collection[str]], None],
    ) -> None:  # fmt: skip
        self._store, self._jobs, self._turn, self._lost = store, jobs, turn, lost
        self.owner = uuid.uuid4().hex
        self.unkept: set[str] = set()
        """The jobs that the store does not have as they are; changed by whoever holds the turn."""
        self._keeping = threading.Lock()
        self._kept_s = 0.0

    def keep(self, *, at_once: bool = False) -> bool:
        """Write what changed, unless that was done a moment ago. Returns whether it was tried.

        One thread after another, so that none finds nothing to keep while another one is failing to.
        """
        if not at_once and time.monotonic() - self._kept_s < _KEEP_S:
            return False
        with self._keeping:
            refused = self._put()
        if refused:
            self._lost(refused)
        return True

    def take(self, ids: Sequence[str], taken: Callable[[Mapping[str, tuple[int, int]]], None]) -> None:
        """Take those of some jobs that are free; `taken` is told, before anything is written of them.

        Raises StoreUnavailable.
        """
        with self._keeping:
            refused = self._put()
            taken(self._store.take([job_id for job_id in ids if job_id not in self.unkept], self.owner))
        if refused:
            self._lost(refused)

    def kept(self, ids: Collection[str]) -> dict[str, Job]:
        """Those of some jobs that the store has as they are now."""
        with self._keeping, self._turn:  # none is on its way to the store
            return {key: self._jobs[key] for key in ids if key in self._jobs and key not in self.unkept}

    def remove(self, ids: Sequence[str]) -> None:
        """Forget jobs in the store."""
        with self._keeping:
            self._is_done(lambda: self._store.remove(ids))

    def _put(self) -> Collection[str]:
        with self._turn:
            self._kept_s = time.monotonic()
            jobs = [self._jobs[job_id] for job_id in self.unkept if job_id in self._jobs]
            self.unkept.clear()
        refused: list[str] = []
        if jobs and not self._is_done(lambda: refused.extend(self._store.put(jobs))):
            with self._turn:
                self.unkept.update(job.id for job in jobs)
        return refused

    def _is_done(self, write: Callable[[], None]) -> bool:
        try:
            with stage("job store"):
                write()
        except LecternError as error:
            _log.warning("Jobs are not kept at present: %s", error)
            return False
        return True
