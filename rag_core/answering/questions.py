"""Whether a question can be asked at all."""

from __future__ import annotations

import unicodedata

from rag_core.errors import InvalidQuestion


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
