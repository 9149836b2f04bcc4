"""Documents: add, list, read, name, tag, remove."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.responses import FileResponse, PlainTextResponse, Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.folders import HELP, permitted, real_path
from rag_core.api.problems import Refused, there
from rag_core.api.responses import Event, check_unchanged, doors_of, open_library, streamed, told, wants_events
from rag_core.api.schema import answers, object_of, sends, shown
from rag_core.api.scoping import Closed, document_of
from rag_core.api.uploads import keep_answer, received, repeated, turn
from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Box, Document, DocumentFilter, Page, PageImage, WebAddress
from rag_core.domain.serialiser import event_to_json, job_to_json, to_json
from rag_core.jobs import Request as Asked
from rag_core.library import Library
from rag_core.sources import Inside, Source

router = APIRouter(prefix="/documents", tags=["documents"])
Opened = Annotated[Library, Depends(open_library)]
READ, WRITE = Depends(needs("read", scoped=True)), Depends(needs("write"))

_DOCUMENT = shown(Document)
_PAGE = shown(Page, without=("lines",))
_PAGES = object_of("Pages", pages=list[_PAGE], total=int)  # type: ignore[valid-type]
RESULTS = object_of("Added", results=list[Any])
_LEAST_PX = 50
_BEYOND = 2**31  # an offset that no list reaches, and PostgreSQL takes
_ENDS = ("ready", "failed", "cancelled", "waiting")
_UPLOAD = {"requestBody": {"required": True, "content": {
    "multipart/form-data": {"schema": {"type": "object", "properties": {
        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
        "password": {"type": "string"}}}},
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    "application/json": {"schema": {"type": "object", "properties": {
        "paths": {"type": "array", "items": {"type": "string"}},
        "addresses": {"type": "array", "items": {"type": "object", "required": ["address"], "properties": {
            "address": {"type": "string"}, "depth": {"type": "integer"}, "pages": {"type": "integer"},
            "delay_s": {"type": "number"}}}},
        "password": {"type": "string"}}}},
}}}  # fmt: skip


class AddressGiven(Closed):
    """A web page, and those that it links to: see `WebAddress`."""

    address: str = Field(min_length=1, max_length=2000)
    depth: int = Field(default=0, ge=0, le=20)
    pages: int = Field(default=50, ge=1, le=10_000)
    delay_s: float = Field(default=0.5, ge=0, le=60)


class SourcesGiven(Closed):
    """Files and folders of the server's machine, and web addresses."""

    paths: list[str] = Field(default=[], max_length=10_000)
    addresses: list[AddressGiven] = Field(default=[], max_length=1000)
    password: str | None = None


class TagsGiven(Closed):
    """Tags to put on and to take off."""

    add: list[str] = Field(default=[], max_length=100)
    remove: list[str] = Field(default=[], max_length=100)


class Change(Closed):
    """What is to be different: `title` null gives the found one back; what is left out stays."""

    title: str | None = None
    tags: TagsGiven = TagsGiven()


class PasswordGiven(Closed):
    """The password of an encrypted document."""

    password: str | None = None


