"""A new question for level two, from the question and what the clusters that level one found say.

What a model writes is looked for beside the question and not in its place, as expansions are (Wang et al., "Query2doc",
2023): small models lose what was asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_core.errors import Cancelled, LecternError
from rag_core.retrieval.hierarchy.reducing import Floats
from rag_core.retrieval.hierarchy.search import Focus
from rag_core.text.tokens import words

_log = logging.getLogger(__name__)
_MOST_WORDS = 3

Write = Callable[[str, Sequence[str]], str]
"""A model that writes a question anew from it and summaries; empty where none is chosen. Raises LecternError."""


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """A new question, its vector, float32 (d,), of unit length, and what is worth knowing of how it was written."""

    text: str
    vector: Floats
    note: str = ""


def rewritten(question: str, focus: Focus, write: Write, encode: Callable[[str], Floats]) -> Rewritten:
    """The new question, by a model, and by rules where none is chosen or it fails."""
    note = ""
    try:
        text = " ".join(write(question, focus.summaries).split())
    except Cancelled:
        raise
    except LecternError as error:
        _log.warning("A question could not be written anew: %s", error)
        text, note = "", f"The clusters' words were added to the question: the model could not write a new one. {error}"
    text = beside(question, text) if text else by_rules(question, focus.terms)
    return Rewritten(text, encode(text), note)


def beside(question: str, written: str) -> str:
    """What a model wrote behind the question, unless it says that itself."""
    return written if question.casefold() in written.casefold() else f"{question} {written}"


def by_rules(question: str, terms: Sequence[str]) -> str:
    """The question with the first words of the clusters found that it does not have."""
    held = {word.lower() for word in words(question)}
    return " ".join([question, *[term for term in terms if term.lower() not in held][:_MOST_WORDS]])
