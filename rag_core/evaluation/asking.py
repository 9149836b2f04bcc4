"""Asking a language model for a short reply: the prompt made to fit, the reply read piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from rag_core.models import ChatModel, prompted

_LEAST_CHARS = 80


def fitted(model: ChatModel, fill: Callable[[int], str], longest: int, max_tokens: int) -> str:
    """The longest prompt that leaves room for `max_tokens` of reply.

    `fill` makes a prompt with at most so many characters of quoted text. Where nothing fits, the shortest is returned:
    the model says itself that it is too long.
    """
    room = model.context_tokens - max_tokens
    prompt = fill(longest)
    while longest > _LEAST_CHARS and (tokens := model.prompt_tokens(prompted(prompt))) > room:
        longest = max(_LEAST_CHARS, min(int(longest * 0.9 * max(room, 1) / tokens), longest * 3 // 4))
        prompt = fill(longest)
    return prompt


def replies(
    model: ChatModel, prompt: str, max_tokens: int, cancelled: Callable[[], bool] | None = None
) -> Iterator[str]:
    """Yield the reply as far as it is written, each time a little longer.

    Leave it early where enough is known. Raises Cancelled and ModelUnavailable.
    """
    said = ""
    with closing(model.stream(prompted(prompt), max_tokens=max_tokens, cancelled=cancelled)) as deltas:
        for delta in deltas:
            said += delta.text
            yield said.lstrip()
