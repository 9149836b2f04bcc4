"""How the library is: status, verify, repair, backup; the settings that may be changed; keys and the audit."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import Refused, there
from rag_core.api.resources.documents import READ as READ_SCOPED
from rag_core.api.resources.documents import Opened
from rag_core.api.resources.models import told_to
from rag_core.api.responses import doors_of, told
from rag_core.api.schema import answers, object_of, sends, shown
from rag_core.api.scoping import Closed
from rag_core.domain import AccessKey, AuditEntry, Configuration, LibraryStatus, Report, Role
from rag_core.domain import Field as Setting
from rag_core.domain.serialiser import to_json
from rag_core.errors import LecternError

router = APIRouter(tags=["library"])
READ, ADMIN = Depends(needs("read")), Depends(needs("admin"))
_Tag = object_of("Tag", tag=str, documents=int)
_Made = object_of("KeyMade", key=AccessKey, text=str)


class KeyGiven(Closed):
    """A key to make; one with `tags` sees the documents that have any of them, one of a `person`, by their address,
    what that person does."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    role: Role = "read"
    tags: list[str] = Field(default=[], max_length=100)
    person: str | None = Field(default=None, max_length=320)


@router.get("/health", dependencies=[READ_SCOPED], **answers(object_of("Health", state=str, detail=str)))
async def health(request: Request) -> Response:
    """Whether questions are answered: `open`, or 503 with what keeps the library from it."""
    try:
        library = doors_of(request).library()
        await to_thread.run_sync(library.intake)
    except LecternError as error:
        return told(request, {"state": "closed", "detail": str(error)}, 503)
    return told(request, {"state": "open", "detail": ""})


@router.get("/status", dependencies=[READ], **answers(shown(LibraryStatus)))
def status(request: Request, library: Opened) -> Response:
    """Counts, profile, engine, stores, models, and whatever is worth saying; where the library is to admins alone."""
    found = library.maintenance.status()
    if not caller_of(request).may("admin"):
        found = replace(found, data_dir="", models=told_to(request, library, found.models))
    return told(request, to_json(found))


@router.get("/tags", dependencies=[READ], **answers(object_of("Tags", tags=list[_Tag])))  # type: ignore[valid-type]
def tags(request: Request, library: Opened) -> Response:
    """Every tag with how many documents have it."""
    return told(request, {"tags": [{"tag": tag, "documents": count} for tag, count in library.catalogue.tags()]})


@router.post("/verify", dependencies=[ADMIN], **answers(shown(Report)))
def verify(request: Request, library: Opened, deep: bool = False) -> Response:
    """Compare all stores; `deep` reads every text, vector and file."""
    return told(request, to_json(library.maintenance.verify(deep)))


@router.post("/repair", dependencies=[ADMIN], **answers(shown(Report)))
def repair(request: Request, library: Opened) -> Response:
    """Rebuild what differs from PostgreSQL; nothing is embedded."""
    return told(request, to_json(library.maintenance.repair()))


@router.get("/backup", dependencies=[ADMIN], **sends("application/zip"))
def backup(library: Opened) -> Response:
    """Everything as one verified archive, written beside the library and gone once it was sent."""
    path = library.folder / f"backup-{secrets.token_hex(8)}.lectern"
    try:
        library.maintenance.backup(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return FileResponse(
        path, media_type="application/zip", filename="lectern.backup", headers={"Cache-Control": "no-store"},
        background=BackgroundTask(path.unlink, missing_ok=True),
    )  # fmt: skip


@router.get("/settings", dependencies=[READ], **answers(object_of("SettingList", settings=list[Setting])))
def settings(request: Request, library: Opened) -> Response:
    """The settings that may be changed here, with their values and bounds."""
    return told(request, {"settings": to_json(library.evaluation.fields())})


@router.patch("/settings", dependencies=[ADMIN], **answers(object_of("SettingsChanged", notes=list[str])))
def change_settings(request: Request, library: Opened, given: dict[str, Any]) -> Response:
    """Make values the library's own, `{"retrieval.k": 10}`; `notes` say what follows."""
    return told(request, {"notes": list(library.evaluation.apply(Configuration("The request", given)))})


@router.get("/keys", dependencies=[ADMIN], **answers(object_of("Keys", keys=list[AccessKey])))
def keys(request: Request, library: Opened) -> Response:
    """Every key, revoked ones too, without its text."""
    return told(request, {"keys": to_json(library.access.all())})


@router.post("/keys", dependencies=[ADMIN], **answers(_Made, 201))
def make_key(request: Request, library: Opened, given: KeyGiven) -> Response:
    """Make a key; its text is answered this once."""
    key, text = library.access.create(given.name, given.role, given.tags, given.person)
    return told(request, {"key": to_json(key), "text": text}, 201, **{"Cache-Control": "no-store"})


@router.delete("/keys/{key_id}", dependencies=[ADMIN], status_code=204, response_class=Response)
def revoke(library: Opened, key_id: str) -> None:
    """Let a key open nothing any longer."""
    with there("key"):
        library.access.revoke(key_id)


@router.post("/entry", dependencies=[ADMIN], **answers(object_of("Entry", address=str)))
def entry(request: Request) -> Response:
    """What follows the server's address for one more browser of its owner, where the pages ask for a key; else nothing.

    For whoever has the owner's key alone.
    """
    if not caller_of(request).owner:
        raise Refused(403, "This needs the key that lies in the data directory.")
    way_in = doors_of(request).entry
    return told(request, {"address": way_in.address("") if way_in else ""}, 200, **{"Cache-Control": "no-store"})


@router.get("/audit", dependencies=[ADMIN], **answers(object_of("Audit", entries=list[AuditEntry])))
def audit(request: Request, library: Opened, limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> Response:
    """The last requests that changed data, or tried to, newest first."""
    return told(request, {"entries": to_json(library.access.audit(limit))})
