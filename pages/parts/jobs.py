"""The board of files being added: two threads work through them, every session looks at the same board.

Adding therefore goes on when a page is left or reloaded, and a second tab sees it too. One thread has the library keep
the bytes of whatever comes, at once: from then on nothing is lost when Lectern ends. The other takes what was kept to
its end.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document, Stage, Upload
from rag_core.errors import EncryptedDocument, LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

ENDS: tuple[Stage, ...] = ("ready", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Job:
    """One file on the board, as it stands now. `document_id` is known once the library has accepted it."""

    id: str
    name: str
    stage: Stage = "waiting"
    done: int = 0
    total: int = 0
    note: str = ""
    error: Exception | None = None
    document_id: str = ""
    resumed: bool = False
    stopping: bool = False

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.stage in ENDS

    @property
    def locked(self) -> bool:
        """Whether it waits for a password."""
        return isinstance(self.error, EncryptedDocument)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Files that go through the library in one call, by names that differ, as events come by name.

    "accept" has the library keep their bytes, "finish" takes them to their end; "add" does both for those whose bytes
    another one is bringing in. "left" is what an earlier run left unfinished; its files are not known yet.
    """

    step: Literal["accept", "finish", "add", "retry", "left"]
    ids: tuple[str, ...] = ()
    password: str | None = None


