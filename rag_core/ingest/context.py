"""The context of one run: what its stages work with, its events and leases, and how a document's road ends."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document, Stage
from rag_core.embedding import Embedder
from rag_core.errors import Cancelled, LecternError, StoreUnavailable
from rag_core.ingest.folder_ends import Folder
from rag_core.ingest.leases import Leases
from rag_core.ingest.stages import Stages
from rag_core.ingest.work import Work
from rag_core.settings import Settings
from rag_core.storage import Storage

_log = logging.getLogger(__name__)
_REMOVED = "removed while it was added"
_LOOK_S = 0.1


@dataclass(slots=True, eq=False)
class RunContext:
    """One call of add, accept, resume, retry or replace. Thread-safe: its stages go on in threads of their own.

    embedder: the model for what is added now. committing: held by whoever commits. removed: told of each document that
    a newer version took the place of. names: those by which documents are told of, by id, instead of their own.
    folders: those that were gone through. failures: what failed so far, by the names of sources. owner: the person
    whose documents they are, "" where they are everybody's.
    """

    settings: Settings
    storage: Storage
    stages: Stages
    embedder: Callable[[], Embedder]
    leases: Leases
    committing: threading.Lock
    removed: Callable[[str], None]
    cancellation: Cancellation
    password: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    folders: list[Folder] = field(default_factory=list)
    failures: dict[str, LecternError] = field(default_factory=dict)
    owner: str = ""
    _events: queue.SimpleQueue[AddEvent | None] = field(default_factory=queue.SimpleQueue)
    _interrupted: threading.Event = field(default_factory=threading.Event)
    _work: Future[None] | None = None

    def events(self, work: Callable[[], None]) -> Iterator[AddEvent]:
        """Do the work in a thread and yield what it tells. A caller who stops listening interrupts
        it: what was accepted stays pending and is resumed."""
        with ThreadPoolExecutor(1, thread_name_prefix="lectern-add") as thread:
            self._work = thread.submit(work)
            self._work.add_done_callback(lambda _: self._events.put(None))
            try:
                while (event := self._events.get()) is not None:
                    yield event
                self._work.result()
            finally:
                self.end()

    def end(self) -> None:
        """Stop and wait for it. However the work ended, other runs may take up what it held."""
        self.interrupt()
        if self._work is not None:
            wait([self._work])
        self.leases.release(self)

    def interrupt(self) -> None:
        """Stop at the next step without cancelling: what was accepted stays pending."""
        self._interrupted.set()

    @property
    def interrupted(self) -> bool:
        """Whether it is to stop without cancelling."""
        return self._interrupted.is_set()

    def stopped(self, source: str | None) -> bool:
        """Whether a source is not to go on, for whatever reason; None asks of them all."""
        return self.interrupted or self.cancellation.is_set(source)

    def tell(
        self,
        source: str,
        stage: Stage,
        done: int = 0,
        total: int = 0,
        *,
        document: Document | None = None,
        error: LecternError | None = None,
        note: str = "",
    ) -> None:
        """Tell the caller of a step."""
        if error is not None:
            self.failures[source] = error
        self._events.put(AddEvent(source, stage, done, total, document, error, note))

    def tell_folders(self) -> None:
        """Tell, of each folder that was added, what of it was not taken and why, once all else is told."""
        for folder in self.folders:
            if not self.interrupted and (note := folder.told(self.failures)):
                self.tell(folder.name, "cancelled", note=note)

    def lease(self, document_id: str) -> bool:
        """Lease a document. Returns whether nobody had."""
        return self.leases.take(document_id, self)

    def release(self, document_id: str) -> None:
        """Let other runs have a document."""
        self.leases.release(self, document_id)

    def await_lease(self, document_id: str, source: str) -> None:
        """Wait while a document is brought in, by this run or another, unless `source` is stopped."""
        while not self.leases.wait(document_id, _LOOK_S) and not self.stopped(source):
            pass

    def name_of(self, document: Document) -> str:
        """The name by which a document is told of."""
        return self.names.get(document.id) or (document.sources[0] if document.sources else document.title)

    def going_on(self, works: Sequence[Work]) -> list[Work]:
        """Those of some documents that are to go on; the others are given up."""
        for work in works:
            if self.stopped(work.source):
                self.give_up(work, Cancelled("Cancelled."))
        return [work for work in works if self.leases.holds(work.document.id, self)]

    def finish(self, works: Sequence[Work]) -> None:
        """Tell of documents that were committed, or left out as they had been removed meanwhile."""
        documents = self.storage.documents.some([work.document.id for work in works])
        self.supersede([key for key, document in documents.items() if document.state == "ready"])
        for work in works:
            self.release(work.document.id)
            self.tell_end(work.source, documents.get(work.document.id))

    def supersede(self, ids: Sequence[str]) -> None:
        """Ready documents take the places of what their sources led to before. What fails is done on opening."""
        try:
            for document_id in self.storage.supersede(ids) if ids else ():
                self.removed(document_id)
        except StoreUnavailable as error:
            _log.warning("Older versions are removed later: %s", error)

    def tell_end(self, source: str, document: Document | None, note: str = "") -> None:
        """Tell how a source ended, by what the library has of its document now."""
        if document is None or document.state in ("pending", "removing"):
            self.tell(source, "cancelled", note=_REMOVED)
        elif document.state == "stored":
            reason = self.storage.stuck(document.id) or ""
            error = StoreUnavailable(
                f"The document is kept, but cannot be searched yet. {reason}".strip(),
                help="Make room on the disk; what is missing is made by itself, at the latest when Lectern starts.",
            )
            self.tell(source, "failed", document=document, error=error)
        else:
            self.tell(source, "ready", document=document, note=note)

    def give_up(self, work: Work, error: LecternError) -> None:
        """End a document's road: forgotten when cancelled, failed with its reason otherwise."""
        try:
            if not self.interrupted:
                self._give_up(work, error)
        except StoreUnavailable as store_error:
            self.tell(work.source, "failed", error=store_error)
        finally:
            self.release(work.document.id)

    def _give_up(self, work: Work, error: LecternError) -> None:
        document_id = work.document.id
        document = self.storage.documents.get(document_id)
        if document is None or document.state == "removing":
            self.tell(work.source, "cancelled", note=_REMOVED)
            return
        if work.replaces:  # what it was to replace stays
            self.tell(work.source, "failed", document=document, error=error)
            return
        if isinstance(error, Cancelled):
            self.storage.remove(document_id)
            self.tell(work.source, "cancelled")
            return
        if not isinstance(error, StoreUnavailable):  # such a document stays pending and is resumed
            self.storage.documents.fail(document_id, error)
        self.tell(work.source, "failed", document=self.storage.documents.get(document_id), error=error)
