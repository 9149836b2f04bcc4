"""The paths of the research assistant: `/api/upload`, `/api/query`, `/api/papers/{id}`, for programs written for it."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of
from rag_core.api.problems import Refused
from rag_core.api.resources.ask import Question
from rag_core.api.resources.ask import answer_to as answer_to_question
from rag_core.api.resources.documents import READ, WRITE, Opened, added
from rag_core.api.responses import told
from rag_core.api.scoping import Closed, ScopeGiven, document_of
from rag_core.api.uploads import received
from rag_core.domain import Document, DocumentFilter

router = APIRouter(prefix="/api", tags=["papers"])


class Query(Closed):
    """A question, and which papers it is asked of; without any all."""

    question: str
    paper_ids: list[str] = Field(default=[], max_length=10_000)
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None


@router.post("/upload", dependencies=[WRITE], response_model=None)
async def upload(request: Request, library: Opened) -> Response:
    """Add one file."""
    async with received(request, library) as files:
        results = await to_thread.run_sync(added, library, files.uploads(), files.password)
    last = results["results"][-1]
    if last["stage"] == "failed":
        raise Refused(422, last["error"]["message"], last["error"]["help"])
    found = library.document(last["document"])
    return told(request, {"status": "success", "paper_id": found.id, **_paper(found)})


@router.post("/query", dependencies=[READ], response_model=None)
def query(request: Request, library: Opened, given: Query) -> Response:
    """Answer a question with citations."""
    asked = Question(question=given.question, scope=ScopeGiven(documents=given.paper_ids))
    answer = answer_to_question(library, asked, caller_of(request))
    citations = [
        {"paper_id": one.document_id, "paper_title": one.title, "section": one.section, "page": one.page,
         "relevance_score": one.score, "text": one.text}
        for one in answer.citations[: given.top_k]
    ]  # fmt: skip
    used = list(dict.fromkeys(one.title for one in answer.citations))
    told_answer = {
        "answer": answer.text, "citations": citations, "sources_used": used, "confidence": answer.confidence,
    }  # fmt: skip
    return told(request, {"status": "success", **told_answer})


@router.get("/papers", dependencies=[READ], response_model=None)
def papers(request: Request, library: Opened) -> Response:
    """Every paper."""
    found, _ = library.catalogue.documents(DocumentFilter(seen=caller_of(request).tags))
    return told(request, {"status": "success", "papers": [_paper(one) for one in found]})


@router.get("/papers/{paper_id}", dependencies=[READ], response_model=None)
def paper(request: Request, library: Opened, paper_id: str) -> Response:
    """One paper."""
    return told(request, {"status": "success", **_paper(document_of(library, paper_id, caller_of(request)))})


@router.delete("/papers/{paper_id}", dependencies=[WRITE], response_model=None)
def delete(request: Request, library: Opened, paper_id: str) -> Response:
    """Remove a paper."""
    library.remove(document_of(library, paper_id, caller_of(request)).id)
    return told(request, {"status": "success"})


def _paper(one: Document) -> dict[str, Any]:
    return {
        "id": one.id, "title": one.title, "authors": one.authors, "year": one.year,
        "filename": one.sources[0] if one.sources else "", "total_pages": one.page_count, "chunks": one.chunk_count,
        "upload_date": one.added_at.isoformat() if one.added_at else None,
    }  # fmt: skip
