"""Language models: which there are, getting more, removing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.resources.documents import READ, Opened
from rag_core.api.responses import Event, streamed, told
from rag_core.api.schema import answers, object_of, sends
from rag_core.api.scoping import Closed
from rag_core.cancellation import Cancellation
from rag_core.domain import ModelFile, ModelStatus
from rag_core.domain.serialiser import to_json
from rag_core.library import Library

router = APIRouter(prefix="/models", tags=["models"])
ADMIN = Depends(needs("admin"))


class Download(Closed):
    """A model by its name on the hub or its address, and what its SHA-256 must be."""

    wanted: str
    sha256: str = ""


@router.get("", dependencies=[READ], **answers(object_of("Models", models=list[ModelStatus])))
def models(request: Request, library: Opened) -> Response:
    """Every model that can be chosen, with what is missing where one is not ready."""
    return told(request, {"models": to_json(told_to(request, library, library.language_models.statuses()))})


def told_to(request: Request, library: Library, statuses: Sequence[ModelStatus]) -> tuple[ModelStatus, ...]:
    """What models are like, without where their folder is on the machine for whoever does not run the library."""
    if caller_of(request).may("admin"):
        return tuple(statuses)
    folder = str(library.language_models.folder)
    return tuple(replace(one, reason=one.reason.replace(folder, "the models folder")) for one in statuses)


@router.get("/files", dependencies=[READ], **answers(object_of("ModelFiles", files=list[ModelFile])))
def files(request: Request, library: Opened) -> Response:
    """The GGUF files of the models folder."""
    return told(request, {"files": to_json(library.language_models.files())})


@router.post("/download", dependencies=[ADMIN], **sends("text/event-stream", description="Events `step`"))
def download(request: Request, library: Opened, given: Download) -> Response:
    """Download a model; each step is an event. It goes on where an earlier one stopped.

    Addresses of this machine and its network are for whoever has the owner's key alone.
    """

    owner = caller_of(request).owner

    def work(token: Cancellation) -> Iterator[Event]:
        steps = library.language_models.download(given.wanted, sha256=given.sha256, owner=owner, cancellation=token)
        return (("step", to_json(step)) for step in steps)

    return streamed(request, work)


@router.delete("/{model_id}", dependencies=[ADMIN], status_code=204, response_class=Response)
def remove(library: Opened, model_id: str) -> None:
    """Remove a model's file."""
    library.language_models.remove(model_id)
