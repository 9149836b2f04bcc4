"""What every drafted question is checked for, whoever wrote it."""

from __future__ import annotations

import re

_POINTS_OUT = re.compile(
    r"\b(?:(?:this|these|those|above|below|given|following|the) (?:text|document|paragraph|article|section|author"
    r"|writer|table|list|sentence|page|chapter|speaker)s?|according to (?:the|this)|mentioned|passages?|excerpts?)\b",
    re.IGNORECASE,
)
_OPEN = frozenset(("it", "he", "she", "they", "this", "these", "those", "its", "his", "her", "their", "we", "our"))


def points_out(question: str) -> bool:
    """Whether a question points at what its reader does not see."""
    spoken = re.findall(r"[a-z']+", question.lower())
    # "its" and the like may point back within the question: they are wrong at its beginning alone.
    return bool(_POINTS_OUT.search(question)) or any(word in _OPEN for word in spoken[:4])
