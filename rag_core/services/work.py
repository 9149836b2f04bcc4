"""The kinds of long work that a library does, a line each."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, BackupReport, Job, JobState, Progress, Question
from rag_core.domain import Run as EvaluationRun
from rag_core.errors import ConfigurationError
from rag_core.jobs import Jobs, Kind, Plain, Request, Run
from rag_core.services.visiting import Visiting
from rag_core.sources import Keyed

if TYPE_CHECKING:
    from rag_core.library import Library
    from rag_core.services.maintenance import Maintenance

_ENDS: Mapping[str, JobState] = {"ready": "done", "failed": "failed", "cancelled": "cancelled"}
_LONG_BYTES = 2**19  # files that are larger are read and embedded beside the others


def kinds(library: Library) -> tuple[Kind, ...]:
    """Every kind. Checks, backups and what makes the vectors anew are done one at a time, each in its lane."""
    upkeep = library.maintenance
    return (
        Adding(library),
        Visiting(library),
        Evaluating(library),
        Drafting(library),
        Plain("verify", "checking", lambda job, _: upkeep.verify(bool(job.params.get("deep")))),
        Plain("repair", "checking", lambda *_: upkeep.repair()),
        Plain("backup", "backing up", lambda job, _: _backup(upkeep, job)),
        Plain("reembed", "remaking", lambda _, token: upkeep.reembed(cancellation=token), resumes=True),
        Plain("discard", "remaking", lambda *_: _discard(upkeep)),
        Plain("rechunk", "rechunking", lambda _, token: upkeep.rechunk(cancellation=token), resumes=True),
        Plain("recognise", "recognising", lambda _, token: library.recognition.run(cancellation=token), resumes=True),
        Plain("cluster", "clustering", lambda _, token: library.clusters.run(cancellation=token), resumes=True),
        Plain("download", "downloading", lambda job, token: _download(library, job, token)),
    )


class Adding(Kind):
    """Files of this machine, uploads, and documents that failed before.

    A job first waits to be accepted: its bytes are kept from then on, and it has a document. Then it waits to be read
    and embedded, many at a time.
    """

    name = "add"
    lane = "accepting"
    queues = resumes = True

    def __init__(self, library: Library) -> None:
        self._library = library
        self._noting = threading.Lock()
        self._elsewhere: set[str] = set()  # jobs whose bytes another call is bringing in
        self._long: set[str] = set()  # jobs of long files

    def lane_of(self, job: Job) -> str:
        """Accepted files are read in a lane of their own, so that others are accepted meanwhile, and long ones in
        another, so that no short one waits for them."""
        if job.id in self._long:
            return "adding long"
        return "adding" if job.document_id or job.id in self._elsewhere else self.lane

    def batch(self, waiting: Sequence[Job]) -> Sequence[Job]:
        """All that go the way of the first one; what is tried again, perhaps with a password, goes alone.

        Of several files with the same bytes one goes first.
        """
        if waiting[0].params.get("retry"):
            return waiting[:1]
        way = bool(waiting[0].document_id)
        alike = [job for job in waiting if bool(job.document_id) == way and not job.params.get("retry")]
        return list({job.document_id: job for job in reversed(alike)}.values())[::-1] if way else alike

    def run(self, run: Run) -> None:
        """Accept files, or bring accepted ones to their end."""
        first = run.jobs[0]
        if self.lane_of(first) == self.lane:
            self._accept(run)
            return
        for event in self._events(run, first):
            job_id = first.id if len(run.jobs) == 1 else event.source
            self._take(run, job_id, event)

    def left(self, known: Collection[Job]) -> Iterable[Request]:
        """Documents that are half in, the oldest first."""
        with self._noting:
            documents = self._library.documents()
        there = {job.document_id for job in known}
        for document in reversed(documents):
            if document.state in ("pending", "stored") and document.id not in there:
                name = document.sources[0] if document.sources else document.title
                yield Request(name, document_id=document.id)

    def can_resume(self, job: Job) -> bool:
        """Files that had not been read from their place are read from there; uploads that were not kept are lost."""
        return bool(job.document_id or job.params.get("path"))

    def cancel(self, token: Cancellation, job: Job) -> None:
        """One of many files; what is tried again goes alone."""
        token.cancel(None if job.params.get("retry") else job.id)

    def lost(self, token: Cancellation, job: Job) -> None:
        """Its commit is refused; a cancelled document would be removed."""

    def again(self, job: Job, private: Any) -> Job | None:
        """A document that failed is read from its kept bytes; what never came into the library is accepted once more.

        What was asked with may be a password by then.
        """
        if job.document_id and job.state == "failed":
            return Job(job.id, job.kind, job.name, {**job.params, "retry": True}, document_id=job.document_id)
        return Job(job.id, job.kind, job.name, job.params) if private or job.params.get("path") else None

    def dropped(self, job: Job) -> None:
        """What was accepted leaves the library again."""
        self._long.discard(job.id)
        self._elsewhere.discard(job.id)
        if job.document_id and not job.params.get("retry"):
            self._library.remove(job.document_id)

    def _accept(self, run: Run) -> None:
        unwanted = []
        going_on = {job.id for job in self._library.jobs.all(self.name) if not job.finished}
        self._elsewhere &= going_on  # whichever way the others ended
        self._long &= going_on
        with self._noting:
            for event in self._library.accept(_sources(run), cancellation=run.token):
                document_id = event.document.id if event.document else ""
                if event.stage != "waiting":
                    self._take(run, event.source, event)
                    continue
                if not document_id:
                    self._elsewhere.add(event.source)
                if event.document and event.document.byte_size > _LONG_BYTES:
                    self._long.add(event.source)
                job = run.put_back(event.source, document_id=document_id)
                if document_id and (job is None or job.finished):
                    unwanted.append(document_id)  # cancelled on its way to the library
        for document_id in unwanted:
            self._library.remove(document_id)

    def _events(self, run: Run, first: Job) -> Iterator[AddEvent]:
        if first.params.get("retry"):
            return self._library.retry(first.document_id, password=run.private(first.id), cancellation=run.token)
        if first.document_id:
            return self._library.resume({job.document_id: job.id for job in run.jobs}, cancellation=run.token)
        return self._library.add(_sources(run), cancellation=run.token)

    def _take(self, run: Run, job_id: str, event: AddEvent) -> None:
        changes: dict[str, Any] = {"document_id": event.document.id} if event.document else {}
        progress = Progress(event.stage, event.done, event.total, event.note)
        if event.stage in _ENDS:
            self._elsewhere.discard(job_id)
            self._long.discard(job_id)
            run.end(job_id, _ENDS[event.stage], progress=progress, error=event.error, **changes)
        else:
            run.tell(job_id, progress, **changes)


class Evaluating(Kind):
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


class Drafting(Kind):
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


def follow_runs(jobs: Jobs, runs: Sequence[EvaluationRun], token: Cancellation) -> Iterator[Progress]:
    """Have runs of the evaluation carried out, telling of each step. Raises what kept one from being begun."""
    batch = {"batch": uuid4().hex}
    asked = [Request(run.configuration.name, batch, id=run.id) for run in runs]
    ids = [job.id for job in jobs.submit_all(Evaluating.name, asked)] if asked else []
    steps: dict[str, Progress] = {}
    for job in jobs.follow(ids, token):
        if job.progress.note and steps.get(job.id) != job.progress:
            steps[job.id] = job.progress
            yield job.progress
        if job.error is not None:
            raise job.error


def keep_up(library: Library, kind: str) -> None:
    """Have what goes on in the background done, as the one job of its kind. Raises what it fails with."""
    asked = library.jobs.submit_all(kind, [Request(id=kind)])
    for job in library.jobs.follow([job.id for job in asked], Cancellation()):
        if job.error is not None:
            raise job.error


def _sources(run: Run) -> list[Keyed]:
    """What is added, each told of by its job's id. A path that was given before may be kept with the job alone."""
    return [Keyed(job.id, run.private(job.id) or Path(job.params["path"])) for job in run.jobs]


def _backup(upkeep: Maintenance, job: Job) -> BackupReport:
    try:
        return upkeep.backup(job.params["path"], replace=bool(job.params.get("replace")))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConfigurationError(f"It cannot be written there: {reason}.", help="Name another file.") from error


def _discard(upkeep: Maintenance) -> Progress:
    upkeep.discard_reembedding()
    return Progress("forgotten")


def _download(library: Library, job: Job, token: Cancellation) -> Iterator[Progress]:
    wanted, sha256, owner = job.params["wanted"], job.params.get("sha256", ""), bool(job.params.get("owner"))
    return library.language_models.download(wanted, sha256=sha256, owner=owner, cancellation=token)
