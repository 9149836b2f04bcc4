"""Files as jobs: accepted at once, then read and embedded, many at a time."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Job, JobState, Progress
from rag_core.errors import LecternError
from rag_core.jobs.base import Kind, Request
from rag_core.jobs.board import Run
from rag_core.sources import Keyed

if TYPE_CHECKING:
    from rag_core.library import Library

_ENDS: Mapping[str, JobState] = {"ready": "done", "failed": "failed", "cancelled": "cancelled"}
_TOGETHER = 32  # documents that one process takes at a time, where others may take the rest
_LONG_BYTES = 2**19  # files that are larger are read and embedded beside the others

_NAMED = 20
OWNER = "of"
"""The parameter of a job that says whose own its document becomes; it is everybody's without."""


@dataclass(slots=True)
class Held:
    """What a container among the files holds: documents that wait, by their paths inside, and what else is said."""

    documents: dict[str, str] = field(default_factory=dict)
    known: int = 0
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: LecternError | None = None

    def take(self, event: AddEvent) -> None:
        """One event of it, or of one of its documents."""
        path = event.source.partition("/")[2]
        if event.stage == "waiting" and event.document:
            self.documents[path] = event.document.id
        elif event.stage == "failed" and not path:
            self.error = event.error if isinstance(event.error, LecternError) else None
        elif event.stage == "failed":
            self.failed.append(f"{path} ({event.error})")
        elif event.stage == "cancelled" and event.note:
            self.notes.append(event.note)
        self.known += event.stage == "ready" or (event.stage == "waiting" and not event.document)

    @property
    def note(self) -> str:
        """What is said of it."""
        more = f" and {len(self.failed) - _NAMED} more" if len(self.failed) > _NAMED else ""
        failed = f"Not taken: {', '.join(self.failed[:_NAMED])}{more}." if self.failed else ""
        known = f", {self.known:,} of them in the library already" if self.known else ""
        count = len(self.documents) + self.known
        return " ".join(filter(None, [f"{count:,} documents found in it{known}.", failed, *self.notes]))


