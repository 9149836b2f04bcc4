"""The relay: carries the outbox to the dump files and to Chroma, each step idempotent, the receipt last.

A document is ready once its dump is on the disk. Chroma may lag behind, since the dumps answer: a thread of its own
feeds it, and its rows stay in the outbox until it takes them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from accelerator.faults import reach
from rag_core.errors import LecternError, StoreUnavailable
from rag_core.storage.indexes.chroma import ChromaBatch, ChromaIndex, ChromaUnavailable
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.indexes.outbox import Action, Item, Outbox, Taken
from rag_core.storage.originals.files import FileStore
from rag_core.storage.postgres.database import ConnectionLost, Database, retried
from rag_core.storage.postgres.documents import DocumentStore

_log = logging.getLogger(__name__)
_ROWS = 4000


class Relay:
    """Carries the outbox. Safe to call from any thread; one carries to each store at a time."""

    def __init__(
        self, database: Database, documents: DocumentStore, dumps: DumpStore, chroma: ChromaIndex, files: FileStore
    ) -> None:
        self._database = database
        self.outbox = Outbox(database)
        self._documents = documents
        self._dumps = dumps
        self._chroma = chroma
        self._files = files
        self._dumps_lock = threading.Lock()
        self._chroma_lock = threading.RLock()
        self._chroma_counted = False
        self._chroma_failed = False
        self._unacknowledged: set[str] = set()

    @retried
    def carry_dumps(self, hasten: Collection[str] = ()) -> None:
        """Carry what the dump files have yet to take or let go; what was put off of some documents too.

        A document that fails is put off, with the reason in its row, and the others go on. Raises StoreUnavailable
        for PostgreSQL alone.
        """
        with self._dumps_lock:
            self._show_received()
            if hasten:
                self.outbox.hasten("dumps", hasten)
            while self._removed_from_dumps():
                pass
            while self._put_into_dumps():
                pass

    @property
    def dumps_turn(self) -> AbstractContextManager[object]:
        """Held by whoever writes dumps."""
        return self._dumps_lock

    @property
    def chroma_turn(self) -> AbstractContextManager[object]:
        """Held by whoever writes to Chroma or looks at its files."""
        return self._chroma_lock

    def mend_dump(self, document_id: str) -> None:
        """Write a ready document's dump anew and search it; any other's is removed.

        Raises StoreUnavailable, or StoreCorrupt where PostgreSQL itself has no chunks for it.
        """
        with self._dumps_lock:
            document = self._documents.get(document_id)
            if document is not None and document.state == "ready":
                self._dumps.mend(document_id, self._documents.vectors)
            elif document is None or document.state != "stored":
                self._dumps.remove(document_id)

    @retried
    def carry_chroma(self) -> None:
        """Carry what is due for Chroma, and forget the documents that nothing holds any longer.

        Where Chroma fails its rows are put off. Raises StoreUnavailable for PostgreSQL alone.
        """
        with self._chroma_lock:
            if self.outbox.waiting("chroma").documents:
                self._requeue_lost()
            # A document that was removed and added again has both rows: the old chunks go first.
            self._attempt("remove")
            self._attempt("put")
            self._documents.sweep()

    def requeue_lost(self) -> bool:
        """Queue every ready document anew where Chroma holds fewer chunks than it took, as after its folder was lost.

        Looked at once; no where Chroma does not answer. Returns whether it was so. Raises StoreUnavailable.
        """
        with self._chroma_lock:
            return self._requeue_lost()

    def _removed_from_dumps(self) -> bool:
        """Let one batch go. Returns whether there was any."""
        with self.outbox.take("dumps", "remove") as taken:
            for item in taken.due:
                try:
                    self._remove_dump(item)
                except LecternError as error:
                    _put_off(taken, item, error)
            if taken.due:
                self._dumps.bury([item.document_id for item in taken.due])
            return bool(taken)

    def _remove_dump(self, item: Item) -> None:
        if item.gone:  # where it was added again meanwhile, both files are of use to the new one
            self._dumps.remove(item.document_id)
            reach("removal.dump")
            self._files.remove(item.document_id)
            reach("removal.original")

    def _put_into_dumps(self) -> bool:
        """Write one batch, and the receipts of those that were written. Returns whether there was any."""
        with self.outbox.take("dumps", "put") as taken:
            for items in _parts(taken.due):
                self._write_dumps(taken, items)
            reach("receipt.before")
            written = [item.document_id for item in taken.due]
            self._unacknowledged.update(written)
            if written:
                self._documents.receive(taken.connection, written)
        reach("receipt.after")
        self._show_received()
        return bool(taken)

    def _write_dumps(self, taken: Taken, items: Sequence[Item]) -> None:
        """Write dumps together; where that fails, each by itself, so that one at fault does not keep the others."""
        vectors = self._documents.vectors_of([item.document_id for item in items])
        try:
            self._dumps.write_many(vectors)
        except StoreUnavailable:
            vectors = {}
        for item in items:
            if item.document_id not in vectors:
                self._write_dump(taken, item)

    def _write_dump(self, taken: Taken, item: Item) -> None:
        try:
            self._dumps.write(item.document_id, *self._documents.vectors(item.document_id))
        except ConnectionLost:
            raise
        except LecternError as error:
            _put_off(taken, item, error)

    def _show_received(self) -> None:
        """Search the documents that have their receipt, also one whose commit was not acknowledged."""
        if self._unacknowledged:
            for document_id in self._documents.ready(self._unacknowledged):
                self._dumps.show(document_id)
            self._unacknowledged.clear()

    def _attempt(self, action: Action) -> None:
        """Carry batches to Chroma until none is due; a failure is noted and put off."""
        try:
            while self._carried_to_chroma(action):
                if self._chroma_failed:  # it answers again: what was given up is tried once more
                    self._chroma_failed = False
                    self.outbox.hasten("chroma")
        except ChromaUnavailable as error:
            _log.warning("Chroma is behind: %s", error)
            self._chroma_failed = True
            self.outbox.put_off("chroma", action, str(error))

    def _carried_to_chroma(self, action: Action) -> bool:
        """Carry one batch. Returns whether there was any."""
        profile = self._documents.profile()
        with self.outbox.take("chroma", action) as taken:
            if profile is None or not taken.due:
                pass
            elif action == "remove":
                self._chroma.remove(profile, [item.document_id for item in taken.due])
            else:
                for items in _parts(taken.due):
                    batch = self._batch(items)
                    if batch.ids:  # PostgreSQL has lost the chunks of a document otherwise
                        self._chroma.add(profile, batch)
            reach("chroma.uncommitted")
        reach("chroma.committed")
        return bool(taken)

    def _batch(self, items: Sequence[Item]) -> ChromaBatch:
        batch = ChromaBatch()
        for document_id, texts, vectors in self._documents.contents([item.document_id for item in items]):
            batch.add(document_id, texts, vectors)
        return batch

    def _requeue_lost(self) -> bool:
        profile = self._documents.profile()
        if self._chroma_counted or profile is None:
            return False
        try:
            held = self._chroma.count(profile)
        except ChromaUnavailable:
            return False  # said when it is asked for more than a count
        self._chroma_counted = True
        if held >= self._documents.chunks_carried("chroma"):
            return False
        _log.warning("Chroma has lost chunks: every document is carried there again.")
        self.outbox.queue(None)
        return True


def _put_off(taken: Taken, item: Item, error: LecternError) -> None:
    _log.warning("A dump file is put off: %s", error)
    taken.put_off(item, str(error))


def _parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Items in parts of some thousand chunks, so that memory is bounded."""
    part: list[Item] = []
    rows = 0
    for item in items:
        part.append(item)
        rows += item.chunks
        if rows >= _ROWS:
            yield part
            part, rows = [], 0
    if part:
        yield part
