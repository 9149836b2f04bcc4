"""The outbox: what PostgreSQL has committed and Chroma and the dump files have yet to take or let go.

The relay carries it, each step idempotent, and writes the receipt last: a document is ready once its dump is on the
disk. Chroma may lag behind, since the dumps answer: a thread of its own feeds it, and its rows stay here until it
takes them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from rag_core.storage.chroma import ChromaBatch, ChromaIndex, ChromaUnavailable
from rag_core.storage.database import Database
from rag_core.storage.documents import DocumentStore
from rag_core.storage.dumps import DumpStore
from rag_core.storage.files import FileStore

_log = logging.getLogger(__name__)
_BATCH = 256
_CHROMA_ROWS = 4000
_RETRY_S = 5
_LONGEST_RETRY_S = 3600


class Relay:
    """Carries the outbox. Safe to call from any thread; one carries at a time."""

    def __init__(
        self, database: Database, documents: DocumentStore, dumps: DumpStore, chroma: ChromaIndex, files: FileStore
    ) -> None:
        self._database = database
        self._documents = documents
        self._dumps = dumps
        self._chroma = chroma
        self._files = files
        self._dumps_lock = threading.Lock()
        self._chroma_lock = threading.RLock()
        self._chroma_counted = False

    def carry_dumps(self) -> None:
        """Carry what the dump files have yet to take or let go. Raises StoreUnavailable."""
        with self._dumps_lock:
            self._batches("dumps", "put", self._put_dumps)
            self._batches("dumps", "remove", self._remove_dumps)

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

    def carry_chroma(self) -> None:
        """Carry what is due for Chroma, and forget the documents that nothing holds any longer.

        Where Chroma fails its rows are put off. Raises StoreUnavailable for PostgreSQL alone.
        """
        with self._chroma_lock:
            # A document that was removed and added again has both rows: the old chunks go first.
            for action, step in (("remove", self._remove_chroma), ("put", self._put_chroma)):
                self._attempt(action, step)
            self._sweep()

    def requeue_lost(self) -> bool:
        """Queue every ready document anew where Chroma holds fewer chunks than it took, as after its folder was lost.

        Looked at once; no where Chroma does not answer. Returns whether it was so. Raises StoreUnavailable.
        """
        with self._chroma_lock:
            return self._requeue_lost()

    def waiting(self, store: str) -> tuple[int, str | None]:
        """How many documents wait for a store, and the last reason."""
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT count(DISTINCT document_id), max(error) FROM outbox WHERE store = %s", (store,)
            ).fetchone()
        return (row[0], row[1]) if row else (0, None)

    def _batches(self, store: str, action: str, step: Callable[[Sequence[str]], None]) -> None:
        while ids := self._due(store, action):
            step(ids)
            self._done(store, action, ids)

    def _attempt(self, action: str, step: Callable[[Sequence[str]], None]) -> None:
        """Like `_batches` for Chroma, whose failure is noted and put off instead of raised."""
        while ids := self._due("chroma", action):
            try:
                step(ids)
            except ChromaUnavailable as error:
                _log.warning("Chroma is behind: %s", error)
                self._put_off("chroma", action, str(error))
                return
            self._done("chroma", action, ids)

    def _put_dumps(self, ids: Sequence[str]) -> None:
        for document_id in ids:
            self._dumps.write(document_id, *self._documents.vectors(document_id))
        with self._database.transaction() as connection:
            ready = connection.execute(
                "UPDATE documents SET state = 'ready' WHERE id = ANY(%s) AND state = 'stored' RETURNING id",
                (list(ids),),
            ).fetchall()
        for (document_id,) in ready:
            self._dumps.show(document_id)

    def _remove_dumps(self, ids: Sequence[str]) -> None:
        for document_id in ids:
            self._dumps.remove(document_id)
            self._files.remove(document_id)

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
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO outbox (document_id, store, action)"
                " SELECT id, 'chroma', 'put' FROM documents WHERE state = 'ready' ON CONFLICT DO NOTHING"
            )
        return True

    def _put_chroma(self, ids: Sequence[str]) -> None:
        profile = self._documents.profile()
        if profile is None:
            return
        self._requeue_lost()
        batch = ChromaBatch()
        for document_id in ids:
            chunks = self._documents.chunks(document_id)
            if not chunks:  # PostgreSQL lost them, or the document was removed meanwhile
                continue
            batch.add(document_id, [chunk.text for chunk in chunks], self._documents.vectors(document_id)[0])
            if len(batch.ids) >= _CHROMA_ROWS:
                self._chroma.add(profile, batch)
                batch = ChromaBatch()
        if batch.ids:
            self._chroma.add(profile, batch)

    def _remove_chroma(self, ids: Sequence[str]) -> None:
        profile = self._documents.profile()
        if profile is not None:
            self._chroma.remove(profile, ids)

    def _sweep(self) -> None:
        """Forget the documents that neither store holds any longer."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT id FROM documents d WHERE state = 'removing'"
                " AND NOT EXISTS (SELECT FROM outbox o WHERE o.document_id = d.id)"
            ).fetchall()
        for (document_id,) in rows:
            self._documents.delete(document_id)

    def _due(self, store: str, action: str) -> list[str]:
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT document_id FROM outbox o WHERE store = %s AND action = %s AND next_attempt_at <= now()"
                " AND (action = 'remove' OR NOT EXISTS (SELECT FROM outbox r WHERE r.document_id = o.document_id"
                " AND r.store = o.store AND r.action = 'remove')) ORDER BY id LIMIT %s",
                (store, action, _BATCH),
            ).fetchall()
        return [row[0] for row in rows]

    def _done(self, store: str, action: str, ids: Sequence[str]) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM outbox WHERE store = %s AND action = %s AND document_id = ANY(%s)",
                (store, action, list(ids)),
            )

    def _put_off(self, store: str, action: str, reason: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE outbox SET attempts = attempts + 1, error = %s,"
                " next_attempt_at = now() + make_interval(secs => least(%s * 2 ^ attempts, %s))"
                " WHERE store = %s AND action = %s",
                (reason, _RETRY_S, _LONGEST_RETRY_S, store, action),
            )
