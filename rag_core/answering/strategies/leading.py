"""What an answer says before it quotes: the words of a long sentence that answer, as the reader found them."""

from __future__ import annotations

from rag_core.answering.encoding import END, SPAN, START
from rag_core.answering.strategies.evidence import Evidence

_LONG, _SHORT = 25, 18  # words: of a sentence whose answer is said first, and of what is said
_CLEAR = 0.0  # log odds of the span against none


def lead_of(evidence: Evidence, index: int) -> str:
    """What is to be said before a unit is quoted; "" where it says it soon enough itself, or nothing is clear."""
    read, unit = evidence.read[index], evidence.units[index]
    if unit.tabular or len(unit.quote.text.split()) < _LONG or read[SPAN] < _CLEAR:
        return ""
    words = unit.quote.text[int(read[START]) : int(read[END])].strip(" ,;:")
    return f"{words[:1].upper()}{words[1:]}" if words and len(words.split()) <= _SHORT else ""
