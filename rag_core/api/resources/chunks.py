"""Chunks and tables of documents: read, corrected by hand, left out of search, and brought back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import Refused, there
from rag_core.api.responses import open_library, told
from rag_core.api.schema import answers, object_of
from rag_core.api.scoping import Closed, document_of
from rag_core.domain import Chunk, ChunkEdit, Table
from rag_core.domain.serialiser import to_json
from rag_core.library import Library

router = APIRouter(prefix="/documents/{document_id}", tags=["documents"])
Opened = Annotated[Library, Depends(open_library)]
READ, WRITE = Depends(needs("read", scoped=True)), Depends(needs("write"))
_LARGEST = 2**31 - 1
_EDITS = object_of("ChunkEdits", edits=list[ChunkEdit])


class ChunkChange(Closed):
    """Another text for a chunk, or that it is left out of search; what is not given stays."""

    text: str | None = Field(default=None, max_length=20_000)
    left_out: bool = False


@router.get("/chunks", dependencies=[READ], **answers(object_of("Chunks", chunks=list[Chunk], total=int)))
def chunks(
    request: Request, library: Opened, document_id: str,
    first: Annotated[int, Query(ge=0)] = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:  # fmt: skip
    """Chunks in order, from index `first` on."""
    found = document_of(library, document_id, caller_of(request))
    some = library.chunks(document_id, first=min(first, _LARGEST), limit=limit)
    return told(request, {"chunks": to_json(some), "total": found.chunk_count})


@router.patch("/chunks/{index}", dependencies=[WRITE], **answers(_EDITS))
def change(request: Request, library: Opened, document_id: str, index: int, given: ChunkChange) -> Response:
    """Correct a chunk, which is embedded and found with its new text, or leave it out of search; answers all edits."""
    with there("chunk"):
        try:
            if given.text is not None:
                library.chunk_edits.correct(f"{document_id}:{index}", given.text)
        except ValueError as error:
            raise Refused(422, str(error)) from error
        if given.left_out:
            library.chunk_edits.leave_out(f"{document_id}:{index}")
        return told(request, _edits(library, document_id))


@router.get("/edits", dependencies=[READ], **answers(_EDITS))
def edits(request: Request, library: Opened, document_id: str) -> Response:
    """Chunks that were corrected or left out, with their text as read; some may fit no chunk any more."""
    document_of(library, document_id, caller_of(request))
    return told(request, _edits(library, document_id))


@router.delete("/edits/{page}/{start}/{end}", dependencies=[WRITE], **answers(_EDITS))
def undo(request: Request, library: Opened, document_id: str, page: int, start: int, end: int) -> Response:
    """Take an edit back: what was left out is found again, else the text is as read."""
    with there("edit"):
        library.chunk_edits.undo(document_id, page, start, end)
    return told(request, _edits(library, document_id))


@router.get("/tables", dependencies=[READ], **answers(object_of("Tables", tables=list[Table])))
def tables(request: Request, library: Opened, document_id: str) -> Response:
    """The tables, with captions, pages and rows."""
    document_of(library, document_id, caller_of(request))
    return told(request, {"tables": to_json(library.tables(document_id))})


def _edits(library: Library, document_id: str) -> dict[str, Any]:
    return {"edits": to_json(library.chunk_edits.of(document_id))}
