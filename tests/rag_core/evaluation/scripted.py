"""A language model that says what a test tells it to, a few characters at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from rag_core.models import ChatMessage, ChatModel, Usage
from rag_core.models.messages import Request


class Scripted(ChatModel):
    """Says its replies in turn, the last one again and again; a word is a token."""

    id = label = "scripted"

    def __init__(self, *replies: str, context_tokens: int = 4096) -> None:
        super().__init__()
        self.context_tokens = context_tokens
        self.prompts: list[str] = []
        self.said = ""
        self._replies: Sequence[str] = replies

    def _generate(self, request: Request) -> Generator[str | Usage, None, None]:
        self.prompts.append("\n".join(message.text for message in request.messages))
        reply = self._replies[min(len(self.prompts), len(self._replies)) - 1]
        self.said = ""
        for start in range(0, len(reply), 3):
            self.said += reply[start : start + 3]
            yield reply[start : start + 3]

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def prompt_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(self.count_tokens(message.text) for message in messages)
