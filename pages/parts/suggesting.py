"""Questions that have an answer, and guides: looked for in the background and kept for all sessions."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, TypeVar

from rag_core.domain import Document, Question, Scope
from rag_core.errors import LecternError
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

Found = TypeVar("Found")
_KEPT = 64
_MOST = 5


class Looking(Generic[Found]):
    """Thread-safe. What takes a while is looked for in the background, one after the other, and kept by its key."""

    def __init__(self, name: str, most: int = _KEPT) -> None:
        self._name, self._most = name, most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, Future[Found]] = OrderedDict()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    def get(self, key: Hashable, look: Callable[[], Found], nothing: Found) -> Found | None:
        """What was found, `nothing` where that failed; None while it is looked for."""
        with self._lock:
            if key not in self._found:
                self._found[key] = self._pool.submit(self._done, look, nothing)
                while len(self._found) > self._most:
                    self._found.popitem(last=False)[1].cancel()
        return self.seen(key)

    def seen(self, key: Hashable) -> Found | None:
        """What was found; None while it is looked for, or where nobody asked for it."""
        with self._lock:
            found = self._found.get(key)
        return found.result() if found is not None and found.done() and not found.cancelled() else None

    def close(self) -> None:
        """Look for no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _done(self, look: Callable[[], Found], nothing: Found) -> Found:
        try:
            with stage(self._name):
                return look()
        except LecternError as error:
            logger.warning("Nothing is found for %s: %s", self._name, error)
            return nothing


class SuggestionBoard(Looking[list[str]]):
    """Questions that are known to have an answer, by the documents that there are and what of them is meant."""

    def __init__(self, library: Callable[[], Library], person: Callable[[], str] = str) -> None:
        super().__init__("lectern-suggestions")
        self._library, self._person = library, person

    def of(self, documents: Sequence[Document], scope: Scope, given: Sequence[Question]) -> list[str] | None:
        """What these documents answer, `given` before drafts; None while it is looked for."""
        state = self._person(), frozenset(document.id for document in documents), repr(scope)
        library = self._library()  # of whoever looks, which is not told to the thread that looks for them
        return self.get(state, lambda: library.suggestions(list(given), scope=scope, limit=_MOST), [])
