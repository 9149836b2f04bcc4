"""What goes into a chat model, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


def never() -> bool:
    """The `cancelled` of a request that nobody stops."""
    return False


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a dialogue."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a prompt with all that the model's template adds, and of the answer, in the model's own."""

    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class Cut:
    """What a provider says where an answer ended because it reached its limit of tokens ("length")."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What a model wrote since the last one; the last of a stream has no text, the `usage`, and whether it was cut."""

    text: str = ""
    usage: Usage | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What a provider is asked: see `ChatModel.stream`."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    stop: tuple[str, ...] = ()
    json_schema: Mapping[str, Any] | None = None
    cancelled: Callable[[], bool] = never


def prompted(prompt: str) -> tuple[ChatMessage, ...]:
    """A dialogue of one message of the user."""
    return (ChatMessage("user", prompt),)
