"""Questions to begin with, looked for in the background and kept for all sessions."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from rag_core.domain import Document, Question, Scope
from rag_core.errors import LecternError
from rag_core.unexpected import stage

if TYPE_CHECKING:
    from rag_core.library import Library

logger = logging.getLogger(__name__)

State = tuple[frozenset[str], str]
_STATES_KEPT = 32


class SuggestionBoard:
    """Thread-safe. One state of the library, its documents and what of them is meant, is looked at after the other."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._found: OrderedDict[State, Future[list[str]]] = OrderedDict()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lectern-suggestions")

    def get(self, documents: Sequence[Document], scope: Scope, given: Sequence[Question]) -> list[str] | None:
        """What these documents answer, `given` before drafts; None while it is looked for."""
        state = frozenset(document.id for document in documents), repr(scope)
        with self._lock:
            if state not in self._found:
                self._found[state] = self._pool.submit(self._look, scope, list(given))
                while len(self._found) > _STATES_KEPT:
                    self._found.popitem(last=False)[1].cancel()
            found = self._found[state]
        return found.result() if found.done() and not found.cancelled() else None

    def close(self) -> None:
        """Look for no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _look(self, scope: Scope, given: list[Question]) -> list[str]:
        try:
            with stage("suggestions"):
                return self._library().suggestions(given, scope=scope)
        except LecternError as error:
            logger.warning("No questions are suggested: %s", error)
            return []
