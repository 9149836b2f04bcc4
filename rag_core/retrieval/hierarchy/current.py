"""The hierarchy as it was last made, in memory."""

from __future__ import annotations

import threading

from rag_core.retrieval.hierarchy.search import Hierarchy
from rag_core.storage.postgres.hierarchy import HierarchyStore


class CurrentHierarchy:
    """Reads the hierarchy when it is first asked for, and after each update. Thread-safe."""

    def __init__(self, store: HierarchyStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._held: Hierarchy | None = None
        self._published = -1

    def get(self) -> Hierarchy:
        """The hierarchy; that of the last update but one while another thread reads. Raises StoreUnavailable."""
        held = self._held
        if held is not None and (self._published == self._store.published or self._lock.locked()):
            return held
        with self._lock:
            published = self._store.published
            if self._held is None or self._published != published:
                self._held, self._published = Hierarchy(self._store.held()), published
            return self._held
