"""How documents are called and sorted, and removals that can be taken back. Cards are made in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from rag_core.domain import Document, DocumentFilter
from rag_core.services.cards import clean_tag, make_cards
from rag_core.storage import Storage

_TITLE_CHARS = 300


class Catalogue:
    """Titles, tags and removals of one library's documents. Thread-safe; raises StoreUnavailable.

    `removed` is told of documents that are found no longer; `cards` makes those that are missing, in the background.
    """

    def __init__(self, storage: Storage, removed: Callable[[str], None]) -> None:
        self._storage = storage
        self._removed = removed
        self._closing = threading.Event()
        self.cards = storage.background("Cards are made", lambda: make_cards(storage, self._closing.is_set))

    def documents(
        self, wanted: DocumentFilter, *, offset: int = 0, limit: int | None = None
    ) -> tuple[list[Document], int]:
        """The documents that a filter leaves, newest first, at most `limit` from the one at `offset` on, and how many
        there are of them."""
        found = self._storage.documents.listed(wanted, offset, limit)
        whole = limit is None and offset == 0
        return found, len(found) if whole else self._storage.documents.count(wanted)

    def ids(self, wanted: DocumentFilter) -> list[str]:
        """The ids of the documents that a filter leaves."""
        return self._storage.documents.ids(wanted)

    def rename(self, document_id: str, title: str | None) -> None:
        """Call a document so, from now on and everywhere; None, or nothing but blanks, gives its found title back.

        Raises KeyError.
        """
        title = " ".join((title or "").split())[:_TITLE_CHARS] or None
        if not self._storage.documents.cards.rename(document_id, title):
            raise KeyError(document_id)
        self._storage.wake()

    def tag(self, ids: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Put tags on documents and take others off; ids that are not there are passed over.

        Tags are compared without regard to case and keep the spelling that was first. Raises ValueError for one
        without letters or figures, or of more than 60 characters.
        """
        self._storage.documents.cards.tag([*ids], [clean_tag(tag) for tag in add], [clean_tag(tag) for tag in remove])

    def tags(self, *, viewer: str = "") -> list[tuple[str, int]]:
        """Every tag, in alphabetical order, with how many documents have it; those alone that a viewer may see."""
        documents = self._storage.documents
        return documents.people.tags(viewer) if viewer else documents.cards.tags()

    def set_aside(self, ids: Iterable[str], *, undo_s: float = 60.0) -> list[str]:
        """Remove ready documents so that `take_back` can undo it for some seconds: they are found no longer at once.

        Returns those that there were.
        """
        wanted = list(ids)
        for document_id in wanted:
            self._storage.sources.leave_out(document_id)
        found = self._storage.set_aside(wanted, undo_s)
        for document_id in found:
            self._removed(document_id)
        return found

    def take_back(self, ids: Iterable[str]) -> list[str]:
        """Undo `set_aside`, embedding nothing. Returns the documents that are back; for others it is too late."""
        return self._storage.take_back(list(ids))

    def close(self) -> None:
        """Make no further cards."""
        self._closing.set()
        self.cards.stop()
