"""The sync: gives the change log to every derived index, each at its own pace, the acknowledgement last.

What an answer needs is followed by whoever commits, before a document is ready. The others follow in the background. A
document that an index cannot take backs off, longer each time, and is a dead letter after `ATTEMPTS`; the others go on.
An index that does not answer at all backs off as a whole, and holds back no other.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from accelerator.faults import reach
from rag_core.errors import LecternError, UnexpectedFailure
from rag_core.runtime.allocator import give_back
from rag_core.storage.indexes.base import DerivedIndex, IndexUnavailable
from rag_core.storage.postgres.changes import BATCH, LONGEST_RETRY_S, RETRY_S, Change, ChangeLog, Waiting
from rag_core.storage.postgres.contents import Contents
from rag_core.storage.postgres.database import ConnectionLost, Database, retried
from rag_core.storage.postgres.documents import DocumentStore
from rag_core.unexpected import each, stage

_log = logging.getLogger(__name__)
_ROWS = 4000


@dataclass(slots=True)
class _Outage:
    """An index that does not answer: how often it was tried, when it is tried again, and what the log held by then."""

    attempts: int = 0
    due: float = 0.0
    head: int = 0
    reason: str = ""


class Sync:
    """Syncs the indexes of one library. Thread-safe: one thread at a time gives to an index."""

    def __init__(
        self, database: Database, documents: DocumentStore, log: ChangeLog, indexes: Sequence[DerivedIndex]
    ) -> None:
        self._database = database
        self._documents = documents
        self._contents = Contents(database)
        self._log = log
        self._needed = [index for index in indexes if index.needed]
        self._names = [index.name for index in self._needed]
        self._outages = {index.name: _Outage() for index in indexes}
        self._unacknowledged: set[str] = set()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Follow no further than the batch that is under way: the library is being closed."""
        self._stopped.set()

    def acknowledge(self, retry: Collection[str] = ()) -> None:
        """Have the indexes that an answer needs follow; what they all hold is ready then. `retry` does not back off.

        A document that fails backs off, and the others go on. Raises StoreUnavailable for PostgreSQL alone.
        """
        for index in self._needed:
            with index.turn:
                self._show_acknowledged()
                if retry:
                    self._log.retry_now(index.name, retry)
                self.follow(index)

    @retried
    def follow(self, index: DerivedIndex) -> None:
        """Give an index what it has yet to follow. One that does not answer backs off.

        Raises StoreUnavailable for PostgreSQL alone.
        """
        with index.turn:
            outage = self._outages[index.name]
            # What was logged since is a reason to try at once.
            if outage.attempts and time.monotonic() < outage.due and self._log.head() <= outage.head:
                return
            try:
                _tend(index.prepare)
                followed = False
                while not self._stopped.is_set() and self._step(index, outage):
                    followed = True
                _tend(index.tidy)
                if followed:
                    self._log.trim()
                    give_back()
            except IndexUnavailable as error:
                self._back_off(index, outage, str(error))

    def retry_now(self, index: DerivedIndex | None = None) -> None:
        """Make due what backs off, and dead letters: everything, or an index's."""
        for name in [index.name] if index else list(self._outages):
            self._outages[name] = _Outage()
            self._log.retry_now(name)

    def waiting(self, name: str) -> Waiting:
        """What an index has yet to follow, with why it does not, where it was tried."""
        waiting = self._log.waiting(name)
        reason = waiting.reason or self._outages[name].reason or None
        return Waiting(waiting.documents, waiting.dead, reason if waiting.documents else None)

    def _step(self, index: DerivedIndex, outage: _Outage) -> bool:
        """Follow one batch. Returns whether there was any."""
        batch = self._log.take(index.name, 1 if outage.attempts else BATCH, texts=index.reads_texts)
        if not batch.changes and not batch.passes:
            return False
        failed: dict[str, str] = {}
        try:
            self._give(index, batch.changes, failed)
        except IndexUnavailable as error:
            # It may be this one document that it cannot bear: the next attempt is another's.
            if outage.attempts and len(batch.changes) == 1:
                self._log.finish(index.name, batch, {batch.changes[0].document_id: str(error)}, needed=self._names)
            raise
        reach("sync.given")
        taken = [c.document_id for c in batch.changes if c.generation is not None and c.document_id not in failed]
        if index.needed:
            self._unacknowledged.update(taken)
        self._log.finish(index.name, batch, failed, needed=self._names)
        if index.needed:  # another index's thread would see what is not committed yet, and let go of it
            self._show_acknowledged()
        if outage.attempts:
            self._recover(index, outage)
        return True

    def _give(self, index: DerivedIndex, changes: Sequence[Change], failed: dict[str, str]) -> None:
        """Remove what is to go, then put what is to be held, in parts of bounded memory."""
        goes = [change.document_id for change in changes if change.removes]
        self._attempt(index, index.remove, goes, failed)
        # One without chunks, of which text recognition has yet to read anything, leaves nothing to hold.
        comes = [change for change in changes if change.chunks and change.document_id not in failed]

        def put(ids: Sequence[str]) -> None:
            index.put(self._contents.of(ids, texts=index.reads_texts, vectors=index.reads_vectors))

        for part in _parts(comes):
            self._attempt(index, put, part, failed)

    def _attempt(
        self, index: DerivedIndex, act: Callable[[Sequence[str]], None], ids: Sequence[str], failed: dict[str, str]
    ) -> None:
        """Act on documents together; where that fails, on each by itself, so that one at fault keeps no other back."""

        def act_on(ids: Sequence[str]) -> None:
            with stage("indexing", *ids, *(f"{index.name} {document_id}" for document_id in ids)):
                act(ids)

        def fail(document_id: str, error: LecternError) -> None:
            _log.warning("%s: a document backs off: %s", index.label, error)
            alone[document_id] = error

        alone: dict[str, LecternError] = {}
        each(ids, act_on, fail, of_all=(IndexUnavailable, ConnectionLost))
        errors = list(alone.values())
        if len(errors) == len(ids) > 1 and all(isinstance(error, UnexpectedFailure) for error in errors):
            raise IndexUnavailable(str(errors[0]))  # that is no document's fault
        failed.update((document_id, str(error)) for document_id, error in alone.items())

    def _show_acknowledged(self) -> None:
        """Tell the indexes of documents that are ready, also of those whose commit was not answered."""
        if self._unacknowledged:
            ready = [item.id for item in self._documents.ready(self._unacknowledged).values() if item.chunk_count]
            for index in self._needed:
                index.acknowledged(ready)
            self._unacknowledged.clear()

    def _back_off(self, index: DerivedIndex, outage: _Outage, reason: str) -> None:
        _log.warning("%s is behind: %s", index.label, reason)
        outage.due = time.monotonic() + min(RETRY_S * 2**outage.attempts, LONGEST_RETRY_S)
        outage.attempts += 1
        outage.head = self._log.head()
        outage.reason = reason

    def _recover(self, index: DerivedIndex, outage: _Outage) -> None:
        """It answers again: what failed with it is due once more."""
        outage.attempts, outage.reason = 0, ""
        self._log.retry_after_outage(index.name)


def _tend(act: Callable[[], None]) -> None:
    """What is done with an index as a whole. Whatever goes wrong with that is an outage of this index alone."""
    try:
        with stage("index"):
            act()
    except (IndexUnavailable, ConnectionLost):
        raise
    except LecternError as error:
        raise IndexUnavailable(str(error)) from error


def _parts(changes: Iterable[Change]) -> Iterator[list[str]]:
    """Documents in parts of some thousand chunks, so that memory is bounded."""
    part: list[str] = []
    rows = 0
    for change in changes:
        part.append(change.document_id)
        rows += change.chunks
        if rows >= _ROWS:
            yield part
            part, rows = [], 0
    if part:
        yield part
