"""Insights: what was asked of the library and what came of it, and the map of its documents."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.resources.documents import Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, shown
from rag_core.api.scoping import Closed, ScopeGiven, scope_of
from rag_core.domain import CorpusMap, Insights
from rag_core.domain.serialiser import to_json

router = APIRouter(prefix="/insights", tags=["insights"])
READ = Depends(needs("read"))


class Within(Closed):
    """Which documents are meant; null for all."""

    scope: ScopeGiven | None = None


class Period(Within):
    """The last days, today included; null for all time."""

    days: Annotated[int, Field(ge=1, le=36_500)] | None = None


@router.post("", dependencies=[READ], **answers(shown(Insights)))
def of(request: Request, library: Opened, given: Period) -> Response:
    """The numbers of a period, within a scope."""
    return told(request, to_json(library.insights.of(given.days, scope_of(library, given.scope, caller_of(request)))))


@router.post("/map", dependencies=[READ], **answers(shown(CorpusMap)))
def corpus_map(request: Request, library: Opened, given: Within) -> Response:
    """The documents of a scope, each where it stands among all; near is alike."""
    return told(request, to_json(library.insights.corpus_map(scope_of(library, given.scope, caller_of(request)))))
