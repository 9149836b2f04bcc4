"""Jobs: long work that goes on whoever looks; list, look at, cancel, do again, be told of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field, model_validator
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import there
from rag_core.api.resources.documents import WRITE, Opened
from rag_core.api.responses import Event, streamed, told
from rag_core.api.schema import answers, object_of, sends, shown
from rag_core.api.scoping import Closed
from rag_core.cancellation import Cancellation
from rag_core.domain import Job
from rag_core.domain.serialiser import job_to_json
from rag_core.library import Library

router = APIRouter(prefix="/jobs", tags=["jobs"])
READ, ADMIN = Depends(needs("read")), Depends(needs("admin"))
_LOOK_S = 0.5
_JOB = shown(Job, without=("mark", "owner", "token"), result=object)
# Files come by /documents, runs by /runs; what writes to a path of its own choosing is not asked for from afar.
Kind = Literal["verify", "repair", "reembed", "discard", "rechunk", "download"]


class JobGiven(Closed):
    """Work to be done: its kind, a name to show, and what the kind takes (`{"deep": true}` for verify)."""

    kind: Kind
    name: str = Field(default="", max_length=300)
    params: dict[str, str | bool | int] = Field(default={}, max_length=10)

    @model_validator(mode="after")
    def _says_what(self) -> JobGiven:
        if self.kind == "download" and not isinstance(self.params.get("wanted"), str):
            raise ValueError("a download says what is wanted")
        return self


@router.get("", dependencies=[READ], **answers(object_of("Jobs", jobs=list[_JOB])))  # type: ignore[valid-type]
def jobs(
    request: Request, library: Opened,
    kind: Annotated[list[str], Query()] = [],  # noqa: B006  FastAPI copies it
    past: Annotated[bool, Query(description="those of earlier processes too, the newest first")] = False,
    limit: Annotated[int, Query(ge=1, le=1000, description="of those past")] = 100,
) -> Response:  # fmt: skip
    """The jobs of this process in the order in which they came."""
    found = library.jobs.past(limit) if past else library.jobs.all()
    return told(request, {"jobs": [job_to_json(job) for job in found if not kind or job.kind in kind]})


@router.post("", dependencies=[ADMIN], **answers(_JOB, 202))
def submit(request: Request, library: Opened, given: JobGiven) -> Response:
    """Have some work done; where one of its kind is under way already, that one is answered."""
    params = dict(given.params)
    if given.kind == "download":  # what it may reach is not for the request to say
        params["owner"] = caller_of(request).owner
    return told(request, job_to_json(library.jobs.submit(given.kind, given.name, **params)), 202)


@router.get("/events", dependencies=[READ], **sends("text/event-stream", description="Events `job`"))
def events(request: Request, library: Opened) -> Response:
    """Every job as it is now, and again whenever it changes, until the client leaves."""
    return streamed(request, lambda token: _changes(library, token), waiting=True)


@router.get("/{job_id}", dependencies=[READ], **answers(_JOB))
def one(request: Request, library: Opened, job_id: str) -> Response:
    """One job."""
    with there("job"):
        return told(request, job_to_json(library.jobs.get(job_id)))


@router.post("/{job_id}/cancel", dependencies=[WRITE], **answers(_JOB))
def cancel(request: Request, library: Opened, job_id: str) -> Response:
    """Stop a job: at once while it waits, at its next step when it is under way."""
    with there("job"):
        library.jobs.get(job_id)
        library.jobs.cancel(job_id)
        return told(request, job_to_json(library.jobs.get(job_id)))


@router.post("/{job_id}/retry", dependencies=[WRITE], **answers(_JOB))
def retry(request: Request, library: Opened, job_id: str) -> Response:
    """Do once more what failed or was cancelled."""
    with there("job"):
        library.jobs.get(job_id)
        library.jobs.retry(job_id)
        return told(request, job_to_json(library.jobs.get(job_id)))


@router.delete("/{job_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def dismiss(library: Opened, job_id: str) -> None:
    """Forget a job that has ended."""
    with there("job"):
        library.jobs.get(job_id)
    library.jobs.dismiss(job_id)


def _changes(library: Library, token: Cancellation) -> Iterator[Event]:
    version = -1
    while not token.is_set():
        library.jobs.wait(version, _LOOK_S)
        version, changed = library.jobs.since(version)
        yield from (("job", job_to_json(job)) for job in changed)
