"""The last of a document that is being removed: its original, then its rows. Waits for no derived index."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from accelerator.faults import reach
from rag_core.errors import StoreUnavailable
from rag_core.storage.blobs.base import Blobs
from rag_core.storage.postgres.database import ConnectionLost, Database, lift_limits
from rag_core.storage.postgres.documents import DocumentStore

_log = logging.getLogger(__name__)
# Any number that no other program is likely to use.
_KEY = 0x4C656379


class Removals:
    """Sweeps what is being removed. Thread-safe; what fails is tried again the next time."""

    def __init__(self, database: Database, documents: DocumentStore, files: Blobs) -> None:
        self._database = database
        self._documents = documents
        self._files = files
        self._lock = threading.Lock()

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Held by whoever removes originals, or must know that nobody does, this server or another.

        Raises StoreUnavailable.
        """
        is_done = False
        try:
            with self._lock, self._database.transaction() as connection:
                lift_limits(connection)
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_KEY,))
                yield
                is_done = True
        except ConnectionLost:
            if not is_done:  # what was done with others goes on without this one
                raise

    def sweep(self) -> dict[str, str]:
        """Remove originals and rows. Returns the documents whose original could not be removed, with why.

        Raises StoreUnavailable for PostgreSQL alone.
        """
        failed: dict[str, str] = {}
        if not self._documents.removals.started():
            return failed
        with self.write_lock():
            gone = []
            for document_id in self._documents.removals.started():
                try:
                    self._files.remove(document_id)
                except StoreUnavailable as error:
                    _log.warning("An original file is removed later: %s", error)
                    failed[document_id] = str(error)
                else:
                    gone.append(document_id)
                    reach("removal.original")
            if gone:
                self._documents.removals.sweep(gone)
        return failed
