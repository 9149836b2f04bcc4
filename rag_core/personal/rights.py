"""What one person may do: looked up in PostgreSQL with each call, so that what is taken back is gone at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from rag_core.domain import Answer, Document, DocumentFilter, Hit, Membership, Scope, StreamEvent, TablePlan
from rag_core.errors import NotAllowed
from rag_core.library import Library

_HALF = 16  # characters of the ids of people's conversations, the second half of which is told by the first


class Rights:
    """Asks of one person. What they do not see raises KeyError, as what there is not; what they may not do with what
    they see raises NotAllowed. What returns what it is given lets it pass."""

    def __init__(self, library: Library, person: str) -> None:
        self.library, self.person = library, person

    def role(self, document_id: str) -> Membership:
        """What they may do with a document, at least see it."""
        role = self.library.people.role(self.person, document_id)
        if role is None:
            raise KeyError(document_id)
        return role

    def see(self, document_id: str) -> str:
        """They may see a document."""
        self.role(document_id)
        return document_id

    def seen(self, document: Document) -> Document:
        """They may see this document."""
        self.role(document.id)
        return document

    def edit(self, document_id: str) -> str:
        """They may change what a document is called and says."""
        if self.role(document_id) == "reader":
            raise NotAllowed("This document is shared with you to be read.", help="Ask whose it is to let you edit.")
        return document_id

    def edit_chunk(self, chunk_id: str) -> str:
        """They may change the document that a chunk is of."""
        self.edit(chunk_id.rpartition(":")[0])
        return chunk_id

    def own(self, document_id: str) -> str:
        """It is their own."""
        if self.role(document_id) != "owner":
            raise NotAllowed("This document is not your own.", help="Ask whose it is.")
        return document_id

    def plan(self, plan: TablePlan) -> TablePlan:
        """They may see the documents whose tables a plan goes over."""
        for document_id in filter(None, (plan.document_id, plan.other)):
            self.role(document_id)
        return plan

    def member(self, collection_id: str) -> Membership:
        """What they may do with a collection, at least see it."""
        role = self.library.people.membership(self.person, collection_id)
        if role is None:
            raise KeyError(collection_id)
        return role

    def owner(self, collection_id: str) -> str:
        """A collection is their own."""
        if self.member(collection_id) != "owner":
            raise NotAllowed("This collection is not your own.", help="Ask whose it is.")
        return collection_id

    def conversation(self, conversation_id: str) -> str:
        """The id under which a conversation of theirs is kept. One that is not theirs has none of it, whether somebody
        else has one of that id or nobody: under what is told here they begin one of their own. It is told of itself."""
        owner, half = self.library.people.owner_of_conversation(conversation_id), conversation_id[:_HALF]
        if owner == self.person or (owner is None and conversation_id == half + self._mark(half)):
            return conversation_id
        begins = self._mark(conversation_id)
        return begins + self._mark(begins)

    def _mark(self, text: str) -> str:
        return hashlib.sha256(f"{self.person}\0{text}".encode()).hexdigest()[:_HALF]

    def message(self, message_id: str) -> bool:
        """Whether a message is of a conversation of theirs."""
        return self.library.people.owner_of_message(message_id) == self.person

    def scope(self, scope: Scope | None) -> Scope:
        """A scope within what they may see."""
        return replace(scope or Scope(), viewer=self.person, sealed=True)

    def documents(self, wanted: DocumentFilter) -> DocumentFilter:
        """A filter within what they may see."""
        return replace(wanted, viewer=self.person)

    def hits(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """What was found as they see it: how scores were come by tells of documents that they do not see."""
        found = self.library.people.seen(self.person, [hit.document for hit in hits]) if hits else []
        return tuple(replace(hit, document=one, scores={}) for hit, one in zip(hits, found, strict=True))

    def discreet(self, answer: Answer) -> Answer:
        """An answer without what tells how often words stand in documents that they do not see."""
        return replace(answer, hits=self.hits(answer.hits), trace=replace(answer.trace, searched=None))

    def discreetly(self, events: Iterator[StreamEvent]) -> Iterator[StreamEvent]:
        """The same of the events of an answer."""
        for event in events:
            yield replace(event, answer=self.discreet(event.answer)) if event.answer is not None else event


class Part:
    """A part of the library, one of its services or itself, as a person has it. What it has no method for is refused.

    `service`: what that is called in the library.
    """

    service = ""

    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._library, self._person = rights.library, rights.person

    def __getattr__(self, name: str) -> NoReturn:
        raise NotOffered(f"{name} is of the library as a whole.", help="Ask whoever runs it.")


class NotOffered(NotAllowed, AttributeError):
    """What no person is offered; AttributeError, so that `hasattr` is False for it."""


class Offered:
    """A method of a part that is the service's own: `right`, where it takes one, is asked of its first argument."""

    def __init__(self, right: Callable[[Rights, Any], object] | None = None) -> None:
        self._right = right

    def __set_name__(self, part: type[Part], name: str) -> None:
        self._name = name

    def __get__(self, part: Part, owner: type[Part]) -> Callable[..., Any]:
        return partial(self._ask, part)

    def _ask(self, part: Part, /, *args: Any, **named: Any) -> Any:
        if self._right is not None:
            args = (self._right(part._rights, args[0]), *args[1:])
        library = part._rights.library
        return getattr(getattr(library, part.service) if part.service else library, self._name)(*args, **named)
