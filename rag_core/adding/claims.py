"""Which documents are on their way, so that no two runs bring in the same one at once."""

from __future__ import annotations

import threading


class Claims:
    """Documents by id, each claimed by one run. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[object, threading.Event]] = {}

    def take(self, document_id: str, owner: object) -> bool:
        """Claim a document. Returns whether nobody had."""
        with self._lock:
            if document_id in self._held:
                return False
            self._held[document_id] = (owner, threading.Event())
            return True

    def holds(self, document_id: str, owner: object) -> bool:
        """Whether a document is this one's."""
        with self._lock:
            return document_id in self._held and self._held[document_id][0] is owner

    def release(self, document_id: str, owner: object) -> None:
        """Let a document go; harmless when it was not this one's."""
        with self._lock:
            if document_id in self._held and self._held[document_id][0] is owner:
                self._held.pop(document_id)[1].set()

    def release_all(self, owner: object) -> None:
        """Let go of all that this one claimed."""
        with self._lock:
            for document_id in [key for key, (holder, _) in self._held.items() if holder is owner]:
                self._held.pop(document_id)[1].set()

    def on_its_way(self, document_id: str) -> threading.Event | None:
        """Set once whoever claimed the document lets it go; None when nobody has."""
        with self._lock:
            held = self._held.get(document_id)
            return held[1] if held else None
