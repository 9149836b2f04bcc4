"""What a kind of job is, and what it is given to work with.

A kind of job is one class, or one `Plain`, and one line in `rag_core/jobs/kinds.py`. What it makes is one of
`rag_core.domain.jobs.JobResult`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag_core.cancellation import Cancellation
from rag_core.domain import Job, Progress
from rag_core.errors import LecternError

if TYPE_CHECKING:
    from rag_core.jobs.board import Run


@dataclass(frozen=True, slots=True)
class Request:
    """What a job is asked with. `params` are kept with it and are JSON; `private` (bytes, a password) never is."""

    name: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    private: Any = field(default=None, repr=False)
    document_id: str = ""
    id: str = ""


class Kind:
    """A kind of job: what its name and lane are, and how it is carried out.

    Jobs of one lane are carried out one after another. Where `queues` is not set, a lane takes one job at a time and
    another one asked for meanwhile is the one under way. What `resumes` goes on at the next start when Lectern ended.
    """

    name: str = ""
    lane: str = ""
    queues: bool = False
    resumes: bool = False

    def lane_of(self, job: Job) -> str:
        """The lane that a job waits in now."""
        return self.lane

    def batch(self, waiting: Sequence[Job]) -> Sequence[Job]:
        """Those of the waiting jobs, the first among them, that are carried out together."""
        return waiting[:1]

    def run(self, run: Run) -> None:
        """Carry jobs out. What is not ended when this returns has failed. Raises LecternError for all of them."""
        raise NotImplementedError

    def left(self, known: Collection[Job]) -> Iterable[Request]:
        """What an earlier process left that has no job."""
        return ()

    def can_take(self, job: Job) -> bool:
        """Whether a job that another process put or left can be carried out here."""
        return True

    def can_resume(self, job: Job) -> bool:
        """Whether a job that an earlier process left can go on."""
        return self.resumes

    def cancel(self, token: Cancellation, job: Job) -> None:
        """Ask for a stop of a job that is under way."""
        token.cancel()

    def lost(self, token: Cancellation, job: Job) -> None:
        """Another process has taken a job that is under way here; what is committed for it would be refused."""
        token.cancel()

    def given_up(self, job: Job, error: LecternError) -> None:
        """A job was begun again and again, and is left to the user."""

    def again(self, job: Job, private: Any) -> Job | None:
        """A job to be done once more, as it waits then; None where it cannot be. `private` is what is left of that."""
        return Job(job.id, job.kind, job.name, job.params)

    def dropped(self, job: Job) -> None:
        """A job was cancelled while it waited."""


class Plain(Kind):
    """A kind whose jobs are one call each: `work(job, token)` returns the result or yields steps, the last of which is
    the result."""

    def __init__(
        self,
        name: str,
        lane: str,
        work: Callable[[Job, Cancellation], Any],
        *,
        resumes: bool = False,
    ) -> None:
        self.name = name
        self.lane = lane
        self.resumes = resumes
        self._work = work

    def run(self, run: Run) -> None:
        """Carry out the one job."""
        (job,) = run.jobs
        run.tell(job.id, Progress(""))
        made = self._work(job, run.token)
        if isinstance(made, Iterator):
            last = Progress("done")
            for last in made:
                run.tell(job.id, last)
            made = last
        stopped = isinstance(made, Progress) and made.stage == "cancelled"
        run.end(job.id, "cancelled" if stopped else "done", result=made)