@router.get("", dependencies=[READ], **answers(object_of("Documents", documents=list[Document], total=int)))
def documents(
    request: Request, library: Opened,
    tag: Annotated[list[str], Query()] = [],  # noqa: B006  FastAPI copies it
    state: Literal["pending", "stored", "ready", "failed"] | None = None,
    year: int | None = None, words: str = "", media_type: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100, offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:  # fmt: skip
    """The documents with all of the tags, newest first, a page at a time; `words` stand in title or source."""
    wanted = DocumentFilter(
        seen=caller_of(request).tags, tags=tuple(tag), state=state, year=year, words=tuple(words.split()),
        media_type=media_type,
    )  # fmt: skip
    found, total = library.catalogue.documents(wanted, offset=min(offset, _BEYOND), limit=limit)
    return told(request, {"documents": to_json(found), "total": total})


@router.post("", dependencies=[WRITE], openapi_extra=_UPLOAD, **answers(RESULTS, 201))
async def add(
    request: Request, library: Opened, wait: Annotated[bool, Query(description="until they can be searched")] = True
) -> Response:
    """Add files: a form's parts, a body named by `?name=`, or JSON with `paths` of the server's machine or `addresses`.

    Answers when they can be searched, with how each ended; with `Accept: text/event-stream` each step is an event.
    With `wait=false` the answer is 202 as soon as the bytes are kept, and `jobs` tells of the rest.
    A request repeated with its `Idempotency-Key` is carried out once; one that comes meanwhile waits. Not of events.
    """
    if request.headers.get("content-type", "").startswith("application/json"):
        body = await request.body()
        given = _given(body)
        sources: list[Source] = [allowed(request, Path(path)) for path in given.paths]
        sources += [WebAddress(**one.model_dump()) for one in given.addresses]
        digest = hashlib.sha256(body).hexdigest()
        answer = await _answered(request, library, sources, given.password, digest, wait=wait)
        return answer or streamed(
            request, lambda token: steps(library.add(sources, password=given.password, cancellation=token))
        )
    async with received(request, library) as files:
        if answer := await _answered(request, library, files.uploads(), files.password, files.digest, wait=wait):
            return answer
        # The files are gone once this returns: what is kept of them is the library's own.
        waiting = await to_thread.run_sync(_accepted, library, files.uploads(), files.password)
    return streamed(request, lambda token: _resumed(library, waiting, token))


@router.get("/{document_id}", dependencies=[READ], **answers(_DOCUMENT))
def document(request: Request, library: Opened, document_id: str) -> Response:
    """One document."""
    return told(request, to_json(document_of(library, document_id, caller_of(request))))


@router.patch("/{document_id}", dependencies=[WRITE], **answers(_DOCUMENT))
def change(request: Request, library: Opened, document_id: str, given: Change) -> Response:
    """Give a document another title, put tags on it, take others off."""
    with there("document"):
        check_unchanged(request, to_json(library.document(document_id)))
        try:
            library.catalogue.tag([document_id], add=given.tags.add, remove=given.tags.remove)
        except ValueError as error:
            raise Refused(422, str(error)) from error
        if "title" in given.model_fields_set:
            library.catalogue.rename(document_id, given.title)
        return told(request, to_json(library.document(document_id)))


@router.delete("/{document_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def remove(request: Request, library: Opened, document_id: str) -> None:
    """Remove a document from every store."""
    with there("document"):
        check_unchanged(request, to_json(library.document(document_id)))
    library.remove(document_id)


@router.post("/{document_id}/retry", dependencies=[WRITE], **answers(RESULTS))
def retry(request: Request, library: Opened, document_id: str, given: PasswordGiven) -> Response:
    """Read a failed document again, perhaps with its password, or the pages that text recognition failed at."""
    with there("document"):
        events = list(library.retry(document_id, password=given.password))
    return told(request, {"results": [event_to_json(event) for event in events[-1:]]})


@router.get("/{document_id}/text", dependencies=[READ], **sends("text/plain", description="The text of all pages"))
def text(request: Request, library: Opened, document_id: str) -> Response:
    """The text of all pages, a form feed between them."""
    document_of(library, document_id, caller_of(request))
    return PlainTextResponse("\f".join(page.text for page in library.pages(document_id)))


@router.get("/{document_id}/pages", dependencies=[READ], **answers(_PAGES))
def pages(
    request: Request, library: Opened, document_id: str,
    first: Annotated[int, Query(ge=1)] = 1, limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:  # fmt: skip
    """Pages as text, from page `first` on."""
    document_of(library, document_id, caller_of(request))
    found = library.pages(document_id)
    shown_pages = [to_json(page, without=("lines",)) for page in found if first <= page.number < first + limit]
    return told(request, {"pages": shown_pages, "total": len(found)})


@router.get("/{document_id}/pages/{number}", dependencies=[READ], **answers(_PAGE))
def page(request: Request, library: Opened, document_id: str, number: int) -> Response:
    """One page as text; pages count from 1."""
    document_of(library, document_id, caller_of(request))
    with there("page"):
        return told(request, to_json(library.page(document_id, _small(number)), without=("lines",)))


@router.get("/{document_id}/pages/{number}/picture", dependencies=[READ], **sends("image/png"))
def picture(
    request: Request, library: Opened, document_id: str, number: int,
    width: Annotated[int, Query(ge=_LEAST_PX, le=4000, description="pixels")] = 1000,
) -> Response:  # fmt: skip
    """A page of a PDF as a picture."""
    drawn = _drawn(request, library, document_id, number, width_px=width)
    headers = {"ETag": f'"{document_id}-{number}-{width}"', "Cache-Control": "private, max-age=3600"}
    return Response(drawn.png, media_type="image/png", headers=headers)


@router.get("/{document_id}/pages/{number}/boxes", dependencies=[READ], **answers(object_of("Boxes", boxes=list[Box])))
def boxes(
    request: Request, library: Opened, document_id: str, number: int,
    start: Annotated[int, Query(ge=0)], end: Annotated[int, Query(ge=0)],
) -> Response:  # fmt: skip
    """Where characters `start` to `end` of a page's text stand on its picture, in fractions of its size."""
    drawn = _drawn(request, library, document_id, number, span=(start, end), width_px=_LEAST_PX)
    return told(request, {"boxes": to_json(drawn.boxes)})


@router.get("/{document_id}/original", dependencies=[READ], **sends("application/octet-stream"))
def original(request: Request, library: Opened, document_id: str) -> Response:
    """The document's own bytes, as a download: whatever they are, no browser opens them as a page of Lectern's."""
    found = document_of(library, document_id, caller_of(request))
    path = library.original(document_id)
    if not path.is_file():
        raise Refused(404, "The original file is missing.", "Verify the library.")
    name = Path(found.sources[0]).name if found.sources else document_id
    headers = {"ETag": f'"{document_id}"', "Content-Security-Policy": "sandbox"}
    return FileResponse(path, media_type="application/octet-stream", filename=name, headers=headers)


def _drawn(request: Request, library: Library, document_id: str, number: int, **how: Any) -> PageImage:
    found = document_of(library, document_id, caller_of(request))
    if not 1 <= number <= max(found.page_count, 1):
        raise Refused(404, "There is no page of that number.")
    return library.page_image(document_id, number, **how)


def _given(body: bytes) -> SourcesGiven:
    try:
        given = SourcesGiven.model_validate_json(body)
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]
        raise RequestValidationError(faults) from error
    if not given.paths and not given.addresses:
        raise Refused(422, "The request names nothing to add.", "Send paths or addresses.")
    return given


def allowed(request: Request, path: Path) -> Path | Inside:
    """A path that a caller may have read: any for whoever may read the data directory, else of folders that are set; a
    person none, and so learns of no file whether it is there."""
    if caller_of(request).person:
        raise Refused(403, f"{path} cannot be added.", "Send the file itself.")
    owner = caller_of(request).owner
    found = real_path(path) if owner else permitted(doors_of(request).settings, path)
    if found is None:
        raise Refused(404 if owner else 403, f"{path} cannot be added.", "" if owner else HELP)
    return found


async def _answered(
    request: Request, library: Library, sources: Iterable[Source], password: str | None, digest: str, *, wait: bool
) -> Response | None:
    """Add sources, once for all requests under one idempotency key. None where each step is to be an event."""
    who, key, answer = caller_of(request).name, request.headers.get("idempotency-key", ""), None
    async with turn(doors_of(request), who, key):
        if key:
            answer = await to_thread.run_sync(repeated, library, who, key, digest)
        if answer is None and not (wait and wants_events(request)):
            work = partial(added if wait else _queued, password=password)
            answer = await to_thread.run_sync(work, library, sources)
            if key:
                await to_thread.run_sync(keep_answer, library, who, key, digest, answer)
    return None if answer is None else told(request, answer, 201 if wait else 202)


def added(library: Library, sources: Iterable[Source], password: str | None) -> dict[str, Any]:
    """Add files and addresses; returns how each ended."""
    return ended(library.add(sources, password=password))


def ended(events: Iterable[AddEvent]) -> dict[str, Any]:
    """How each source ended."""
    return {"results": [event_to_json(event) for event in events if event.stage in _ENDS]}


def _accepted(library: Library, sources: Iterable[Source], password: str | None) -> list[AddEvent]:
    return [event for event in library.accept(sources, password=password) if event.stage in _ENDS]


def _queued(library: Library, sources: Iterable[Source], password: str | None) -> dict[str, Any]:
    """Keep the bytes of sources, and leave the rest to jobs; what ended at once is told."""
    accepted = _accepted(library, sources, password)
    waiting = [event for event in accepted if event.stage == "waiting" and event.document]
    asked = [Asked(event.source, document_id=event.document.id if event.document else "") for event in waiting]
    jobs = library.jobs.submit_all("add", asked) if asked else []
    results = [event_to_json(event) for event in accepted if event not in waiting]
    return {"jobs": [job_to_json(job) for job in jobs], "results": results}


def _resumed(library: Library, accepted: list[AddEvent], token: Cancellation) -> Iterator[Event]:
    """What became of accepted files: told at once of those that ended already."""
    waiting = {event.document.id: event.source for event in accepted if event.stage == "waiting" and event.document}
    yield from steps(event for event in accepted if event.stage != "waiting")
    if waiting:
        yield from steps(library.resume(waiting, cancellation=token))


def steps(events: Iterable[AddEvent]) -> Iterator[Event]:
    """Each step of adding as an event of a stream."""
    for event in events:
        yield "step", event_to_json(event)


def _small(number: int) -> int:
    """A number that PostgreSQL takes; one beyond that stands for nothing either."""
    return min(max(number, 0), 2**31 - 1)
