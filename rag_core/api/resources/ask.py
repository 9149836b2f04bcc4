"""Ask: an answer with its citations, whole or as a stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import Response

from rag_core.api.callers import Caller, caller_of, needs, note
from rag_core.api.problems import Refused, there
from rag_core.api.resources.documents import READ, Opened
from rag_core.api.responses import Event, streamed, told, wants_events
from rag_core.api.schema import answers, shown
from rag_core.api.scoping import Closed, ScopeGiven, scope_of
from rag_core.cancellation import Cancellation
from rag_core.domain import Answer, SearchMode, StreamEvent, answer_of
from rag_core.domain.serialiser import to_json
from rag_core.library import Library

router = APIRouter(prefix="/ask", tags=["ask"])
messages = APIRouter(prefix="/conversations/{conversation_id}/messages", tags=["ask"])
_ANSWER = shown(Answer, without=("hits",), name="Answer")


class Question(Closed):
    """A question; see `Library.stream`. With `stream`, or `Accept: text/event-stream`, it is told as events.

    With `keep` false nothing is kept, and nothing replaced: see `Library.reply`.
    """

    question: str
    conversation: str | None = None
    model: str | None = None
    scope: ScopeGiven | None = None
    replaces: str | None = None
    agent: bool | None = None
    mode: SearchMode | None = None
    k: Annotated[int, Field(ge=1, le=100)] | None = None
    stream: bool = False
    keep: bool = True
    history: list[tuple[str, str]] = Field(default=[], max_length=1000)


class More(Closed):
    """How to tell of what comes: with `stream`, or `Accept: text/event-stream`, as events."""

    stream: bool = False


@router.post("", dependencies=[READ], **answers(_ANSWER))
def ask(request: Request, library: Opened, given: Question) -> Response:
    """Answer a question. The events of a stream are `piece` (text, or a stage that begins) and, last, `answer`.

    It is kept in its conversation, save for a key that is narrowed to tags; an unknown one begins under that id. To
    replace a message, or to go on with a conversation that another caller began, needs the role write.
    """
    caller = caller_of(request)
    check_own(request, library, given)
    if given.stream or wants_events(request):
        return streamed(request, lambda token: _sent(_stream(library, given, caller, token)))
    return told(request, to_json(answer_to(library, given, caller), without={"hits"}))


@messages.post("/{message_id}/continue", dependencies=[Depends(needs("read"))], **answers(_ANSWER))
def go_on(request: Request, library: Opened, conversation_id: str, message_id: str, given: More) -> Response:
    """Go on with an answer that was cut at its limit of tokens (`cut`); told and kept as by `POST /ask`.

    In a conversation that another caller began it needs the role write; a key that is narrowed to tags has none.
    """
    with there("message"):
        if message_id not in {message.id for message in library.messages(conversation_id)}:
            raise KeyError(message_id)
    check_own(request, library, Question(question="", conversation=conversation_id))
    if given.stream or wants_events(request):
        return streamed(request, lambda token: _sent(library.history.go_on(conversation_id, message_id, token)))
    return told(request, to_json(answer_of(library.history.go_on(conversation_id, message_id)), without={"hits"}))


def check_own(request: Request, library: Library, given: Question) -> None:
    """Refuse a change of what others said to whoever may only read; that of whoever may is noted in the audit."""
    caller = caller_of(request)
    if caller.tags or not given.keep:  # nothing is kept
        return
    begun_by = library.history.begun_by(given.conversation) if given.conversation else None
    if given.replaces is None and begun_by in (None, caller.name):
        return
    note(request)
    if not caller.may("write"):
        raise Refused(
            403, "A key with the role read adds to conversations that it began, and replaces nothing.",
            "Leave `conversation` and `replaces` out, or ask whoever gave you the key for the role write.",
        )  # fmt: skip


def answer_to(library: Library, given: Question, caller: Caller) -> Answer:
    """The whole answer."""
    return answer_of(_stream(library, given, caller, Cancellation()))


def _stream(library: Library, given: Question, caller: Caller, token: Cancellation) -> Iterator[StreamEvent]:
    scope = scope_of(library, given.scope, caller)
    if caller.tags or not given.keep:
        # What others said is not for a narrowed key to go on with, nor are names that widen the scope.
        events = library.reply(
            given.question, history=given.history, conversation=None if caller.tags else given.conversation,
            model=given.model, cancellation=token, scope=scope, agent=given.agent, mode=given.mode, k=given.k,
        )  # fmt: skip
        return (replace(event, answer=_discreet(event.answer)) for event in events) if caller.tags else events
    return library.stream(
        given.question, conversation=given.conversation, model=given.model, cancellation=token, scope=scope,
        replaces=given.replaces, agent=given.agent, begun_by=caller.name, mode=given.mode, k=given.k,
    )  # fmt: skip


def _discreet(answer: Answer | None) -> Answer | None:
    """An answer without what was searched and how it was understood, which may tell of documents outside its scope."""
    if answer is None:
        return None
    return replace(answer, trace=replace(answer.trace, searched=None, query=answer.question, restated=False))


def _sent(events: Iterator[StreamEvent]) -> Iterator[Event]:
    for event in events:
        if event.answer is not None:
            yield "answer", to_json(event.answer, without={"hits"})
        else:
            told_event: dict[str, Any] = to_json(event, without={"answer"})
            yield "piece", told_event
