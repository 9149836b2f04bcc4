"""What an answer says before it quotes: yes or no, or the words of a long sentence that answer, as the reader found."""

from __future__ import annotations

import re

from rag_core.answering.strategies.evidence import Evidence

SUPPORT, SPAN, START, END, YES = range(5)
"""Columns of `Evidence.read`."""

_YES_OR_NO = re.compile(
    r"(?:(?:and|so|but|please)\s+)?(?:is|are|was|were|am|do|does|did|can|could|may|must|shall|should|will|would|has|have|had)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_SURE = 1.5  # log odds from which a yes or a no is said
_LONG, _SHORT = 25, 18  # words: of a sentence whose answer is said first, and of what is said
_CLEAR = 0.0  # log odds of the span against none


def asks_yes_or_no(question: str) -> bool:
    """Whether a question can be answered by yes or no."""
    return bool(_YES_OR_NO.match(question.strip())) and not _OR.search(question)


def lead_of(question: str, evidence: Evidence, index: int) -> str:
    """What is to be said before a unit is quoted; "" where it says it soon enough itself, or nothing is sure."""
    read, unit = evidence.read[index], evidence.units[index]
    if asks_yes_or_no(question):
        return ("Yes." if read[YES] > 0 else "No.") if abs(read[YES]) >= _SURE else ""
    if unit.tabular or len(unit.quote.text.split()) < _LONG or read[SPAN] < _CLEAR:
        return ""
    words = unit.quote.text[int(read[START]) : int(read[END])].strip(" ,;:")
    return f"{words[:1].upper()}{words[1:]}" if words and len(words.split()) <= _SHORT else ""
