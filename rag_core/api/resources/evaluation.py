"""Question sets and runs of configurations on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import needs
from rag_core.api.problems import Refused, there
from rag_core.api.resources.documents import WRITE, Opened
from rag_core.api.responses import Event, streamed, told, wants_events
from rag_core.api.schema import answers, object_of, sends, shown
from rag_core.api.scoping import Closed
from rag_core.api.uploads import received
from rag_core.cancellation import Cancellation
from rag_core.domain import (
    Calibration,
    Configuration,
    Difference,
    ImportReport,
    Question,
    QuestionSet,
    Result,
    RowProblem,
    Run,
)
from rag_core.domain.serialiser import to_json
from rag_core.evaluation.files.importing import MAX_BYTES
from rag_core.jobs import Request as Asked
from rag_core.library import Library

sets = APIRouter(prefix="/question-sets", tags=["evaluation"])
runs = APIRouter(prefix="/runs", tags=["evaluation"])
READ = Depends(needs("read"))
_SET = shown(QuestionSet)
_PROBLEMS = object_of("QuestionProblems", problems=list[RowProblem])
_FORMS = {"csv": "text/csv", "json": "application/json", "html": "text/html"}
_IMPORTED = object_of("QuestionsImported", set=QuestionSet, rows=int, problems=list[RowProblem], notes=list[str])
_NAME_CHARS = 120
_FILE = {"requestBody": {"required": True, "content": {
    "multipart/form-data": {"schema": {"type": "object", "properties": {
        "file": {"type": "string", "format": "binary"}}}},
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
}}}  # fmt: skip


class SetGiven(Closed):
    """A name, and questions as they are answered by `/questions`."""

    name: Annotated[str, Field(min_length=1, max_length=_NAME_CHARS)]
    questions: list[Question] = Field(default=[], max_length=10_000)


class NameGiven(Closed):
    """Another name."""

    name: Annotated[str, Field(min_length=1, max_length=_NAME_CHARS)]


class QuestionsGiven(Closed):
    """Questions to add; those whose ids are there already take the place of the old ones."""

    questions: Annotated[list[Question], Field(max_length=10_000)]


class QuestionsNamed(Closed):
    """Questions of a set, by their ids."""

    question_ids: Annotated[list[str], Field(max_length=10_000)]


class ConfigurationGiven(Closed):
    """Settings that differ: `{"retrieval.k": 10}`."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    changes: dict[str, Any] = Field(default={})


class RunsGiven(Closed):
    """Configurations to try on a question set; see `Evaluation.begin`."""

    set_id: str
    configurations: Annotated[list[ConfigurationGiven], Field(min_length=1, max_length=50)]
    answers: bool = False
    judge: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class RunsNamed(Closed):
    """Runs by their ids; null for all that wait or were left in their middle."""

    run_ids: Annotated[list[str], Field(max_length=1000)] | None = None


@sets.get("", dependencies=[READ], **answers(object_of("QuestionSets", sets=list[QuestionSet])))
def all_sets(request: Request, library: Opened) -> Response:
    """Every question set, the one changed last first."""
    return told(request, {"sets": to_json(library.evaluation.sets())})


@sets.post("", dependencies=[WRITE], **answers(_SET, 201))
def create(request: Request, library: Opened, given: SetGiven) -> Response:
    """Make a question set."""
    return told(request, to_json(library.evaluation.create(given.name, given.questions)), 201)


@sets.post("/import", dependencies=[WRITE], openapi_extra=_FILE, **answers(_IMPORTED, 201))
async def import_file(request: Request, library: Opened, set_id: str | None = None) -> Response:
    """A question set of a CSV or JSON Lines file: a form's part, or a body named by `?name=`.

    With `set_id` its questions are added to that set; those whose ids are there take the place of the old ones.
    `problems` are the rows that cannot be used, or whose places are not in the library.
    """
    async with received(request, library) as files:
        return told(request, await to_thread.run_sync(_imported, library, files.paths[0], set_id), 201)


