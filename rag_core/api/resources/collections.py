"""Collections: documents of one tag with instructions and settings of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import needs
from rag_core.api.problems import Refused, there
from rag_core.api.resources.documents import WRITE, Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, object_of, shown
from rag_core.api.scoping import Closed
from rag_core.domain import Collection
from rag_core.domain.serialiser import to_json
from rag_core.library import Library

router = APIRouter(prefix="/collections", tags=["collections"])
READ = Depends(needs("read"))
_MEMBER = object_of("Member", person=str, role=str)
_MEMBERS = object_of("Members", members=list[_MEMBER])  # type: ignore[valid-type]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Instructions = Annotated[str, Field(max_length=4000)]


class NewCollection(Closed):
    """A name, what models are told besides, and settings of search such as {"retrieval.k": 10}."""

    name: Name
    instructions: Instructions = ""
    settings: dict[str, Any] = Field(default={})


class CollectionChange(Closed):
    """What is to be different; what is left out stays."""

    name: Name | None = None
    instructions: Instructions | None = None
    settings: dict[str, Any] | None = None


class MemberGiven(Closed):
    """What a member may do: read a collection's documents, or also correct them and put their own into it."""

    role: Literal["reader", "editor"]


class Moved(Closed):
    """The collection that a conversation is put into, null for none."""

    collection: str | None


@router.get("", dependencies=[READ], **answers(object_of("Collections", collections=list[Collection])))
def collections(request: Request, library: Opened) -> Response:
    """Every collection. Its documents are those with its name as a tag, and a scope of that tag asks it."""
    return told(request, {"collections": to_json(library.collections.all())})


@router.post("", dependencies=[WRITE], **answers(shown(Collection), 201))
def make(request: Request, library: Opened, given: NewCollection) -> Response:
    """A new collection."""
    with _usable():
        made = library.collections.make(given.name, instructions=given.instructions, settings=given.settings)
    return told(request, to_json(made), 201)


@router.patch("/{collection_id}", dependencies=[WRITE], **answers(shown(Collection)))
def change(request: Request, library: Opened, collection_id: str, given: CollectionChange) -> Response:
    """Call a collection otherwise, or ask it in another way."""
    with there("collection"), _usable():
        library.collections.change(
            collection_id, name=given.name, instructions=given.instructions, settings=given.settings
        )  # fmt: skip
        return told(request, to_json(library.collections.get(collection_id)))


@router.delete("/{collection_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def remove(library: Opened, collection_id: str) -> None:
    """Remove a collection; its documents, their tag and its conversations stay."""
    with there("collection"):
        library.collections.remove(collection_id)


@router.post("/{collection_id}/take-back", dependencies=[WRITE], status_code=204, response_class=Response)
def take_back(library: Opened, collection_id: str) -> None:
    """Undo its removal, within a day."""
    with there("collection"), _usable():
        library.collections.take_back(collection_id)


@router.get("/{collection_id}/members", dependencies=[READ], **answers(_MEMBERS))
def members(request: Request, library: Opened, collection_id: str) -> Response:
    """With whom a person's collection is shared."""
    with there("collection"):
        return told(request, _members(library, collection_id))


@router.put("/{collection_id}/members/{person}", dependencies=[WRITE], **answers(_MEMBERS))
def share(request: Request, library: Opened, collection_id: str, person: str, given: MemberGiven) -> Response:
    """Share a collection with a person, by their address, or let them do more or less with it; answers all members."""
    with there("collection"):
        library.collections.get(collection_id)
        library.people.share(collection_id, person, given.role)
        return told(request, _members(library, collection_id))


@router.delete("/{collection_id}/members/{person}", dependencies=[WRITE], status_code=204, response_class=Response)
def unshare(library: Opened, collection_id: str, person: str) -> None:
    """Share it with a person no longer, or leave it; what they put into it leaves it with them."""
    with there("collection"):
        library.collections.get(collection_id)
        library.people.unshare(collection_id, person)


@router.put("/{collection_id}/documents/{document_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def put(library: Opened, collection_id: str, document_id: str) -> None:
    """Put a document of one's own into a collection that one owns or edits."""
    with there("collection or document"):
        library.collections.get(collection_id)
        library.document(document_id)
        library.people.put(collection_id, document_id)


@router.delete("/{collection_id}/documents/{document_id}", dependencies=[WRITE], status_code=204,
               response_class=Response)  # fmt: skip
def take_out(library: Opened, collection_id: str, document_id: str) -> None:
    """Take a document out again."""
    with there("collection or document"):
        library.collections.get(collection_id)
        library.document(document_id)
        library.people.take_out(collection_id, document_id)


@router.put("/conversations/{conversation_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def move(library: Opened, conversation_id: str, given: Moved) -> None:
    """Put a conversation into a collection, or into none."""
    library.collections.move(conversation_id, given.collection)


def _members(library: Library, collection_id: str) -> dict[str, Any]:
    library.collections.get(collection_id)
    found = library.people.members(collection_id)
    return {"members": [{"person": person, "role": role} for person, role in found.items()]}


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise Refused(422, str(error)) from error
