"""The words in which questions compare: which of two has more, which of several has least."""

from __future__ import annotations

import re

_DOWN, _UP = "small|low|few|cheap|short", "larg|high|great|bigg|dear|long"
LESS = rf"(?:{_DOWN})(?:er|est)|less|least"
MORE = rf"(?:{_UP})(?:er|est)|heav(?:ier|iest)|more|most"
COMPARED = rf"\b(?:(?:{_DOWN}|{_UP})er|heavier|less|more)\b"
COMPARATIVE = re.compile(rf"\b(?:more|less|fewer|(?:{_DOWN}|{_UP})er)\b", re.IGNORECASE)
SUPERLATIVE = re.compile(rf"\b(?:(?:most|least)\s\w+|{MORE}|{LESS})\b", re.IGNORECASE)
# "Less than" before a number is a limit and compares nothing.
LOW, HIGH = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (rf"(?:{LESS})\b(?!\sthan\s\d)", MORE))


def asks_for_low(question: str) -> bool:
    """Whether a question asks for the smaller."""
    return bool(LOW.search(question)) and not HIGH.search(question)
