"""Past questions that the user rated, as questions of a set."""

from __future__ import annotations

import re

from rag_core.domain import Gold, Message, Question

_NUMBER = re.compile(r"\s*\[\d+\]")


def question_of(message: Message) -> Question:
    """A rated question. A good answer is its reference and what it cites its gold; a good "not found" has neither.

    A bad answer says nothing of the right one: the reference is left to the user.
    """
    answer = message.answer
    # A follow-up was searched for as a question that stands alone.
    text = (answer.trace.query if answer is not None else "") or message.question
    if answer is None or message.rating != 1:
        note = "The answer was rated as bad: add the right one."
        return Question(id=message.id, text=text, origin="asked", note=note)
    if answer.abstained:
        note = "“Not found” was rated as right."
        return Question(id=message.id, text=text, answerable=False, origin="asked", note=note)
    gold = tuple(dict.fromkeys(Gold(c.document_id, c.page, c.text) for c in answer.citations))
    reference = _NUMBER.sub("", answer.text).strip()
    return Question(
        id=message.id, text=text, references=(reference,), gold=gold, origin="asked",
        note="The answer was rated as good.",
    )  # fmt: skip