@sets.post("/read", dependencies=[READ], openapi_extra=_FILE, **answers(shown(ImportReport)))
async def read_file(request: Request, library: Opened) -> Response:
    """What such a file holds and what is wrong with its rows; nothing is kept."""
    async with received(request, library) as files:
        return told(request, to_json(await to_thread.run_sync(_read, library, files.paths[0])))


@sets.post("/check", dependencies=[READ], **answers(_PROBLEMS))
def check(request: Request, library: Opened, given: QuestionsGiven) -> Response:
    """Gold places of questions that are not in the library; `row` is the question's number, from 1."""
    return told(request, {"problems": to_json(library.evaluation.check(given.questions))})


def _read(library: Library, path: Path) -> ImportReport:
    with path.open("rb") as file:  # one byte too many is told of by whoever reads it
        return library.evaluation.read(path.name, file.read(MAX_BYTES + 1))


def _imported(library: Library, path: Path, set_id: str | None) -> dict[str, Any]:
    evaluation, report = library.evaluation, _read(library, path)
    if not report.questions:
        first = report.problems[0].message if report.problems else ""
        raise Refused(422, f"{path.name} holds no question that can be used. {first}".rstrip())
    if set_id is None:
        made = evaluation.create(path.name[:_NAME_CHARS], report.questions)
    else:
        with there("question set"):
            evaluation.put(set_id, report.questions)
            made = evaluation.set(set_id)
    return {"set": to_json(made), "rows": report.rows, "problems": to_json(report.problems), "notes": [*report.notes]}


@sets.get("/{set_id}", dependencies=[READ], **answers(_SET))
def one_set(request: Request, library: Opened, set_id: str) -> Response:
    """One question set."""
    with there("question set"):
        return told(request, to_json(library.evaluation.set(set_id)))


@sets.patch("/{set_id}", dependencies=[WRITE], **answers(_SET))
def rename(request: Request, library: Opened, set_id: str, given: NameGiven) -> Response:
    """Give a question set another name."""
    with there("question set"):
        library.evaluation.rename(set_id, given.name)
        return told(request, to_json(library.evaluation.set(set_id)))


