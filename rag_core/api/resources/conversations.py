"""Conversations: list, read, go on elsewhere; what was thought of their answers."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import needs
from rag_core.api.problems import there
from rag_core.api.resources.documents import WRITE, Opened
from rag_core.api.responses import told
from rag_core.api.schema import answers, object_of, sends, shown
from rag_core.api.scoping import Closed
from rag_core.domain import Conversation, Message
from rag_core.domain.serialiser import to_json
from rag_core.library import Library

router = APIRouter(prefix="/conversations", tags=["conversations"])
messages = APIRouter(prefix="/messages", tags=["conversations"])
READ = Depends(needs("read"))
_KINDS = {
    "markdown": "text/markdown", "pdf": "application/pdf", "json": "application/json", "bibtex": "application/x-bibtex",
}  # fmt: skip
_Whole = object_of("ConversationWhole", conversation=Conversation, messages=list[Message])


class Change(Closed):
    """What is to be different; what is left out stays."""

    title: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    pinned: bool | None = None


class Rating(Closed):
    """1 good, -1 bad, null neither, and why."""

    rating: Literal[1, -1] | None
    reason: Annotated[str, Field(max_length=2000)] = ""


@router.get("", dependencies=[READ], **answers(object_of("Conversations", conversations=list[Conversation], total=int)))
def conversations(
    request: Request, library: Opened, words: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100, offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:  # fmt: skip
    """Conversations, pinned ones first, then the one used last; with `words`, those that hold them all."""
    found = library.conversations(words)
    return told(request, {"conversations": to_json(found[offset : offset + limit]), "total": len(found)})


@router.get("/{conversation_id}", dependencies=[READ], **answers(_Whole))
def conversation(request: Request, library: Opened, conversation_id: str) -> Response:
    """One conversation with its messages."""
    found = _found(library, conversation_id)
    return told(request, {"conversation": to_json(found), "messages": to_json(library.messages(conversation_id))})


@router.patch("/{conversation_id}", dependencies=[WRITE], **answers(shown(Conversation)))
def change(request: Request, library: Opened, conversation_id: str, given: Change) -> Response:
    """Give a conversation another title, pin it or let it go."""
    _found(library, conversation_id)
    if given.title is not None:
        library.history.rename(conversation_id, given.title)
    if given.pinned is not None:
        library.history.pin(conversation_id, given.pinned)
    return told(request, to_json(_found(library, conversation_id)))


@router.delete("/{conversation_id}", dependencies=[WRITE], status_code=204, response_class=Response)
def delete(library: Opened, conversation_id: str) -> None:
    """Delete a conversation with its messages."""
    _found(library, conversation_id)
    library.history.delete(conversation_id)


@router.put("/{conversation_id}/messages/{message_id}/rating", dependencies=[WRITE], status_code=204,
            response_class=Response)  # fmt: skip
def rate(library: Opened, conversation_id: str, message_id: str, given: Rating) -> None:
    """Keep what the user thinks of an answer."""
    with there("message"):
        if message_id not in {message.id for message in library.messages(conversation_id)}:
            raise KeyError(message_id)
    library.history.rate(message_id, given.rating, given.reason)


@messages.put("/{message_id}/rating", dependencies=[WRITE], status_code=204, response_class=Response)
def rate_message(library: Opened, message_id: str, given: Rating) -> None:
    """The same for who knows the message alone; one that there is not changes nothing."""
    library.history.rate(message_id, given.rating, given.reason)


@router.get("/{conversation_id}/export", dependencies=[READ], **sends(*_KINDS.values()))
def export(library: Opened, conversation_id: str, form: Literal["markdown", "pdf", "json", "bibtex"]) -> Response:
    """A conversation as a file; `bibtex` is of the documents that it cites."""
    with there("conversation"):
        return Response(library.history.export(conversation_id, form), media_type=_KINDS[form])


def _found(library: Library, conversation_id: str) -> Conversation:
    with there("conversation"):
        return library.history.get(conversation_id)
