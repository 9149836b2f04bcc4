"""A ChatModel in LangChain's dress. Importing this imports LangChain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from rag_core.models import ChatMessage, ChatModel, Usage
from rag_core.models.messages import Role

_CLASSES: dict[Role, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
_ROLES: dict[str, Role] = {"system": "system", "human": "user", "ai": "assistant"}


class LangChainModel(BaseChatModel):
    """A ChatModel for LangChain; its pieces go to the callbacks as they come."""

    model: ChatModel
    max_tokens: int
    cancelled: Callable[[], bool]
    _usage: Usage | None = PrivateAttr(default=None)

    @property
    def usage(self) -> Usage | None:
        """Tokens of the last request, where it came to an end."""
        return self._usage

    @property
    def _llm_type(self) -> str:
        return "lectern"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        written = []
        asked = self.model.stream(
            from_langchain(messages), max_tokens=self.max_tokens, stop=stop or (), cancelled=self.cancelled
        )
        with closing(asked) as deltas:
            for delta in deltas:
                written.append(delta.text)
                self._usage = delta.usage
                if run_manager is not None and delta.text:
                    run_manager.on_llm_new_token(delta.text)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(written)))])


def from_langchain(messages: Sequence[BaseMessage]) -> tuple[ChatMessage, ...]:
    """LangChain's messages as a model takes them."""
    return tuple(ChatMessage(_ROLES[message.type], str(message.content)) for message in messages)


def to_langchain(messages: Sequence[ChatMessage]) -> list[BaseMessage]:
    """Messages as LangChain takes them."""
    return [_CLASSES[message.role](content=message.text) for message in messages]
