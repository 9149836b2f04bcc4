"""Documents of a person's own on their way into the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from rag_core.domain import Job, JobState, Upload
from rag_core.errors import NotAllowed
from rag_core.jobs import Request
from rag_core.jobs.add import OWNER
from rag_core.personal.rights import Part

_KIND = "add"


class PersonalJobs(Part):
    """The jobs that bring in what they send. Those of others are as ids that there are not."""

    def all(self, *kinds: str) -> tuple[Job, ...]:
        """Those of this process."""
        return self._theirs(self._library.jobs.all(_KIND)) if not kinds or _KIND in kinds else ()

    def get(self, job_id: str) -> Job:
        """One of them."""
        for job in self._theirs([self._library.jobs.get(job_id)]):
            return job
        raise KeyError(job_id)

    def busy(self, *kinds: str) -> bool:
        """Whether one of them has not ended."""
        return any(not job.finished for job in self.all(*kinds))

    def ended(self, *kinds: str) -> int:
        """How many have ended and were not dismissed."""
        return sum(job.finished for job in self.all(*kinds))

    def submit_all(self, kind: str, requests: Sequence[Request]) -> list[Job]:
        """Have what they send added, and their own documents read, also once more."""
        if kind != _KIND:
            self._refuse()
        return self._library.jobs.submit_all(kind, [self._of_their_own(request) for request in requests])

    def can_retry(self, job_id: str) -> bool:
        """Whether one can be done once more."""
        return self._is_theirs(job_id) and self._library.jobs.can_retry(job_id)

    def retry(self, job_id: str, private: Any = None) -> None:
        """Do one once more."""
        if self._is_theirs(job_id):
            self._library.jobs.retry(job_id, private)

    def cancel(self, job_id: str) -> None:
        """Stop one."""
        if self._is_theirs(job_id):
            self._library.jobs.cancel(job_id)

    def dismiss(self, job_id: str) -> None:
        """Forget one that has ended."""
        if self._is_theirs(job_id):
            self._library.jobs.dismiss(job_id)

    def clear(self, *kinds: str, states: Sequence[JobState] = ("done", "failed", "cancelled")) -> None:
        """Forget those that ended so."""
        for job in self.all(*kinds):
            if job.state in states:
                self._library.jobs.dismiss(job.id)

    def _of_their_own(self, request: Request) -> Request:
        """A request within what they may ask for, noted as theirs. What else it says is left out."""
        given = request.params
        params: dict[str, Any] = {OWNER: self._person}
        if request.document_id:
            self._rights.own(request.document_id)
            params |= {name: given[name] for name in ("retry",) if name in given}
        elif not isinstance(request.private, Upload):
            self._refuse()
        collection = str(given.get("collection", ""))
        if self._library.people.membership(self._person, collection) in ("editor", "owner"):
            params["collection"] = collection
        return replace(request, params=params, id="")

    def _is_theirs(self, job_id: str) -> bool:
        try:
            return bool(self.get(job_id))
        except KeyError:
            return False

    def _theirs(self, jobs: Sequence[Job]) -> tuple[Job, ...]:
        """Those that were asked for by them, or bring in a document of their own."""
        of_nobody = [job.document_id for job in jobs if OWNER not in job.params and job.document_id]
        owned = self._library.people.owned(self._person, of_nobody)
        return tuple(
            job for job in jobs
            if job.kind == _KIND and (job.params.get(OWNER) == self._person or job.document_id in owned)
        )  # fmt: skip

    def _refuse(self) -> NoReturn:
        raise NotAllowed("This is work on the library as a whole.", help="Ask whoever runs it.")
