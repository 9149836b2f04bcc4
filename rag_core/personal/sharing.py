"""A person's collections and whom they share them with; and the little that they need of what is the library's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rag_core.domain import Collection, Membership, SuggestedModel, address_of
from rag_core.errors import NotAllowed
from rag_core.personal.rights import Offered, Part, Rights


class PersonalCollections(Part):
    """Collections of their own, and those that are shared with them."""

    service = "collections"
    change = Offered(Rights.owner)
    remove = Offered(Rights.owner)

    def all(self) -> list[Collection]:
        """Those that they see, in alphabetical order."""
        return self._library.collections.all(viewer=self._person)

    def get(self, collection_id: str) -> Collection:
        """One of them."""
        return {one.id: one for one in self.all()}[collection_id]

    def make(
        self, name: str, *, instructions: str = "", settings: Mapping[str, object] | None = None
    ) -> Collection:  # fmt: skip
        """A new collection of their own."""
        return self._library.collections.make(
            name, instructions=instructions, settings=settings, owner=self._person
        )  # fmt: skip

    def take_back(self, collection_id: str) -> None:
        """Undo that."""
        if not self._library.collections.is_owned(collection_id, self._person):
            raise KeyError(collection_id)
        self._library.collections.take_back(collection_id)

    def move(self, conversation_id: str, collection: str | None) -> None:
        """Put a conversation of theirs into a collection that they see, or into none."""
        if collection and self._library.people.membership(self._person, collection) is None:
            collection = None  # as of an id that there is not
        self._library.collections.move(self._rights.conversation(conversation_id), collection)


class PersonalPeople(Part):
    """With whom collections are shared."""

    def members(self, collection_id: str) -> dict[str, Membership]:
        """The members of a collection that they see."""
        self._rights.member(collection_id)
        return self._library.people.members(collection_id)

    def share(self, collection_id: str, person: str, role: Membership) -> None:
        """Share a collection of their own."""
        self._rights.owner(collection_id)
        if address_of(person) == self._person:
            raise NotAllowed("This collection is your own.", help="Share it with somebody else.")
        self._library.people.share(collection_id, person, role)

    def unshare(self, collection_id: str, person: str) -> None:
        """Share a collection of their own no longer, or leave one of somebody else."""
        if address_of(person) == self._person:
            self._rights.member(collection_id)
        else:
            self._rights.owner(collection_id)
        self._library.people.unshare(collection_id, person)

    def put(self, collection_id: str, document_id: str) -> None:
        """Put a document of their own into a collection that they own or edit."""
        self._rights.own(document_id)
        if self._rights.member(collection_id) == "reader":
            raise NotAllowed("This collection is shared with you to be read.", help="Ask whose it is.")
        self._library.people.put(collection_id, document_id)

    def take_out(self, collection_id: str, document_id: str) -> None:
        """Take a document out of a collection: their own, or any out of one that is theirs."""
        self._rights.see(document_id)
        if self._rights.member(collection_id) != "owner":
            self._rights.own(document_id)
        self._library.people.take_out(collection_id, document_id)


class PersonalModels(Part):
    """Which language models there are."""

    service = "language_models"
    statuses = Offered()

    def suggestions(self) -> tuple[SuggestedModel, ...]:
        """None: what is downloaded is for whoever runs the library to choose."""
        return ()

    @property
    def folder(self) -> Path:
        """Where their files lie, which is told to nobody."""
        return self._library.language_models.folder


class PersonalPreferences(Part):
    """What a person chose for themselves, else what was chosen for the library."""

    def get(self, name: str) -> str | None:
        """A value that was chosen, or None."""
        return self._library.preferences.get(self._own(name)) or self._library.preferences.get(name)

    def set(self, name: str, value: str | None) -> None:
        """Keep a value that they chose; None forgets it."""
        self._library.preferences.set(self._own(name), value)

    def _own(self, name: str) -> str:
        if name != "model":
            raise NotAllowed("This is chosen for the library as a whole.", help="Ask whoever runs it.")
        return f"{name} of {self._person}"


class PersonalAccess(Part):
    """What was answered under idempotency keys, which are a key's own."""

    service = "access"
    answered = Offered()
    keep_answer = Offered()
