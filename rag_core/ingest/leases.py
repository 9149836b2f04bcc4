"""Which documents are on their way, so that no two runs bring in the same one at once."""

from __future__ import annotations

import threading


class Leases:
    """Documents by id, each leased to one run. Thread-safe.

    They live in memory, as a data directory and its database have one owner: after a crash nobody waits for a lease to
    expire.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[object, threading.Event]] = {}

    def take(self, document_id: str, owner: object) -> bool:
        """Lease a document. Returns whether nobody had."""
        with self._lock:
            if document_id in self._held:
                return False
            self._held[document_id] = (owner, threading.Event())
            return True

    def holds(self, document_id: str, owner: object) -> bool:
        """Whether a document is leased to this one."""
        with self._lock:
            return document_id in self._held and self._held[document_id][0] is owner

    def release(self, owner: object, *ids: str) -> None:
        """Let documents go, without ids all; harmless where they were not this one's."""
        with self._lock:
            for document_id in ids or tuple(self._held):
                if document_id in self._held and self._held[document_id][0] is owner:
                    self._held.pop(document_id)[1].set()

    def wait(self, document_id: str, timeout_s: float) -> bool:
        """Wait for whoever has a document to let it go. Returns whether that came to pass, or nobody had it."""
        with self._lock:
            held = self._held.get(document_id)
        return held is None or held[1].wait(timeout_s)
