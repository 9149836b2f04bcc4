"""A question as it is understood, which every strategy is given, and whether it can be asked at all."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from rag_core.answering.going_on import Beginning
from rag_core.domain import Message, Retrieval
from rag_core.errors import InvalidQuestion
from rag_core.models.prompts import new_mark
from rag_core.retrieval.contents import Contents
from rag_core.settings import Settings

Search = Callable[[str], Retrieval]
"""Finds the passages for a text, in what the question is asked of."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with all that its answer depends on.

    `text` is as it was asked; `wordings`, at least one, are the ways in which it can be searched for. `model` is the
    language model's id, or the extractive one's. `history` is the conversation so far, oldest first. Of `contents`
    whole documents can be read. With an `agent` several searches are planned. A language model keeps to `instructions`.
    `message_id` is what the answer is kept under, "" for nothing; `beginning` is what there is of one that is gone on
    with; where the question `goes_on`, a model may be told what is new alone. `mark` stands in the delimiters of a
    prompt's passages. `began`: seconds of `time.perf_counter`.
    """

    text: str
    wordings: tuple[str, ...]
    model: str
    settings: Settings
    history: tuple[Message, ...] = ()
    contents: Contents | None = None
    agent: bool = False
    instructions: str = ""
    message_id: str = ""
    beginning: Beginning | None = None
    goes_on: bool = False
    mark: str = field(default_factory=new_mark)
    began: float = field(default_factory=time.perf_counter)


def check_question(question: str, max_chars: int) -> str:
    """The question without control characters and surplus space. `max_chars` counts characters.

    Raises InvalidQuestion for an empty one, one without any readable character, and one that is too long.
    """
    if len(question) > max_chars:
        raise InvalidQuestion(
            f"The question has {len(question):,} characters; at most {max_chars:,} are taken.",
            help="Shorten it, or add the long text as a document and ask about it.",
        )
    if not question.strip():
        raise InvalidQuestion("The question is empty.", help="Type a question about your documents.")
    # Cs are lone surrogates, which no store takes; the rest of C are controls and characters without a meaning.
    readable = "".join(" " if unicodedata.category(char)[0] == "C" else char for char in question)
    if not any(char.isalnum() for char in readable):
        raise InvalidQuestion("The question holds no letter or digit.", help="Ask in words.")
    return " ".join(readable.split())
