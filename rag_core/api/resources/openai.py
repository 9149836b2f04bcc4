"""OpenAI's protocol: any program that speaks it asks the library as if it were a model.

Beyond the protocol, an answer has `citations` and `outcome` (in a stream, the last event that has a choice), and the
titles and pages of what it cites stand below its text, unless the request says `"sources": false`. The conversation is
the client's: nothing is kept here. Of messages, those of the system are passed over, since Lectern's own prompt says
how to answer.
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from rag_core.api.callers import caller_of
from rag_core.api.problems import Refused
from rag_core.api.resources.documents import READ, Opened
from rag_core.api.responses import Event, streamed, told
from rag_core.api.scoping import scope_of
from rag_core.cancellation import Cancellation
from rag_core.domain import Answer, StreamEvent, answer_of
from rag_core.domain.serialiser import to_json
from rag_core.library import Library
from rag_core.text.pages import counted

router = APIRouter(prefix="/v1", tags=["openai"])
OWN = "lectern"
"""The name by which the library's chosen model is asked."""
_SOURCES = "\n\nSources:\n"
_DONE: Event = ("", b"[DONE]")


class _Open(BaseModel):
    """What clients send beyond what is used here is passed over."""

    model_config = ConfigDict(extra="ignore")


class Part(_Open):
    """A part of a message; pictures and sounds are not taken."""

    type: Literal["text"]
    text: str


class ChatMessage(_Open):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """All that it says."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content or [])


class Chat(_Open):
    """A request for the next message; the last one of `messages` is the question."""

    model: str = OWN
    messages: list[ChatMessage] = Field(min_length=1, max_length=1000)
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    sources: bool = True


class Embed(_Open):
    """Texts whose vectors are asked for."""

    model: str = OWN
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


@router.get("/models", dependencies=[READ], response_model=None)
def models(request: Request, library: Opened) -> Response:
    """The models that can answer now: `lectern` is the one that is chosen."""
    ids = [OWN, *(model.id for model in library.language_models.statuses() if model.ready)]
    return told(request, {"object": "list", "data": [_model(name) for name in ids]})


@router.get("/models/{model_id}", dependencies=[READ], response_model=None)
def model(request: Request, library: Opened, model_id: str) -> Response:
    """One of them."""
    _chosen(library, model_id)
    return told(request, _model(model_id))


@router.post("/chat/completions", dependencies=[READ], response_model=None)
def complete(request: Request, library: Opened, given: Chat) -> Response:
    """Answer the last message of a conversation from the documents."""
    question, history = _asked(given.messages)
    chosen, scope = _chosen(library, given.model), scope_of(library, None, caller_of(request))

    def events(token: Cancellation) -> Iterator[StreamEvent]:
        return library.reply(question, history=history, model=chosen, cancellation=token, scope=scope)

    if given.stream:
        return streamed(request, lambda token: _chunks(events(token), given))
    answer = answer_of(events(Cancellation()))
    message = {"role": "assistant", "content": answer.text + _below(answer, given.sources), "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": _end(answer), "logprobs": None}
    return told(request, {
        **_head("chat.completion", given.model), "choices": [choice], "usage": _usage(answer),
        **_beyond(answer),
    })  # fmt: skip


@router.post("/embeddings", dependencies=[READ], response_model=None)
def embed(request: Request, library: Opened, given: Embed) -> Response:
    """The vectors of texts, by the library's own embedding model."""
    texts = [given.input] if isinstance(given.input, str) else given.input
    if not texts or len(texts) > 2048 or not all(texts):
        raise Refused(400, "The input is empty, or has more than 2048 texts.")
    vectors = library.embed(texts).astype("<f4")
    if given.dimensions not in (None, vectors.shape[1]):
        raise Refused(400, f"The vectors have {vectors.shape[1]} dimensions, and no others.")
    data = [
        {"object": "embedding", "index": number, "embedding": _packed(vector, given.encoding_format)}
        for number, vector in enumerate(vectors)
    ]
    count = sum(library.count_tokens(texts))
    usage = {"prompt_tokens": count, "total_tokens": count}
    return told(request, {"object": "list", "data": data, "model": given.model, "usage": usage})


def _asked(messages: list[ChatMessage]) -> tuple[str, list[tuple[str, str]]]:
    """The question, and the questions before it with their answers."""
    said = [message for message in messages if message.role in ("user", "assistant")]
    if not said or said[-1].role != "user":
        raise Refused(400, "The last message must be one of the user.")
    history: list[tuple[str, str]] = []
    for before, after in pairwise(said):
        if (before.role, after.role) == ("user", "assistant"):
            history.append((before.text, after.text.partition(_SOURCES)[0]))
    return said[-1].text, history


def _chosen(library: Library, name: str) -> str | None:
    """A model by the name that a client gives; None for the one that is chosen."""
    if name == OWN:
        return None
    if name not in {model.id for model in library.language_models.statuses() if model.ready}:
        raise Refused(404, f"There is no model {name[:100]}.", f"Ask for {OWN}, or one that /v1/models lists.")
    return name


def _chunks(events: Iterator[StreamEvent], given: Chat) -> Iterator[Event]:
    """The events of an answer as chunks of a completion."""
    head = _head("chat.completion.chunk", given.model)

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> Event:
        return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}

    yield chunk({"role": "assistant", "content": ""})
    answer = None
    for event in events:
        if event.text:
            yield chunk({"content": event.text})
        answer = event.answer or answer
    if answer is not None:
        if below := _below(answer, given.sources):
            yield chunk({"content": below})
        yield chunk({}, _end(answer), **_beyond(answer))
        if (given.stream_options or {}).get("include_usage"):
            yield "", {**head, "choices": [], "usage": _usage(answer)}
    yield _DONE


def _end(answer: Answer) -> str:
    """Why it ended, in the protocol's words."""
    return "length" if answer.cut else "stop"


def _beyond(answer: Answer) -> dict[str, Any]:
    """What an answer has beyond the protocol."""
    return {"citations": to_json(answer.citations), "outcome": answer.outcome, "notes": [*answer.trace.notes]}


def _below(answer: Answer, wanted: bool) -> str:
    """The passages that an answer cites, as text."""
    lines = [f"[{one.number}] {one.title}, {counted(one.page, one.page_label)}" for one in answer.citations]
    return _SOURCES + "\n".join(lines) if wanted and lines else ""


def _usage(answer: Answer) -> dict[str, int]:
    asked, said = answer.trace.tokens.get("prompt", 0), answer.trace.tokens.get("answer", 0)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _head(kind: str, name: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": name}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": OWN}


def _packed(vector: np.ndarray[Any, np.dtype[np.float32]], form: str) -> Any:
    return vector.tolist() if form == "float" else base64.b64encode(vector.tobytes()).decode()
