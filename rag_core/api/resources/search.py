"""Search: passages for a question, and how they were found."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of
from rag_core.api.resources.documents import READ, Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, object_of, shown
from rag_core.api.scoping import Closed, ScopeGiven, scope_of
from rag_core.domain import Hit, Searched, SearchMode
from rag_core.domain.serialiser import hit_to_json, to_json
from rag_core.library import Library
from rag_core.storage.indexes import DENSE

router = APIRouter(prefix="/search", tags=["search"])
if TYPE_CHECKING:
    Index = str
else:
    Index = Literal["auto", *DENSE]
_DOCUMENT = object_of("DocumentNamed", id=str, title=str)
_HIT = shown(Hit, without=("document", "around", "amounts"), document=_DOCUMENT)
_FOUND = object_of("Hits", hits=list[_HIT], searched=Searched | None, notes=list[str])  # type: ignore[valid-type]


class SearchGiven(Closed):
    """A question, and how to search; what is left out is as the settings say."""

    question: str
    k: Annotated[int, Field(ge=1, le=100)] | None = None
    mode: SearchMode | None = None
    index: Index | None = None
    scan: Literal["auto", "exact", "fast"] | None = None
    mmr: bool | None = None
    scope: ScopeGiven | None = None
    explain: bool = False


@router.post("", dependencies=[READ], **answers(_FOUND))
async def search(request: Request, library: Opened, given: SearchGiven) -> Response:
    """The best passages for a question, best first; `explain` tells every candidate and what became of it."""
    return await to_thread.run_sync(_search, request, library, given, limiter=request.app.state.searches)


@router.get("", dependencies=[READ], **answers(_FOUND))
async def search_simply(
    request: Request,
    library: Opened,
    q: str,
    k: Annotated[int, Query(ge=1, le=100)] = 6,
    mode: SearchMode | None = None,
) -> Response:
    """The same for a question alone."""
    given = SearchGiven(question=q, k=k, mode=mode)
    return await to_thread.run_sync(_search, request, library, given, limiter=request.app.state.searches)


def limiter() -> CapacityLimiter:
    """As many searches at a time as there are processors, and one that waits for PostgreSQL.

    More would all be late together; those that wait are answered in the order in which they came.
    """
    return CapacityLimiter((os.cpu_count() or 1) + 1)


def _search(request: Request, library: Library, given: SearchGiven) -> Response:
    caller = caller_of(request)
    scope = scope_of(library, given.scope, caller)
    wanted = given.model_dump(include={"k", "mode", "index", "scan", "mmr"})
    found = library.retrieve(given.question, scope=scope, **wanted)
    # How a score was come by tells how often a word stands in all documents.
    hits = [replace(hit, scores={}) for hit in found.hits] if caller.tags else found.hits
    answer: dict[str, Any] = {"hits": [hit_to_json(hit) for hit in hits], "searched": None}
    answer["notes"] = list(found.trace.notes)
    if given.explain and not caller.tags:  # it tells of documents outside of the scope
        answer["searched"] = to_json(found.trace.searched)
    return told(request, answer)
