"""Cards of documents that came in before there were any, or whose an earlier version made; how tags are written."""

from __future__ import annotations

from collections.abc import Callable

from rag_core.domain import CARD_VERSION, DocumentCard
from rag_core.errors import UnexpectedFailure
from rag_core.reading import make_card
from rag_core.storage import Storage
from rag_core.storage.postgres.cards import Carded
from rag_core.unexpected import stage

# A handful is some hundredths of a second of work, after which others have their turn.
_TOGETHER = 16
_TAG_CHARS = 60


def make_cards(storage: Storage, stopped: Callable[[], bool]) -> None:
    """Make the cards that are missing, from pages, sections and names in PostgreSQL; a few at a time, until stopped.

    Called in the background of a library. Whoever is stopped goes on with the next call. Raises StoreUnavailable.
    """
    cards = storage.documents.cards
    while not stopped() and (found := cards.without(CARD_VERSION, _TOGETHER)):
        cards.put({item.document_id: _card(item) for item in found}, CARD_VERSION)
        storage.wake()


def _card(item: Carded) -> DocumentCard:
    """A document's card; with the title alone where making it fails, or no other would ever have its turn."""
    try:
        with stage("card", item.document_id):
            return make_card(item.parsed, item.names)
    except UnexpectedFailure:  # the log says what it was
        return DocumentCard(item.parsed.title or next(iter(item.names), item.document_id))


def clean_tag(tag: str) -> str:
    """A tag on one line, without a mark before it. Raises ValueError for one that is empty or too long."""
    found = " ".join(tag.replace(",", " ").split()).lstrip("#@ ")
    if not any(character.isalnum() for character in found) or len(found) > _TAG_CHARS:
        raise ValueError(f"A tag has letters or figures, and at most {_TAG_CHARS} characters.")
    return found
