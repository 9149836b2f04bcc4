"""The kinds of long work that a library does, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from rag_core.cancellation import Cancellation
from rag_core.domain import BackupReport, Job, Progress
from rag_core.domain import Run as EvaluationRun
from rag_core.errors import ConfigurationError
from rag_core.jobs.add import AddKind
from rag_core.jobs.base import Kind, Plain, Request
from rag_core.jobs.evaluate import DraftKind, EvaluationKind
from rag_core.jobs.fetch import FetchKind

if TYPE_CHECKING:
    from rag_core.library import Library
    from rag_core.services.maintenance import Maintenance
    from rag_core.wiring import Services


def kinds(library: Library) -> tuple[Kind, ...]:
    """Every kind. Checks, backups and what makes the vectors anew are done one at a time, each in its lane."""
    upkeep = library.maintenance
    return (
        AddKind(library),
        FetchKind(library),
        EvaluationKind(library),
        DraftKind(library),
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


def follow_runs(library: Services, runs: Sequence[EvaluationRun], token: Cancellation) -> Iterator[Progress]:
    """Have runs of the evaluation carried out, telling of each step. Raises what kept one from being begun."""
    batch = {"batch": uuid4().hex}
    asked = [Request(run.configuration.name, batch, id=run.id) for run in runs]
    ids = [job.id for job in library.jobs.submit_all(EvaluationKind.name, asked)] if asked else []
    steps: dict[str, Progress] = {}
    for job in library.jobs.follow(ids, token):
        if job.progress.note and steps.get(job.id) != job.progress:
            steps[job.id] = job.progress
            yield job.progress
        if job.error is not None:
            raise job.error


def keep_up(library: Services, kind: str) -> None:
    """Have what goes on in the background done, as the one job of its kind. Raises what it fails with."""
    asked = library.jobs.submit_all(kind, [Request(id=kind)])
    for job in library.jobs.follow([job.id for job in asked], Cancellation()):
        if job.error is not None:
            raise job.error


def _backup(upkeep: Maintenance, job: Job) -> BackupReport:
    try:
        return upkeep.backup(job.params["path"], replace=bool(job.params.get("replace")))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConfigurationError(f"It cannot be written there: {reason}.", help="Name another file.") from error


def _discard(upkeep: Maintenance) -> Progress:
    upkeep.discard_reembedding()
    return Progress("forgotten")


def _download(library: Services, job: Job, token: Cancellation) -> Iterator[Progress]:
    wanted, sha256, owner = job.params["wanted"], job.params.get("sha256", ""), bool(job.params.get("owner"))
    return library.language_models.download(wanted, sha256=sha256, owner=owner, cancellation=token)
