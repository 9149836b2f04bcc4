"""Collections: documents of one tag with instructions and settings of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

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

router = APIRouter(prefix="/collections", tags=["collections"])
READ = Depends(needs("read"))
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


@router.put("/conversations/{conversation_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def move(library: Opened, conversation_id: str, given: Moved) -> None:
    """Put a conversation into a collection, or into none."""
    library.collections.move(conversation_id, given.collection)


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise Refused(422, str(error)) from error
