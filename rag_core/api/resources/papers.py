"""The paths of the research assistant that Lectern grew from: `/api/upload`, `/api/query`, `/api/papers`,
`/api/analytics`, with its names and its form of errors, for programs written for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from fastapi import Query as Given
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import Refused
from rag_core.api.resources.ask import Question
from rag_core.api.resources.ask import answer_to as answer_to_question
from rag_core.api.resources.documents import READ, WRITE, Opened
from rag_core.api.responses import told
from rag_core.api.schema import object_of
from rag_core.api.scoping import Closed, ScopeGiven, document_of
from rag_core.api.uploads import received
from rag_core.domain import KNOWN, AddEvent, Answer, Citation, Document, DocumentFilter
from rag_core.exporting.thread import cite
from rag_core.library import Library

router = APIRouter(prefix="/api", tags=["papers"])
_NAMES = re.compile(r"\s*[;,]\s*|\s+(?:and|und|&)\s+")
_PAPER = object_of(
    "Paper", id=str, title=str, authors=list[str], year=int | None, abstract=str, sections=list[str], filename=str,
    total_pages=int, chunks=int, upload_date=str | None, file_size=int,
)  # fmt: skip
_CITED = object_of(
    "CitedPaper", number=int, paper_id=str, paper_title=str, section=str, page=int, relevance_score=float, text=str,
    citation=str,
)  # fmt: skip
_USED = object_of("QueriedPaper", paper_id=str, title=str, queries=int, passages=int, last_queried=str)
_ASKED = object_of("QueriesOfTime", since=str, queries=int, answered=int)
_FILE = {"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}
_UPLOAD = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FILE}}}}


class Query(Closed):
    """A question, which papers it is asked of (without any all), and of how many passages it is answered."""

    question: str
    paper_ids: list[str] = Field(default=[], max_length=10_000)
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None


def _answers(code: int = 200, **fields: Any) -> dict[str, Any]:
    """What a route answers: a status in words, and these fields."""
    name = "".join(part.title() for part in next(iter(fields)).split("_")) if fields else "Done"
    return {"response_model": None, "status_code": code, "responses": {
        code: {"model": object_of(f"Assistant{name}", status=str, **fields)}}}  # fmt: skip


@router.post("/upload", dependencies=[WRITE], openapi_extra=_UPLOAD, **_answers(201, paper_id=str))
async def upload(request: Request, library: Opened) -> Response:
    """Add one file. Answers 201 with its paper; 200, `duplicate` and a `detail` where the library has it already."""
    async with received(request, library) as files:
        if len(files.paths) > 1:
            raise Refused(400, "The request has several files.", "Send one at a time.")
        add = lambda: list(library.add(files.uploads(), password=files.password))  # noqa: E731  for the thread
        ended = (await to_thread.run_sync(add))[-1]
    return _added(request, ended, library)


@router.post("/query", dependencies=[READ], **_answers(answer=str, citations=list[_CITED]))  # type: ignore[valid-type]
def query(request: Request, library: Opened, given: Query) -> Response:
    """Answer a question with citations: `[1]` in the text is the one of that `number`. `relevance_score` is within
    0 and 1, by the best of them. `cached` says when the same question was answered so before."""
    asked = Question(question=given.question, scope=ScopeGiven(documents=given.paper_ids), k=given.top_k)
    answer = answer_to_question(library, asked, caller_of(request))
    return told(request, {"status": "success", **_answered(answer)})


@router.get("/papers", dependencies=[READ], **_answers(papers=list[_PAPER]))  # type: ignore[valid-type]
def papers(request: Request, library: Opened) -> Response:
    """Every paper, the newest first."""
    found, _ = library.catalogue.documents(DocumentFilter(seen=caller_of(request).tags))
    return told(request, {"status": "success", "papers": [_paper(one) for one in found]})


@router.get("/papers/{paper_id}", dependencies=[READ], **_answers(title=str, authors=list[str]))
def paper(request: Request, library: Opened, paper_id: str) -> Response:
    """One paper, with authors, year, abstract and sections as its card has them."""
    return told(request, {"status": "success", **_paper(document_of(library, paper_id, caller_of(request)))})


@router.delete("/papers/{paper_id}", dependencies=[WRITE], **_answers())
def delete(request: Request, library: Opened, paper_id: str) -> Response:
    """Remove a paper."""
    library.remove(document_of(library, paper_id, caller_of(request)).id)
    return told(request, {"status": "success"})


@router.get(
    "/analytics", dependencies=[Depends(needs("read"))],
    **_answers(most_queried_papers=list[_USED], queries_over_time=list[_ASKED]),  # type: ignore[valid-type]
)  # fmt: skip
def analytics(
    request: Request, library: Opened, days: Annotated[int, Given(ge=1, le=36_500)] | None = None
) -> Response:
    """The papers that most answers cite, and how many queries there were by day, week or month (`step`), of all time or
    the last `days`."""
    counted = library.insights.of(days, None)
    used = [
        {"paper_id": one.document_id, "title": one.title, "queries": one.answers, "passages": one.passages,
         "last_queried": one.last.isoformat()}
        for one in counted.used
    ]  # fmt: skip
    asked = [
        {"since": one.since.isoformat(), "queries": one.asked, "answered": one.answered} for one in counted.asked
    ]  # fmt: skip
    answer = {"total_queries": counted.total.asked, "step": counted.step, "most_queried_papers": used}
    return told(request, {"status": "success", **answer, "queries_over_time": asked})


def _added(request: Request, ended: AddEvent, library: Library) -> Response:
    if ended.error is not None:
        raise ended.error
    if ended.document is None:
        raise Refused(409, "The file was not added.", "Send it again.")
    found = library.document(ended.document.id)
    duplicate = ended.note == KNOWN
    told_paper = {"status": "success", "paper_id": found.id, "duplicate": duplicate, **_paper(found)}
    if duplicate:
        told_paper["detail"] = f"{ended.source} is {ended.note}."
    return told(request, told_paper, 200 if duplicate else 201)


def _answered(answer: Answer) -> dict[str, Any]:
    return {
        "query_id": answer.message_id, "answer": answer.text, "citations": _cited(answer.citations),
        "sources_used": list(dict.fromkeys(one.title for one in answer.citations)), "confidence": answer.confidence,
        "response_time_ms": round(answer.trace.latency_ms.get("total", 0)), "notes": list(answer.trace.notes),
        "cached": answer.trace.cached_at.isoformat() if answer.trace.cached_at else None,
    }  # fmt: skip


def _cited(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    best = max((one.score for one in citations), default=0.0)
    return [
        {"number": one.number, "paper_id": one.document_id, "paper_title": one.title, "section": one.section,
         "page": one.page, "relevance_score": round(max(0.0, one.score) / max(1.0, best), 4), "text": one.text,
         "citation": cite(one)}
        for one in citations
    ]  # fmt: skip


def _paper(one: Document) -> dict[str, Any]:
    return {
        "id": one.id, "title": one.title, "authors": [name for name in _NAMES.split(one.authors) if name],
        "year": one.year, "abstract": one.card.abstract if one.card else "",
        "sections": [section.title for section in one.sections], "filename": one.sources[0] if one.sources else "",
        "total_pages": one.page_count, "chunks": one.chunk_count, "file_size": one.byte_size,
        "upload_date": one.added_at.isoformat() if one.added_at else None,
    }  # fmt: skip
