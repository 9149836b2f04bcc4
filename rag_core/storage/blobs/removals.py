"""The last of a document that is being removed: its original, then its rows. Waits for no derived index."""

from __future__ import annotations

import logging
import threading
from contextlib import AbstractContextManager

from accelerator.faults import reach
from rag_core.errors import StoreUnavailable
from rag_core.storage.blobs.base import Blobs
from rag_core.storage.postgres.documents import DocumentStore

_log = logging.getLogger(__name__)


class Removals:
    """Sweeps what is being removed. Thread-safe; what fails is tried again the next time."""

    def __init__(self, documents: DocumentStore, files: Blobs) -> None:
        self._documents = documents
        self._files = files
        self._lock = threading.RLock()

    @property
    def write_lock(self) -> AbstractContextManager[object]:
        """Held by whoever removes originals, or must know that nobody does."""
        return self._lock

    def sweep(self) -> dict[str, str]:
        """Remove originals and rows. Returns the documents whose original could not be removed, with why.

        Raises StoreUnavailable for PostgreSQL alone.
        """
        with self._lock:
            failed: dict[str, str] = {}
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
