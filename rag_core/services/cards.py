"""Cards of documents that came in before there were any, or whose an earlier version made; how tags are written."""

from __future__ import annotations

from collections.abc import Callable

from rag_core.domain import CARD_VERSION
from rag_core.reading import make_card
from rag_core.storage import Storage

# A handful is some hundredths of a second of work, after which others have their turn.
_TOGETHER = 16
_TAG_CHARS = 60


def make_cards(storage: Storage, stopped: Callable[[], bool]) -> None:
    """Make the cards that are missing, from pages, sections and names in PostgreSQL; a few at a time, until stopped.

    Called in the background of a library. Whoever is stopped goes on with the next call. Raises StoreUnavailable.
    """
    cards = storage.documents.cards
    while not stopped() and (found := cards.without(CARD_VERSION, _TOGETHER)):
        cards.put({item.document_id: make_card(item.parsed, item.names) for item in found}, CARD_VERSION)
        storage.wake()


def clean_tag(tag: str) -> str:
    """A tag on one line, without a mark before it. Raises ValueError for one that is empty or too long."""
    found = " ".join(tag.replace(",", " ").split()).lstrip("#@ ")
    if not any(character.isalnum() for character in found) or len(found) > _TAG_CHARS:
        raise ValueError(f"A tag has letters or figures, and at most {_TAG_CHARS} characters.")
    return found
