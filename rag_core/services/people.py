"""People: whose documents and collections are, and with whom they are shared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_core.domain import Document, Membership
from rag_core.errors import ConfigurationError
from rag_core.storage import Storage

_MOST_CHARS = 320  # of an address (RFC 5321)


def address_of(person: str) -> str:
    """A person as they are kept: their address in small letters. Raises ConfigurationError for what is none."""
    address = person.strip().lower()
    name, _, domain = address.rpartition("@")
    if (
        not (name and domain)
        or len(address) > _MOST_CHARS
        or any(not one.isprintable() or one == " " for one in address)
    ):
        raise ConfigurationError(f"“{person[:100]}” is no address of a person.", help="Write one as ada@example.org.")
    return address


class People:
    """Whose things are. Thread-safe; raises StoreUnavailable."""

    def __init__(self, storage: Storage) -> None:
        self._kept = storage.documents.people

    def role(self, person: str, document_id: str) -> Membership | None:
        """What a person may do with a document; None where they do not see it, or there is none."""
        return self._kept.role(person, document_id)

    def membership(self, person: str, collection_id: str) -> Membership | None:
        """What a person may do with a collection; None where they do not see it, or there is none."""
        return self._kept.membership(person, collection_id)

    def seen(self, person: str, documents: Sequence[Document]) -> list[Document]:
        """Documents that a person sees, with the tags that they have for that person."""
        return self._kept.seen(person, documents)

    def owned(self, person: str, ids: Sequence[str]) -> set[str]:
        """Which of these documents are a person's own, those among them that are being removed."""
        return self._kept.owned(person, ids) if ids else set()

    def give(self, ids: Iterable[str], person: str) -> None:
        """Make documents a person's own; "" makes them everybody's. Raises ConfigurationError for no address."""
        self._kept.give(list(ids), address_of(person) if person else "")

    def members(self, collection_id: str) -> dict[str, Membership]:
        """With whom a collection is shared, and what each may do, its owner not among them."""
        return self._kept.members(collection_id)

    def share(self, collection_id: str, person: str, role: Membership) -> None:
        """Share a collection with a person as a reader or an editor. Raises ConfigurationError."""
        if role not in ("reader", "editor"):
            raise ConfigurationError(f"There is no role {role} in a collection.", help="Take reader or editor.")
        self._kept.share(collection_id, address_of(person), role)

    def unshare(self, collection_id: str, person: str) -> None:
        """Share a collection with a person no longer; what they put into it leaves it with them."""
        self._kept.unshare(collection_id, address_of(person))

    def put(self, collection_id: str, document_id: str) -> None:
        """Put a document into a collection: one of an editor's, or of its owner's, whose tag its name becomes."""
        self._kept.put(collection_id, document_id)

    def take_out(self, collection_id: str, document_id: str) -> None:
        """Take a document out again."""
        self._kept.take_out(collection_id, document_id)

    def owner_of_conversation(self, conversation_id: str) -> str | None:
        """Whose a conversation is, "" where it is nobody's in particular; None where there is none."""
        return self._kept.owner_of_conversation(conversation_id)

    def owner_of_message(self, message_id: str) -> str | None:
        """Whose the conversation of a message is."""
        return self._kept.owner_of_message(message_id)
