"""Whole tables of documents: looked at some columns and rows at a time, and how they are read set right by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import Refused, there
from rag_core.api.resources.documents import Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, object_of, shown
from rag_core.api.scoping import Closed, document_of
from rag_core.domain import ColumnType, TableReading, TableRows, TableView
from rag_core.domain.serialiser import to_json
from rag_core.library import Library
from rag_core.services.table_views import MOST_COLUMNS

router = APIRouter(prefix="/documents/{document_id}/whole-tables", tags=["documents"])
READ, WRITE = Depends(needs("read", scoped=True)), Depends(needs("write"))
_LARGEST = 2**31 - 1
_READINGS = object_of("TableReadings", readings=list[TableReading])
At = Annotated[int, Query(ge=0, le=_LARGEST)]
Columns = Annotated[int, Query(ge=1, le=1000)]


class Reading(Closed):
    """Which row is a table's head, from 1 on, 0 for the one as read, and what columns hold, by their numbers."""

    head: Annotated[int, Field(ge=0, le=1000)] = 0
    columns: dict[int, ColumnType] = Field(default_factory=dict, max_length=1000)


@router.get("", dependencies=[READ], **answers(object_of("WholeTables", names=list[str])))
def names(request: Request, library: Opened, document_id: str) -> Response:
    """What stands above each table, in order."""
    document_of(library, document_id, caller_of(request))
    return told(request, {"names": library.table_views.names(document_id)})


@router.get("/readings", dependencies=[READ], **answers(_READINGS))
def readings(request: Request, library: Opened, document_id: str) -> Response:
    """What was set right by hand of how its tables are read."""
    document_of(library, document_id, caller_of(request))
    return told(request, _readings(library, document_id))


@router.get("/{table}", dependencies=[READ], **answers(shown(TableView)))
def view(
    request: Request, library: Opened, document_id: str, table: int, first_column: At = 0,
    columns: Columns = MOST_COLUMNS,
) -> Response:  # fmt: skip
    """A table in short, by its number from 0 on, and each of some of its columns."""
    document_of(library, document_id, caller_of(request))
    with there("table"):
        found = library.table_views.view(document_id, table, first_column=first_column, columns=columns)
    return told(request, to_json(found))


@router.get("/{table}/rows", dependencies=[READ], **answers(shown(TableRows)))
def rows(
    request: Request, library: Opened, document_id: str, table: int, first: At = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50, containing: Annotated[str, Query(max_length=1000)] = "",
    by: Annotated[int, Query(ge=-1, le=_LARGEST)] = -1, descending: bool = False, first_column: At = 0,
    columns: Columns = MOST_COLUMNS,
) -> Response:  # fmt: skip
    """Rows that hold a text, in the order of a column; -1: as they stand."""
    document_of(library, document_id, caller_of(request))
    with there("table"):
        found = library.table_views.rows(
            document_id, table, first=first, limit=limit, containing=containing, by=by, descending=descending,
            first_column=first_column, columns=columns,
        )  # fmt: skip
    return told(request, to_json(found))


@router.put("/{table}/reading", dependencies=[WRITE], **answers(_READINGS))
def correct(request: Request, library: Opened, document_id: str, table: int, given: Reading) -> Response:
    """Set right how a table is read, in the place of what was said before; answers all that was set right."""
    with there("table"):
        try:
            library.table_views.correct(document_id, table, head=given.head, columns=given.columns)
        except ValueError as error:
            raise Refused(422, str(error)) from error
        return told(request, _readings(library, document_id))


@router.delete("/{table}/reading", dependencies=[WRITE], **answers(_READINGS))
def undo(request: Request, library: Opened, document_id: str, table: int) -> Response:
    """Have a table be as it was read."""
    with there("document"):
        library.table_views.undo(document_id, table)
        return told(request, _readings(library, document_id))


def _readings(library: Library, document_id: str) -> dict[str, Any]:
    return {"readings": to_json(library.table_views.readings(document_id))}
