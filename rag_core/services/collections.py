"""Collections: documents of one tag with instructions, settings of search, and conversations of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rag_core.domain import Collection
from rag_core.errors import ConfigurationError
from rag_core.services.cards import clean_tag
from rag_core.settings import Settings
from rag_core.storage import Storage

_MOST_CHARS = 4_000  # of instructions: they are read with every question


class Collections:
    """The collections of one library. Thread-safe; raises StoreUnavailable.

    A document is in a collection by having its name as a tag, and may be in several. What is in none is in the library
    as a whole, as everything is. Raises KeyError for an id that there is not.
    """

    def __init__(self, storage: Storage, settings: Callable[[], Settings]) -> None:
        self._kept = storage.documents.collections
        self.all, self.is_owned, self.move = self._kept.all, self._kept.is_owned, self._kept.move
        self._settings = settings

    def get(self, collection_id: str) -> Collection:
        """One collection."""
        return {one.id: one for one in self.all()}[collection_id]

    def make(
        self, name: str, *, instructions: str = "", settings: Mapping[str, object] | None = None, owner: str = ""
    ) -> Collection:  # fmt: skip
        """A new collection, of the documents of its owner's that have this tag already.

        Raises ValueError for a name that is no tag, or another collection's, and ConfigurationError for a setting that
        is none of search.
        """
        self._check(instructions, settings or {})
        return self.get(self._kept.make(clean_tag(name), instructions.strip(), settings or {}, owner))

    def change(
        self, collection_id: str, *, name: str | None = None, instructions: str | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        """Call it otherwise, tell models something else, search it in another way; None leaves it. Raises as `make`."""
        before = self.get(collection_id)
        told = before.instructions if instructions is None else instructions.strip()
        chosen = before.settings if settings is None else settings
        self._check(told, chosen)
        self._kept.change(collection_id, before.name if name is None else clean_tag(name), told, chosen)

    def remove(self, collection_id: str) -> None:
        """Remove a collection. Its documents stay, with its name as their tag, and so do its conversations."""
        self._kept.remove(self.get(collection_id).id)

    def take_back(self, collection_id: str) -> None:
        """Undo that, within a day. Raises ValueError where another one is called so now."""
        if not self._kept.take_back(collection_id):
            raise KeyError(collection_id)

    def _check(self, instructions: str, settings: Mapping[str, object]) -> None:
        if len(instructions) > _MOST_CHARS:
            raise ValueError(f"Instructions have at most {_MOST_CHARS:,} characters.")
        if wrong := [name for name in settings if not name.startswith("retrieval.")]:
            raise ConfigurationError(f"{wrong[0]} is no setting of search.", help="They begin with retrieval.")
        self._settings().with_values(settings)
