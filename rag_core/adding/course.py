"""What the steps of one run share: its events, its claims, whether it was stopped, and how a document's road ends."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence

from rag_core.adding.claims import Claims
from rag_core.adding.window import Work
from rag_core.cancellation import Cancellation
from rag_core.domain import AddEvent, Document, Stage
from rag_core.errors import Cancelled, LecternError, StoreUnavailable
from rag_core.storage import Storage

_log = logging.getLogger(__name__)
_REMOVED = "removed while it was added"


def recognition_note(document: Document) -> str:
    """What is said of a ready document some of whose pages text recognition has yet to read."""
    if not document.to_recognise:
        return ""
    are = "1 page is" if document.to_recognise == 1 else f"{document.to_recognise} pages are"
    return f"ready; {are} being recognised"


class Course:
    """One run's. Thread-safe: its steps go on in threads of their own."""

    def __init__(
        self, storage: Storage, claims: Claims, cancellation: Cancellation, removed: Callable[[str], None]
    ) -> None:
        """removed: told of each document that a newer version took the place of."""
        self.events: queue.SimpleQueue[AddEvent | None] = queue.SimpleQueue()
        self._storage = storage
        self._claims = claims
        self._cancellation = cancellation
        self._removed = removed
        self._interrupted = threading.Event()

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
        self.events.put(AddEvent(source, stage, done, total, document, error, note))

    @property
    def interrupted(self) -> bool:
        """Whether to stop without cancelling: what was accepted stays pending."""
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        """Stop at the next step."""
        self._interrupted.set()

    def stopped(self, source: str | None) -> bool:
        """Whether a source is not to go on, for whatever reason; None asks of them all."""
        return self.interrupted or self._cancellation.is_set(source)

    def claim(self, document_id: str) -> bool:
        """Claim a document. Returns whether nobody had."""
        return self._claims.take(document_id, self)

    def release(self, document_id: str) -> None:
        """Let other runs have a document."""
        self._claims.release(document_id, self)

    def release_all(self) -> None:
        """However the run ended, others may take up what it held."""
        self._claims.release_all(self)

    def await_other(self, document_id: str, source: str) -> bool:
        """Wait while another run brings a document in, unless `source` is stopped. No when this one does."""
        if self._claims.holds(document_id, self):
            return False
        on_its_way = self._claims.on_its_way(document_id)
        while on_its_way is not None and not on_its_way.wait(timeout=0.1):
            if self.stopped(source):
                break
        return True

    def unstopped(self, works: Sequence[Work]) -> list[Work]:
        """Those of some documents that are to go on; the others are given up."""
        for work in works:
            if self.stopped(work.source):
                self.give_up(work, Cancelled("Cancelled."))
        return [work for work in works if self._claims.holds(work.document.id, self)]

    def end(self, works: Sequence[Work]) -> None:
        """Tell of documents that were committed, or left out as they had been removed meanwhile."""
        documents = self._storage.documents.some([work.document.id for work in works])
        self.supersede([key for key, document in documents.items() if document.state == "ready"])
        for work in works:
            self.release(work.document.id)
            self.tell_end(work.source, documents.get(work.document.id))

    def supersede(self, ids: Sequence[str]) -> None:
        """Ready documents take the places of what their sources led to before. What fails is done on opening."""
        try:
            for document_id in self._storage.supersede(ids) if ids else ():
                self._removed(document_id)
        except StoreUnavailable as error:
            _log.warning("Older versions are removed later: %s", error)

    def tell_end(self, source: str, document: Document | None, note: str = "") -> None:
        """Tell how a source ended, by what the library has of its document now."""
        if document is None or document.state in ("pending", "removing"):
            self.tell(source, "cancelled", note=_REMOVED)
        elif document.state == "stored":
            reason = self._storage.stuck(document.id) or ""
            error = StoreUnavailable(
                f"The document is kept, but cannot be searched yet. {reason}".strip(),
                help="Make room on the disk; what is missing is made by itself, at the latest when Lectern starts.",
            )
            self.tell(source, "failed", document=document, error=error)
        else:
            self.tell(source, "ready", document=document, note=note or recognition_note(document))

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
        document = self._storage.documents.get(document_id)
        if document is None or document.state == "removing":
            self.tell(work.source, "cancelled", note=_REMOVED)
            return
        if work.replaces:  # what it was to replace stays
            self.tell(work.source, "failed", document=document, error=error)
            return
        if isinstance(error, Cancelled):
            self._storage.remove(document_id)
            self.tell(work.source, "cancelled")
            return
        if not isinstance(error, StoreUnavailable):  # such a document stays pending and is resumed
            self._storage.documents.fail(document_id, str(error), error.help)
        self.tell(work.source, "failed", document=self._storage.documents.get(document_id), error=error)
