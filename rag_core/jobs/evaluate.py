"""Runs of the evaluation, and the drafting of its questions, as jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from rag_core.cancellation import Cancellation
from rag_core.domain import Job, Progress, Question
from rag_core.jobs.base import Kind, Request
from rag_core.jobs.board import Run

if TYPE_CHECKING:
    from rag_core.library import Library


class EvaluationKind(Kind):
    """Runs of the evaluation, each a job under its own id; those that began together take turns."""

    name = "evaluate"
    lane = "evaluating"
    queues = resumes = True

    def __init__(self, library: Library) -> None:
        self._library = library

    def batch(self, waiting: Sequence[Job]) -> Sequence[Job]:
        """Those that were begun together."""
        return [job for job in waiting if job.params == waiting[0].params]

    def run(self, run: Run) -> None:
        """Carry runs out. How each ended is its own word."""
        evaluation = self._library.evaluation
        ids = [job.id for job in run.jobs]
        for step in evaluation.steps(ids, cancellation=run.token):
            run.tell(step.note, step)
        states = {found.id: found.state for found in evaluation.runs()}
        for run_id in ids:
            state = states.get(run_id, "cancelled")  # it was deleted
            if state not in ("waiting", "running"):  # as it is where the library is being closed
                run.end(run_id, state)

    def cancel(self, token: Cancellation, job: Job) -> None:
        """One run of those that take turns."""
        token.cancel(job.id)

    def lost(self, token: Cancellation, job: Job) -> None:
        """The others go on."""
        token.cancel(job.id)

    def dropped(self, job: Job) -> None:
        """It does not go on by itself either."""
        with suppress(KeyError):
            self._library.evaluation.cancel(job.id)

    def left(self, known: Collection[Job]) -> Iterable[Request]:
        """Runs that were under way."""
        there = {job.id for job in known}
        for run in reversed(self._library.evaluation.runs()):
            if run.state in ("waiting", "running") and run.id not in there:
                yield Request(run.configuration.name, id=run.id)


class DraftKind(Kind):
    """Questions for a set, from the documents; those made so far can be looked at meanwhile."""

    name = lane = "draft"

    def __init__(self, library: Library) -> None:
        self._library = library

    def run(self, run: Run) -> None:
        """Draft. `params`: set, count, documents or None for all, model or None for none."""
        (job,) = run.jobs
        evaluation, wanted = self._library.evaluation, job.params
        made: tuple[Question, ...] = ()
        run.tell(job.id, Progress("drafting", 0, wanted["count"]))
        # Another draw of chance each time, or a second drafting would bring the same questions.
        seed = len(evaluation.questions(wanted["set"]))
        for question in evaluation.draft(
            wanted["count"], wanted["documents"], wanted["model"], seed, cancellation=run.token
        ):
            made = (*made, replace(question, id=uuid4().hex[:12]))
            run.tell(job.id, Progress("drafting", len(made), wanted["count"]), result=made)
        run.end(job.id, "cancelled" if run.token.is_set() else "done", result=made)