class AddKind(Kind):
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
        self._looked = False

    def lane_of(self, job: Job) -> str:
        """Accepted files are read in a lane of their own, so that others are accepted meanwhile, and long ones in
        another, so that no short one waits for them."""
        if job.id in self._long:
            return "adding long"
        return "adding" if job.document_id or job.id in self._elsewhere else self.lane

    def batch(self, waiting: Sequence[Job]) -> Sequence[Job]:
        """All that go the way of the first one; what is tried again, perhaps with a password, goes alone.

        Of several files with the same bytes one goes first, and what is of several people goes by itself.
        """
        if waiting[0].params.get("retry"):
            return waiting[:1]
        way, of = bool(waiting[0].document_id), waiting[0].params.get(OWNER)
        alike = [job for job in waiting if bool(job.document_id) == way and not job.params.get("retry")]
        alike = [job for job in alike if way or job.params.get(OWNER) == of]
        if way:
            alike = list({job.document_id: job for job in reversed(alike)}.values())[::-1]
        return alike[:_TOGETHER] if way and self._library.storage.is_shared else alike

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
        """Documents that are half in, the oldest first: at first this server's own too, then those alone of servers
        that are gone; of these such as have their files here."""
        with self._noting:
            documents = self._library.ingest.left(own=not self._looked)
        self._looked = True
        there = {job.document_id for job in known}
        for document in documents:
            if document.id not in there:
                name = document.sources[0] if document.sources else document.title
                yield Request(name, document_id=document.id)

    def can_take(self, job: Job) -> bool:
        """Where its file is here, or no other server is there that may have it."""
        return self._library.ingest.can_take(job.document_id, job.params.get("path"))

    def can_resume(self, job: Job) -> bool:
        """Files that had not been read from their place are read from there; uploads that were not kept are lost."""
        return bool(job.document_id or job.params.get("path"))

    def cancel(self, token: Cancellation, job: Job) -> None:
        """One of many files; what is tried again goes alone."""
        token.cancel(None if job.params.get("retry") else job.id)

    def lost(self, token: Cancellation, job: Job) -> None:
        """Its commit is refused; a cancelled document would be removed."""

    def given_up(self, job: Job, error: LecternError) -> None:
        """Its document has failed, or it would be taken up again at the next start."""
        if job.document_id:
            self._library.storage.documents.fail(job.document_id, error)

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
        held: dict[str, Held] = {}  # what containers among the files hold, by their jobs
        with self._noting:
            for event in self._library.accept(_sources(run), cancellation=run.token, owner=_owner(run)):
                document_id = event.document.id if event.document else ""
                holder, _, path = event.source.partition("/")
                if path or holder in held or (event.stage == "cancelled" and event.note):
                    held.setdefault(holder, Held()).take(event)
                    continue
                if event.stage != "waiting":
                    self._take(run, event.source, event)
                    continue
                if not document_id:
                    self._elsewhere.add(event.source)
                if event.document and event.document.byte_size > _LONG_BYTES:
                    self._long.add(event.source)
                self._tag(run, event.source, document_id)
                job = run.put_back(event.source, document_id=document_id)
                if document_id and (job is None or job.finished):
                    unwanted.append(document_id)  # cancelled on its way to the library
        for document_id in unwanted:
            self._library.remove(document_id)
        for job in run.jobs:
            if job.id in held:
                self._leave(run, job, held[job.id])

    def _leave(self, run: Run, job: Job, held: Held) -> None:
        """A container's documents have jobs of their own from now on, as if its folder had been added."""
        for document_id in held.documents.values():
            self._tag(run, job.id, document_id)
        params = {OWNER: owner} if (owner := _owner(run)) else {}
        requests = [Request(f"{job.name}/{path}", params, document_id=key) for path, key in held.documents.items()]
        with suppress(LecternError):  # the library is closed: they are resumed at the next start
            self._library.jobs.submit_all(self.name, requests)
        if held.error is not None:
            run.end(job.id, "failed", error=held.error, progress=Progress("failed", note=held.note))
        else:
            run.end(job.id, "done", progress=Progress("ready", note=held.note))

    def _events(self, run: Run, first: Job) -> Iterator[AddEvent]:
        if first.params.get("retry"):
            return self._library.retry(first.document_id, password=run.private(first.id), cancellation=run.token)
        if first.document_id:
            return self._library.resume({job.document_id: job.id for job in run.jobs}, cancellation=run.token)
        return self._library.add(_sources(run), cancellation=run.token, owner=_owner(run))

    def _take(self, run: Run, job_id: str, event: AddEvent) -> None:
        changes: dict[str, Any] = {"document_id": event.document.id} if event.document else {}
        progress = Progress(event.stage, event.done, event.total, event.note)
        if event.stage == "ready" and event.document:
            self._tag(run, job_id, event.document.id)
        if event.stage in _ENDS:
            self._elsewhere.discard(job_id)
            self._long.discard(job_id)
            run.end(job_id, _ENDS[event.stage], progress=progress, error=event.error, **changes)
        else:
            run.tell(job_id, progress, **changes)

    def _tag(self, run: Run, job_id: str, document_id: str) -> None:
        """Put the tags on a document that it was added with, and it into the collection that was looked at."""
        params = next((job.params for job in run.jobs if job.id == job_id), {})
        if document_id and (tags := params.get("tags")):
            self._library.catalogue.tag([document_id], add=tags)
        if document_id and (collection := params.get("collection")):
            self._library.people.put(collection, document_id)


def _owner(run: Run) -> str:
    """Whose own all that a run accepts becomes."""
    return str(run.jobs[0].params.get(OWNER, ""))


def _sources(run: Run) -> list[Keyed]:
    """What is added, each told of by its job's id. A path that was given before may be kept with the job alone."""
    return [Keyed(job.id, run.private(job.id) or Path(job.params["path"])) for job in run.jobs]