class JobBoard:
    """Thread-safe. Files are taken in the order in which they came, as many at once as have names of their own."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._sources: dict[str, Upload | Path] = {}
        self._queues: dict[str, list[_Batch]] = {"accepting": [], "adding": []}
        self._workers: dict[str, threading.Thread] = {}
        self._running: dict[str, Cancellation] = {}
        self._noting = threading.Lock()
        self._resumed = False
        self._closed = False
        self.finished_count = 0

    def jobs(self) -> tuple[Job, ...]:
        """All jobs in the order in which they came."""
        with self._changed:
            return tuple(self._jobs.values())

    @property
    def busy(self) -> bool:
        """Whether any file is waiting or being worked on."""
        return any(not job.finished for job in self.jobs())

    def submit(self, sources: Iterable[Upload | Path]) -> None:
        """Put files on the board. The lines of files that are ready are cleared away first."""
        self.clear(("ready", "cancelled"))
        with self._changed:
            ids = [self._enter(source.name, source).id for source in sources]
            for batch in self._apart(ids):
                self._enqueue(_Batch("accept", batch))

    def resume(self) -> None:
        """Go on with what an earlier run left unfinished; done once per process."""
        with self._changed:
            if not self._resumed:
                self._resumed = True
                self._enqueue(_Batch("left"))

    def retry(self, job_id: str, password: str | None = None) -> None:
        """Try a failed or cancelled file again, with a password if it needs one."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or not job.finished:
                return
            kept_by_library = bool(job.document_id) and job.stage == "failed"
            if kept_by_library or job_id in self._sources:
                self._jobs[job_id] = Job(job.id, job.name, document_id=job.document_id)
                self._enqueue(_Batch("retry" if kept_by_library else "accept", (job_id,), password))

    def retry_document(self, document: Document) -> None:
        """Try a failed document of the library again, from the bytes that were kept."""
        with self._changed:
            name = document.sources[0] if document.sources else document.title
            job = self._enter(name, None, document_id=document.id)
            self._enqueue(_Batch("retry", (job.id,)))

    def cancel(self, job_id: str) -> None:
        """Stop one file: at once when it is waiting, at its next page or batch when it is being worked on."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or job.finished:
                return
            waiting = job.stage == "waiting"
            self._update(job_id, **({"stage": "cancelled"} if waiting else {"stopping": True}))
            for token in self._running.values():
                token.cancel(job.name)
        if waiting and job.document_id:
            self._forget(job_id, job.document_id)

    def dismiss(self, job_id: str) -> None:
        """Take a finished file off the board."""
        with self._changed:
            if job_id in self._jobs and self._jobs[job_id].finished:
                del self._jobs[job_id]
                self._sources.pop(job_id, None)

    def clear(self, stages: Sequence[Stage] = ENDS) -> None:
        """Take all finished files off the board, or those that ended in the given way."""
        for job in self.jobs():
            if job.stage in stages:
                self.dismiss(job.id)

    def close(self) -> None:
        """Stop all work; what is under way ends at its next step and stays pending or is undone."""
        with self._changed:
            self._closed = True
            for token in self._running.values():
                token.cancel()
            self._changed.notify_all()

    def _enter(self, name: str, source: Upload | Path | None, *, document_id: str = "", resumed: bool = False) -> Job:
        job = Job(uuid.uuid4().hex, name, document_id=document_id, resumed=resumed)
        self._jobs[job.id] = job
        if source is not None:
            self._sources[job.id] = source
        return job

    def _apart(self, ids: Iterable[str]) -> list[tuple[str, ...]]:
        """Files in as few batches as keep those of one name apart."""
        batches: list[dict[str, str]] = []
        for job_id in ids:
            name = self._jobs[job_id].name
            batch = next((batch for batch in batches if name not in batch), None)
            if batch is None:
                batches.append(batch := {})
            batch[name] = job_id
        return [tuple(batch.values()) for batch in batches]

    def _enqueue(self, batch: _Batch) -> None:
        road = "accepting" if batch.step == "accept" else "adding"
        self._queues[road].append(batch)
        worker = self._workers.get(road)
        if worker is None or not worker.is_alive():
            worker = threading.Thread(target=self._work, args=(road,), name=f"lectern-{road}", daemon=True)
            self._workers[road] = worker
            worker.start()
        self._changed.notify_all()

    def _work(self, road: str) -> None:
        queue = self._queues[road]
        while True:
            with self._changed:
                self._changed.wait_for(lambda: queue or self._closed)
                if self._closed:
                    return
                batch = queue.pop(0)
                # Whatever was cancelled while it waited is left out.
                ids = [job_id for job_id in batch.ids if job_id in self._jobs and not self._jobs[job_id].finished]
                token = self._running[road] = Cancellation()
            if batch.step == "left":
                self._find_left()
            elif ids:
                self._run(ids, batch, token)
            with self._changed:
                del self._running[road]

    def _find_left(self) -> None:
        """Begin a line for each document that an earlier run left unfinished, the oldest first."""
        try:
            with self._noting:
                documents = self._library().documents()
                with self._changed:
                    known = {job.document_id for job in self._jobs.values()}
                    left = [item for item in reversed(documents) if item.state in ("pending", "stored")]
                    names = {item.id: item.sources[0] if item.sources else item.title for item in left}
                    ids = [
                        self._enter(name, None, document_id=document_id, resumed=True).id
                        for document_id, name in names.items()
                        if document_id not in known
                    ]
                    for batch in self._apart(ids):
                        self._enqueue(_Batch("finish", batch))
        except LecternError as error:
            logger.warning("What an earlier run left is looked for again: %s", error)
            self._resumed = False

    def _run(self, ids: list[str], batch: _Batch, token: Cancellation) -> None:
        error: LecternError | None = None
        try:
            if batch.step == "accept":
                self._accept(ids, token)
                return
            for event in self._events(ids, batch, token):
                self._take(event, ids)
        except LecternError as raised:
            error = raised
        except Exception:
            logger.exception("Adding failed")
            error = LecternError("Something inside Lectern failed while adding.", help="Try again; the log says more.")
        for job in self._of(ids):
            if not job.finished and not self._closed:
                ended = error or LecternError("Adding ended early.", help="Try again.")
                self._update(job.id, stage="failed", error=ended)

    def _accept(self, ids: list[str], token: Cancellation) -> None:
        """Have the library keep the bytes of files, then put them in line. Raises LecternError."""
        unwanted = []
        with self._noting:
            for event in self._library().accept(self._sources_of(ids), cancellation=token):
                job = self._take(event, ids)
                if event.stage == "waiting" and event.document and (job is None or job.finished):
                    unwanted.append((job.id if job else "", event.document.id))  # cancelled on its way to the library
        with self._changed:
            waiting = [job for job in self._of(ids) if not job.finished]
            kept = tuple(job.id for job in waiting if job.document_id)
            others = tuple(job.id for job in waiting if not job.document_id)
            if kept:
                self._enqueue(_Batch("finish", kept))
            if others:
                self._enqueue(_Batch("add", others))
        for job_id, document_id in unwanted:
            self._forget(job_id, document_id)

    def _events(self, ids: list[str], batch: _Batch, token: Cancellation) -> Iterator[AddEvent]:
        if batch.step == "add":
            return self._library().add(self._sources_of(ids), cancellation=token)
        names = {job.document_id: job.name for job in self._of(ids)}
        if batch.step == "finish":
            return self._library().resume(names, cancellation=token)
        return self._library().retry(*names, password=batch.password, cancellation=token)

    def _take(self, event: AddEvent, ids: list[str]) -> Job | None:
        """Write one event onto its file's line, and return that; None where the line was dismissed."""
        with self._changed:
            jobs = self._of(ids)
            job = next((job for job in jobs if job.name == event.source or len(ids) == 1), None)
            if job is None or job.stage == "cancelled":
                return job
            document_id = event.document.id if event.document else job.document_id
            self._update(
                job.id, stage=event.stage, done=event.done, total=event.total, note=event.note, error=event.error,
                document_id=document_id,
            )  # fmt: skip
            return self._jobs[job.id]

    def _of(self, ids: Iterable[str]) -> list[Job]:
        """Those of some jobs that were not dismissed meanwhile."""
        with self._changed:
            return [self._jobs[job_id] for job_id in ids if job_id in self._jobs]

    def _sources_of(self, ids: Iterable[str]) -> list[Upload | Path]:
        with self._changed:
            return [self._sources[job_id] for job_id in ids if job_id in self._sources]

    def _forget(self, job_id: str, document_id: str) -> None:
        """Take a file that was cancelled while it waited out of the library."""
        try:
            self._library().remove(document_id)
        except LecternError as error:
            logger.warning("What was cancelled could not be removed: %s", error)
            if job_id in self._jobs:
                self._update(job_id, stage="failed", error=error, document_id=document_id)

    def _update(self, job_id: str, **changes: object) -> None:
        with self._changed:
            job = replace(self._jobs[job_id], **changes)  # type: ignore[arg-type]
            self._jobs[job_id] = job
            if job.finished:
                self.finished_count += 1
            if job.stage == "ready" or job.document_id:
                self._sources.pop(job_id, None)  # hundreds of megabytes, perhaps