@sets.delete("/{set_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def delete_set(library: Opened, set_id: str) -> None:
    """Delete a question set; its runs stay."""
    with there("question set"):
        library.evaluation.set(set_id)
    library.evaluation.delete(set_id)


@sets.get("/{set_id}/questions", dependencies=[READ], **answers(object_of("Questions", questions=list[Question])))
def questions(request: Request, library: Opened, set_id: str) -> Response:
    """The questions of a set in order."""
    with there("question set"):
        library.evaluation.set(set_id)
    return told(request, {"questions": to_json(library.evaluation.questions(set_id))})


@sets.put("/{set_id}/questions", dependencies=[WRITE], **answers(_SET))
def put(request: Request, library: Opened, set_id: str, given: QuestionsGiven) -> Response:
    """Add questions to a set."""
    with there("question set"):
        library.evaluation.put(set_id, given.questions)
        return told(request, to_json(library.evaluation.set(set_id)))


@sets.post("/{set_id}/drop", dependencies=[WRITE], **answers(_SET))
def drop(request: Request, library: Opened, set_id: str, given: QuestionsNamed) -> Response:
    """Delete questions of a set."""
    with there("question set"):
        library.evaluation.drop(set_id, given.question_ids)
        return told(request, to_json(library.evaluation.set(set_id)))


@sets.get("/{set_id}/export", dependencies=[READ], **sends("text/csv", "application/jsonl"))
def export_set(library: Opened, set_id: str, form: Literal["csv", "jsonl"] = "csv") -> Response:
    """A question set as a file."""
    with there("question set"):
        library.evaluation.set(set_id)
    kind = "text/csv" if form == "csv" else "application/jsonl"
    return Response(library.evaluation.export_questions(set_id, form), media_type=kind)


@runs.get("", dependencies=[READ], **answers(object_of("Runs", runs=list[Run])))
def all_runs(request: Request, library: Opened, set_id: str | None = None) -> Response:
    """Every run, or those on one set, newest first."""
    return told(request, {"runs": to_json(library.evaluation.runs(set_id))})


@runs.post("", dependencies=[WRITE], **answers(object_of("RunsBegun", runs=list[Run]), 202))
def begin(
    request: Request, library: Opened, given: RunsGiven,
    start: Annotated[bool, Query(description="else the runs wait for `/carry-out`")] = True,
) -> Response:  # fmt: skip
    """Begin a run for each configuration; it goes on as a job of the run's id. As events, each step is told."""
    configurations = [Configuration(one.name, one.changes) for one in given.configurations]
    with there("question set"):
        begun = library.evaluation.begin(
            given.set_id, configurations, answers=given.answers, judge=given.judge, seed=given.seed
        )
    ids = [run.id for run in begun]
    if wants_events(request):
        return streamed(request, lambda token: _steps(library, ids, token))
    if start:
        asked = [Asked(run.configuration.name, {"batch": run.group}, id=run.id) for run in begun]
        library.jobs.submit_all("evaluate", asked)
    return told(request, {"runs": to_json(begun)}, 202)


@runs.post("/carry-out", dependencies=[WRITE], **sends("text/event-stream", description="Events `step`"))
def carry_out(request: Request, library: Opened, given: RunsNamed) -> Response:
    """Carry out runs; each step is an event. They stop when the client leaves."""
    return streamed(request, lambda token: _steps(library, given.run_ids, token))


@runs.get("/compare", dependencies=[READ], **answers(object_of("Differences", differences=list[Difference])))
def compare(request: Request, library: Opened, a: str, b: str) -> Response:
    """What run `b` does better or worse than run `a`."""
    with there("run"):
        return told(request, {"differences": to_json(library.evaluation.compare(a, b))})


@runs.get("/export", dependencies=[READ], **sends(*_FORMS.values()))
def export(
    library: Opened, run_ids: Annotated[list[str], Query(min_length=1)], form: Literal["csv", "json", "html"]
) -> Response:
    """Runs as one file: a row for each question, everything, or a page that opens by itself."""
    with there("run"):
        headers = {"Content-Disposition": f"attachment; filename=runs.{form}"}
        return Response(library.evaluation.export(run_ids, form), media_type=_FORMS[form], headers=headers)


@runs.get("/{run_id}", dependencies=[READ], **answers(shown(Run)))
def one_run(request: Request, library: Opened, run_id: str) -> Response:
    """One run."""
    with there("run"):
        return told(request, to_json(library.evaluation.run(run_id)))


@runs.get("/{run_id}/results", dependencies=[READ], **answers(object_of("Results", results=list[Result])))
def results(
    request: Request, library: Opened, run_id: str,
    question_ids: Annotated[list[str] | None, Query(description="all without any")] = None,
    passages: Annotated[bool, Query(description="with texts")] = False,
) -> Response:  # fmt: skip
    """What a run found for each question."""
    with there("run"):
        library.evaluation.run(run_id)
    return told(request, {"results": to_json(library.evaluation.results(run_id, question_ids, passages=passages))})


@runs.get("/{run_id}/calibration", dependencies=[READ], **answers(shown(Calibration)))
def calibration(request: Request, library: Opened, run_id: str) -> Response:
    """How far the confidence of a run's answers can be trusted."""
    with there("run"):
        library.evaluation.run(run_id)
    return told(request, to_json(library.evaluation.calibration(run_id)))


@runs.post("/{run_id}/cancel", dependencies=[WRITE], **answers(shown(Run)))
def cancel(request: Request, library: Opened, run_id: str) -> Response:
    """Stop a run at its next question."""
    with there("run"):
        library.evaluation.run(run_id)
        library.jobs.cancel(run_id)
        library.evaluation.cancel(run_id)
        return told(request, to_json(library.evaluation.run(run_id)))


@runs.delete("/{run_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def delete(library: Opened, run_id: str) -> None:
    """Delete a run with its results."""
    with there("run"):
        if library.evaluation.run(run_id).state == "running":
            raise Refused(409, "The run is under way.", "Cancel it first.")
    library.evaluation.delete_run(run_id)


def _steps(library: Library, run_ids: Sequence[str] | None, token: Cancellation) -> Iterator[Event]:
    return (("step", to_json(step)) for step in library.evaluation.carry_out(run_ids, cancellation=token))
