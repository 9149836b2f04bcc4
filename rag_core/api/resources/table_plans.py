"""Plans over whole tables: run as they are given, all their rows as CSV, what else a column says."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from rag_core.api.callers import caller_of, needs
from rag_core.api.problems import there
from rag_core.api.resources.ask import Question, check_own
from rag_core.api.resources.documents import Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, object_of, sends, shown
from rag_core.api.scoping import Closed
from rag_core.domain import Answer, TablePlan
from rag_core.domain.serialiser import to_json

router = APIRouter(prefix="/table-plans", tags=["ask"])
READ = Depends(needs("read"))
_CHOICES = object_of("Choices", choices=list[str])


class Planned(Closed):
    """A plan as `table` of an answer has it, perhaps changed."""

    plan: TablePlan


class PlannedQuestion(Planned):
    """A plan with the question that it is kept under; see `TablePlans.ask`."""

    question: str
    conversation: str | None = None
    query: str = ""


class Chosen(Planned):
    """A column of the plan's table, from 0 on."""

    column: int
    most: Annotated[int, Field(ge=1, le=10_000)] = 1000


@router.post("", dependencies=[READ], **answers(shown(Answer, without=("hits",), name="Answer")))
def run(request: Request, library: Opened, given: PlannedQuestion) -> Response:
    """Run a plan as it is; kept as the answer to its question."""
    check_own(request, library, Question(question=given.question, conversation=given.conversation))
    with there("table"):
        answer = library.table_plans.ask(
            given.plan, given.question, conversation=given.conversation, query=given.query,
            begun_by=caller_of(request).name,
        )  # fmt: skip
    return told(request, to_json(answer, without={"hits"}))


@router.post("/rows", dependencies=[READ], **sends("text/csv", description="All the rows, with every column"))
def rows(library: Opened, given: Planned) -> Response:
    """All the rows that a plan finds, as CSV."""
    with there("table"):
        lines = library.table_plans.csv(given.plan)
        first = next(lines)
    return StreamingResponse(chain([first], lines), media_type="text/csv; charset=utf-8")


@router.post("/choices", dependencies=[READ], **answers(_CHOICES))
def choices(request: Request, library: Opened, given: Chosen) -> Response:
    """What the cells of a column say, each once."""
    with there("table"):
        return told(request, {"choices": library.table_plans.choices(given.plan, given.column, given.most)})
