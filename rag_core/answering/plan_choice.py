"""Which of the likeliest plans a question means, by a language model: it says a number, and counts nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing

from rag_core.models import prompts
from rag_core.models.base import ChatModel
from rag_core.models.messages import prompted

_MOST_TOKENS, _MOST_CHARS = 24, 300
_NUMBER = re.compile(r"\d+")


def choose_plan(model: ChatModel, question: str, plans: Sequence[str], stopping: Callable[[], bool]) -> int | None:
    """The place of the plan, told in words, that a model takes for what is asked; None where it takes none.

    Raises Cancelled and ModelUnavailable."""
    listed = "\n".join(f"{number}. {prompts.plain(text)[:_MOST_CHARS]}" for number, text in enumerate(plans, 1))
    prompt = prompts.TABLE_PLANS.fill(question=question, plans=listed)
    number = {"type": "integer", "minimum": 0, "maximum": len(plans)}
    schema = {"type": "object", "properties": {"number": number}, "required": ["number"]}
    asked = model.stream(prompted(prompt), max_tokens=_MOST_TOKENS, json_schema=schema, cancelled=stopping)
    with closing(asked) as deltas:
        found = _NUMBER.search("".join(delta.text for delta in deltas))
    place = int(found[0]) - 1 if found else -1
    return place if 0 <= place < len(plans) else None
