"""Addresses and followed sources as jobs: fetched, or looked at again, in the background."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Job, Progress, SourceReport, WebAddress
from rag_core.errors import AddressRefused, LecternError
from rag_core.jobs.base import Kind
from rag_core.jobs.board import Run

if TYPE_CHECKING:
    from rag_core.library import Library


class FetchKind(Kind):
    """A job's name is the location. `params`: depth, pages and delay_s of an address that is added, and tags for its
    documents; none to update."""

    name = "visit"
    lane = "visiting"
    queues = resumes = True

    def __init__(self, library: Library) -> None:
        self._library = library

    def run(self, run: Run) -> None:
        """Visit one source. What failed of it is told of in the result; a source that fails wholly too."""
        (job,) = run.jobs
        ready = unchanged = 0
        failed: list[tuple[str, str, str]] = []
        notes: list[str] = []
        private: list[str] = []
        run.tell(job.id, Progress("fetching"))
        for event in self._events(job, _StopsAt(run.token, job.name)):
            if event.stage == "fetching":
                run.tell(job.id, Progress("fetching", event.done, event.total, event.source))
            elif event.stage == "ready":
                ready, unchanged = ready + (not event.note), unchanged + bool(event.note)
                if event.document and job.params.get("tags"):
                    self._library.catalogue.tag([event.document.id], add=job.params["tags"])
            elif event.stage == "failed":
                help_text = event.error.help if isinstance(event.error, LecternError) else ""
                failed.append((event.source, str(event.error), help_text))
                if isinstance(event.error, AddressRefused) and event.error.private:
                    private.append(event.error.private)
            elif event.source == job.name and event.note:
                notes.append(event.note)
        stopped = run.token.is_set() or self._library.is_closing
        report = SourceReport(ready, unchanged, tuple(failed), tuple(notes), tuple(dict.fromkeys(private)))
        run.end(job.id, "cancelled" if stopped else "done", result=report)

    def _events(self, job: Job, token: Cancellation) -> Iterator[AddEvent]:
        if job.params:
            how = {name: value for name, value in job.params.items() if name != "tags"}
            return self._library.add([WebAddress(job.name, **how)], cancellation=token)
        return self._library.sources.update([job.name], cancellation=token)


class _StopsAt(Cancellation):
    """Stops the fetching of one source where another token is set. What it has led to so far goes on to its end."""

    def __init__(self, token: Cancellation, location: str) -> None:
        super().__init__()
        self._token = token
        self._location = location

    def is_set(self, source: str | None = None) -> bool:
        """Whether to stop."""
        return source == self._location and self._token.is_set()
