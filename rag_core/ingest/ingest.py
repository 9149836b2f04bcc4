"""What starts, watches and ends the runs of one library."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document
from rag_core.embedding import Embedder
from rag_core.ingest import pending
from rag_core.ingest.context import RunContext
from rag_core.ingest.intake import intake, leave_pending
from rag_core.ingest.leases import Leases
from rag_core.ingest.pipeline import carry
from rag_core.ingest.stages import Stages
from rag_core.ingest.work import BATCH_DOCUMENTS, Work
from rag_core.reading import SUFFIXES
from rag_core.settings import Settings
from rag_core.sources import CONTAINERS, Found, Looking, Source, expand
from rag_core.storage import Storage
from rag_core.storage.postgres.database import storable

TAKEN = SUFFIXES | CONTAINERS
"""The endings of the files that are taken from folders."""


class Ingest:
    """Adds sources to a library. One per library; runs of several callers go side by side.

    `settings()` are those in effect when a run begins, `embedder()` the model for what it adds. `stages` is where the
    work is carried out. `removed` is told of documents that newer versions took the places of.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        storage: Storage,
        stages: Stages,
        embedder: Callable[[], Embedder],
        removed: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._storage = storage
        self.stages = stages
        self._embedder = embedder
        self._removed = removed
        self._committing = threading.Lock()
        self._leases = Leases()
        self._runs: set[RunContext] = set()

    def run(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None,
        owner: str = "",
    ) -> Iterator[AddEvent]:  # fmt: skip
        """Add sources, telling of each step, for everybody or for their owner. A source that fails has an event with
        its error; the rest goes on."""
        return self.bring(lambda looking: expand(sources, looking), password, cancellation, again=False, owner=owner)

    def bring(
        self,
        found: Callable[[Looking], Iterable[Found]],
        password: str | None = None,
        cancellation: Cancellation | None = None,
        *,
        again: bool = True,
        owner: str = "",
    ) -> Iterator[AddEvent]:
        """The same for what `found` makes of a look. again: what the user removed, or what failed, is left as it is."""
        self.stages.open()
        run = self._new(password, cancellation, owner=owner)
        # Whatever was accepted is resumed when this process ends early: so all is, however long reading takes.
        return self._carried(run, lambda: intake(run, found(self._looking(run, again))), room=math.inf)

    def accept(
        self, sources: Iterable[Source], *, password: str | None = None, cancellation: Cancellation | None = None,
        owner: str = "",
    ) -> Iterator[AddEvent]:  # fmt: skip
        """Keep the bytes of sources and note them as pending documents, for `resume` to take on."""
        run = self._new(password, cancellation, owner=owner)

        def accept() -> None:
            leave_pending(run, expand(sources, self._looking(run)))
            run.tell_folders()

        return self._events(run, accept)

    def resume(
        self, documents: Mapping[str, str] | None = None, *, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Finish accepted documents: these ids, each with the name that its events have, or all there are."""
        self.stages.open()
        run = self._new(None, cancellation, documents)
        if documents is not None:
            return self._carried(run, lambda: pending.named_documents(run))
        return self._carried(run, lambda: pending.unfinished_documents(run, self._storage.documents.pending()))

    def retry(
        self, document: Document, *, password: str | None = None, cancellation: Cancellation | None = None
    ) -> Iterator[AddEvent]:
        """Read a failed document again from its kept bytes, perhaps with a password; of a ready one, in the background,
        the pages that could not be recognised."""
        self.stages.open()
        run = self._new(password, cancellation)
        self._storage.documents.retry(document.id)
        self._storage.documents.recognition.retry(document.id)
        self._storage.wake()
        return self._carried(run, lambda: pending.unfinished_documents(run, [document]))

    def replace(self, documents: Mapping[str, str]) -> Iterator[AddEvent]:
        """Read ready documents, these ids with names for their events, once more from their kept bytes.

        Their chunks answer until the new ones take their place. One that fails stays as it is.
        """
        self.stages.open()
        run = self._new(None, None, documents)
        return self._carried(run, lambda: pending.ready_documents(run))

    def left(self, *, own: bool) -> list[Document]:
        """Documents that are half in and that nobody brings in, the oldest first: those of servers that are gone whose
        files are here; `own`: this server's too, and all of those that nobody can say whose they are."""
        found = self._storage.documents.abandoned(own=own)
        return [one for one in found if own or self._storage.files.has(one.id)]

    def can_take(self, document_id: str, path: str | None) -> bool:
        """Whether a document that was accepted, or else a file, is here, or no other server is there that may have
        it."""
        is_here = self._storage.files.has(document_id) if document_id else path is None or Path(path).exists()
        return is_here or not self._storage.servers.others()

    @property
    def committing(self) -> AbstractContextManager[object]:
        """Whoever holds it keeps documents from coming in: nothing is committed meanwhile."""
        return self._committing

    def close(self) -> None:
        """Stop every run at its next step and wait for it; what was accepted stays pending and is resumed."""
        runs = list(self._runs)
        for run in runs:  # all at once: one may be waiting for another
            run.interrupt()
        for run in runs:
            run.end()
        self.stages.close()

    def _new(
        self, password: str | None, cancellation: Cancellation | None, names: Mapping[str, str] | None = None,
        owner: str = "",
    ) -> RunContext:  # fmt: skip
        return RunContext(
            self._settings(), self._storage, self.stages, self._embedder, self._leases, self._committing,
            self._removed, cancellation or Cancellation(), names=names or {},
            # What no document can have as its password is a wrong one, not a failure of a store.
            password=storable(password) if password else None, owner=owner,
        )  # fmt: skip

    def _looking(self, run: RunContext, again: bool = False) -> Looking:
        files, sources = self._storage.files, self._storage.sources
        return Looking(
            self._settings().sources, TAKEN, known=sources.at, known_below=sources.below, left_out=sources.left_out,
            original=files.read, kept=lambda: {key: held[0] for key, held in files.listing().items()},
            stopped=run.stopped, follow=sources.follow, again=again,
        )  # fmt: skip

    def _carried(
        self, run: RunContext, accepted: Callable[[], Iterable[list[Work]]], room: float = BATCH_DOCUMENTS
    ) -> Iterator[AddEvent]:
        def work() -> None:
            carry(run, accepted(), room=room)
            run.tell_folders()

        return self._events(run, work)

    def _events(self, run: RunContext, work: Callable[[], None]) -> Iterator[AddEvent]:
        self._runs.add(run)
        try:
            yield from run.events(work)
        finally:
            self._runs.discard(run)
