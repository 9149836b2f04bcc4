"""The board of files being added: one thread works through them, every session looks at the same board.

Adding therefore goes on when a page is left or reloaded, and a second tab sees it too.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document, Stage, Upload
from rag_core.errors import EncryptedDocument, LecternError

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

OWN_CALL_BYTES = 256 * 1024
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
    """Files that go through the library in one call: small ones together, by names that differ, as events come by name.

    A large file goes alone, so that its progress is its own and it can be cancelled at any step.
    """

    ids: tuple[str, ...]
    password: str | None = None
    resume: bool = False
    retry: bool = False


class JobBoard:
    """Thread-safe. Files are taken in the order in which they came, as many at once as have names of their own."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._sources: dict[str, Upload | Path] = {}
        self._queue: list[_Batch] = []
        self._running: Cancellation | None = None
        self._worker: threading.Thread | None = None
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
            for batch in self._batches(ids):
                self._enqueue(batch)

    def resume(self) -> None:
        """Go on with what an earlier run left pending; done once per process."""
        with self._changed:
            if not self._resumed:
                self._resumed = True
                self._enqueue(_Batch((), resume=True))

    def retry(self, job_id: str, password: str | None = None) -> None:
        """Try a failed or cancelled file again, with a password if it needs one."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or not job.finished:
                return
            kept_by_library = bool(job.document_id) and job.stage == "failed"
            if kept_by_library or job_id in self._sources:
                self._jobs[job_id] = Job(job.id, job.name, document_id=job.document_id)
                self._enqueue(_Batch((job_id,), password, retry=kept_by_library))

    def retry_document(self, document: Document) -> None:
        """Try a failed document of the library again, from the bytes that were kept."""
        with self._changed:
            name = document.sources[0] if document.sources else document.title
            job = self._enter(name, None, document_id=document.id)
            self._enqueue(_Batch((job.id,), retry=True))

    def cancel(self, job_id: str) -> None:
        """Stop one file: at once when it is waiting, at its next page or batch when it is being worked on."""
        with self._changed:
            job = self._jobs.get(job_id)
            if job is None or job.finished:
                return
            if job.stage == "waiting":
                self._update(job_id, stage="cancelled")
            else:
                self._update(job_id, stopping=True)
            if self._running is not None:
                self._running.cancel(job.name)

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
            self._queue.clear()
            if self._running is not None:
                self._running.cancel()
            self._changed.notify_all()

    def _enter(self, name: str, source: Upload | Path | None, *, document_id: str = "", resumed: bool = False) -> Job:
        job = Job(uuid.uuid4().hex, name, document_id=document_id, resumed=resumed)
        self._jobs[job.id] = job
        if source is not None:
            self._sources[job.id] = source
        return job

    def _batches(self, ids: Iterable[str]) -> Iterator[_Batch]:
        batches: list[dict[str, str]] = []
        for job_id in ids:
            name = self._jobs[job_id].name
            if _size(self._sources[job_id]) > OWN_CALL_BYTES:
                yield _Batch((job_id,))
                continue
            batch = next((batch for batch in batches if name not in batch), None)
            if batch is None:
                batches.append(batch := {})
            batch[name] = job_id
        yield from (_Batch(tuple(batch.values())) for batch in batches)

    def _enqueue(self, batch: _Batch) -> None:
        self._queue.append(batch)
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._work, name="lectern-adding", daemon=True)
            self._worker.start()
        self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                batch = self._queue.pop(0)
                # Whatever was cancelled while it waited is left out.
                ids = [job_id for job_id in batch.ids if job_id in self._jobs and not self._jobs[job_id].finished]
                self._running = Cancellation()
            if ids or batch.resume:
                self._run(ids, batch, self._running)
            with self._changed:
                self._running = None

    def _run(self, ids: list[str], batch: _Batch, cancellation: Cancellation) -> None:
        error: LecternError | None = None
        try:
            for event in self._events(ids, batch, cancellation):
                self._take(event, ids, batch)
        except LecternError as raised:
            error = raised
        except Exception:
            logger.exception("Adding failed")
            error = LecternError("Something inside Lectern failed while adding.", help="Try again; the log says more.")
        for job_id in ids:
            if not self._jobs[job_id].finished:
                ended = error or LecternError("Adding ended early.", help="Try again.")
                self._update(job_id, stage="failed", error=ended)

    def _events(self, ids: list[str], batch: _Batch, cancellation: Cancellation) -> Iterator[AddEvent]:
        if batch.resume:
            return self._library().resume(cancellation=cancellation)
        if batch.retry:
            document_id = self._jobs[ids[0]].document_id
            return self._library().retry(document_id, password=batch.password, cancellation=cancellation)
        sources = [self._sources[job_id] for job_id in ids]
        return self._library().add(sources, password=batch.password, cancellation=cancellation)

    def _take(self, event: AddEvent, ids: list[str], batch: _Batch) -> None:
        """Write one event onto its file's line; when resuming, an event of an unknown name begins a line."""
        with self._changed:
            job_id = next((job_id for job_id in ids if self._jobs[job_id].name == event.source), None)
            if job_id is None and batch.resume:
                job_id = self._enter(event.source, None, resumed=True).id
                ids.append(job_id)
            job_id = job_id or ids[0]
            changes = {"stage": event.stage, "done": event.done, "total": event.total}
            document_id = event.document.id if event.document else self._jobs[job_id].document_id
            self._update(job_id, note=event.note, error=event.error, document_id=document_id, **changes)

    def _update(self, job_id: str, **changes: object) -> None:
        with self._changed:
            job = replace(self._jobs[job_id], **changes)  # type: ignore[arg-type]
            self._jobs[job_id] = job
            if job.finished:
                self.finished_count += 1
                if job.stage == "ready" or (job.stage == "failed" and job.document_id):
                    self._sources.pop(job_id, None)  # hundreds of megabytes, perhaps


def _size(source: Upload | Path) -> int:
    """Bytes; 0 for a file that is not there, which the library will say in words."""
    if isinstance(source, Upload):
        return len(source.data)
    return source.stat().st_size if source.is_file() else 0
