"""Sources that are followed: watched folders, and addresses that were added; they are looked at again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import Refused, there
from rag_core.api.resources.documents import RESULTS, WRITE, Opened, allowed, ended, steps
from rag_core.api.responses import streamed, told, wants_events
from rag_core.api.schema import answers, object_of, shown
from rag_core.api.scoping import Closed
from rag_core.domain import FollowedSource
from rag_core.domain.serialiser import to_json
from rag_core.sources import Inside

router = APIRouter(prefix="/sources", tags=["sources"])
READ = Depends(needs("read"))


class FolderGiven(Closed):
    """A folder of the server's machine, and tags for its documents."""

    folder: Annotated[str, Field(min_length=1, max_length=4000)]
    tags: list[str] = Field(default=[], max_length=100)


class LocationsGiven(Closed):
    """Addresses and paths that were added, null for all."""

    locations: Annotated[list[str], Field(max_length=10_000)] | None = None


@router.get("", dependencies=[READ], **answers(object_of("Sources", sources=list[FollowedSource])))
def followed(request: Request, library: Opened) -> Response:
    """Watched folders, with what keeps them from being followed, and addresses that were added."""
    return told(request, {"sources": to_json(library.sources.followed())})


@router.post("", dependencies=[WRITE], **answers(shown(FollowedSource), 201))
def watch(request: Request, library: Opened, given: FolderGiven) -> Response:
    """Follow a folder from now on; what is in it comes with the next look, or an update."""
    folder = Path(given.folder)
    if not caller_of(request).owner:
        found = allowed(request, folder)
        folder = found.path if isinstance(found, Inside) else found
    try:
        one = library.sources.watch(folder, tags=given.tags)
    except ValueError as error:
        raise Refused(422, str(error)) from error
    return told(request, to_json(one), 201)


@router.delete("", dependencies=[WRITE], status_code=204, response_class=Response)
def unwatch(library: Opened, location: str, remove: bool = False) -> None:
    """Follow a folder no longer. Its documents stay, unless `remove`."""
    with there("watched folder"):
        library.sources.unwatch(location, remove=remove)


@router.post("/update", dependencies=[WRITE], **answers(RESULTS))
def update(request: Request, library: Opened, given: LocationsGiven) -> Response:
    """Look again at sources, and fetch what changed; with `Accept: text/event-stream` each step is an event."""
    if wants_events(request):
        return streamed(
            request, lambda token: steps(library.sources.update(given.locations, cancellation=token))
        )  # fmt: skip
    return told(request, ended(library.sources.update(given.locations)))
