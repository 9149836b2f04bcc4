"""A GGUF file's own chat template: what stands before, between and behind the texts of a dialogue."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rag_core.errors import ModelUnavailable
from rag_core.models.messages import ChatMessage

# Of the models that think aloud only if they are asked to, the answer is wanted alone; each kind has its own word.
_NO_THOUGHTS = {"enable_thinking": False, "thinking": False, "reasoning_effort": "low"}


class ChatTemplate:
    """How one model wants a dialogue written; without a template, texts a line apart.

    begin, end: how the model spells the tokens that begin and end a text. `thinks_first` says that the model's answer
    begins amid its thoughts. Raises ModelUnavailable for a template that cannot be used.
    """

    def __init__(self, text: str, begin: str, end: str, label: str) -> None:
        self._label, self._spelt = label, {"bos_token": begin, "eos_token": end}
        self._template = _compiled(text) if text else None
        self.is_there = self._template is not None
        self._takes_system = True
        asked, told = ChatMessage("user", "x"), ChatMessage("system", "x")
        try:
            self.between((told, asked))
        except ModelUnavailable:
            self._takes_system = False
        after = self.between((asked,))[-1]
        self.thinks_first = bool(re.search(r"<think(?:ing)?>\s*$", after))

    def fitted(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """The messages, with the system's text at the head of the user's first where the template has no such role."""
        return messages if self._takes_system else _system_joined(messages)

    def between(self, messages: Sequence[ChatMessage]) -> list[str]:
        """What stands before, between and behind the messages' texts: one text more than messages.

        Raises ModelUnavailable.
        """
        if self._template is None:
            return ["", *["\n\n"] * (len(messages) - 1), ""]
        # Marks stand for the texts, so that nothing in them is taken for a part of the template.
        mark = secrets.token_hex(16)
        marked = [{"role": message.role, "content": f"{mark}{place:04d}"} for place, message in enumerate(messages)]
        parts = re.split(rf"{mark}(\d{{4}})", self._rendered(marked))
        if [int(place) for place in parts[1::2]] != list(range(len(messages))):
            raise ModelUnavailable(
                f"The chat template of {self._label} leaves the question out.", help="Use another model file."
            )
        return parts[::2]

    def _rendered(self, messages: list[dict[str, str]]) -> str:
        from jinja2 import TemplateError

        try:
            return str(
                self._template.render(  # type: ignore[union-attr]
                    messages=messages, add_generation_prompt=True, tools=None, documents=None, functions=None,
                    raise_exception=_refuse, strftime_now=lambda form: datetime.now().strftime(form), **self._spelt,
                    **_NO_THOUGHTS,
                )
            )  # fmt: skip
        except (TemplateError, ValueError, TypeError) as error:
            raise _unusable(error) from error


def _compiled(text: str) -> Any:
    """A template, in a sandbox: it comes with the file, not from us. It is written for Hugging Face's transformers."""
    from jinja2 import BaseLoader, TemplateError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """Marks around what the model writes, of no meaning here."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    environment = ImmutableSandboxedEnvironment(
        loader=BaseLoader(), trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = _json
    try:
        return environment.from_string(text)
    except TemplateError as error:
        raise _unusable(error) from error


def _json(value: Any, indent: int | None = None, **_: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise ValueError(message)


def _unusable(error: Exception) -> ModelUnavailable:
    return ModelUnavailable(f"The model's chat template cannot be used: {error}", help="Use another model file.")


def _system_joined(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Messages whose system's text stands at the head of the user's first."""
    told = "\n\n".join(message.text for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if told and rest:
        rest[0] = ChatMessage(rest[0].role, f"{told}\n\n{rest[0].text}")
    return tuple(rest)
