"""A question's parts and what to search for, by rules without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.strategies.comparing import asked_alone
from rag_core.retrieval.understanding import understand
from rag_core.text.terms import terms

_BETWEEN = re.compile(
    r"\s*[?;]+\s*(?:and\s+)?|[,\s]+and\s+(?=(?:(?:at|by|for|from|in|of|on|to|with)\s+)?"
    r"(?:(?:who|whom|whose|what|when|where|which|why|how)\b|"
    r"(?:are|can|could|did|do|does|is|may|must|should|was|were|will)\s+(?:he|i|it|she|there|they|we|you)\b))",
    re.IGNORECASE,
)
# A part that asks something by itself: "at what price?" and "If so, what is it?" go on from the part before.
_ASKS = re.compile(
    r"(?!if\b)(?:who\b|.*?(?:n't|'s|"
    r"\b(?:am|are|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would))\b)",
    re.IGNORECASE,
)
_LONG = 4  # terms of a part that asks something by itself in any case
_PRONOUN = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:its|their)\b", re.IGNORECASE)
_MOST = 6


def questions_of(question: str) -> tuple[str, ...]:
    """The questions that a question consists of, at most six, each as it stands alone; itself where it is one.

    "When was the Petrel built and how fast is it?" asks "When was the Petrel built?" and "how fast is the Petrel?".
    """
    found = _cut(question)
    if len(found) < 2:
        return (question,)
    names = understand(found[0]).names
    subject = _subject(found[0], names[0]) if len(names) == 1 else ""
    named = [found[0], *(_named(part, subject) if subject else part for part in found[1:])]
    return tuple(f"{part}?" for part in named[:_MOST])


def searches_of(parts: Sequence[str]) -> tuple[str, ...]:
    """What to search for: each question that one consists of, and those of several names or years one by one."""
    found: dict[str, None] = {}
    for part in parts:
        understood = understand(part)
        years = tuple(map(str, understood.years))
        subjects = understood.names if len(understood.names) > 1 else years if len(years) > 1 else ()
        found[part] = None
        for subject in subjects:
            found[asked_alone(part, subject, [other for other in subjects if other not in subject])] = None
    return tuple(found)


def keywords(text: str) -> str:
    """The content words of a text."""
    return " ".join(word for word in re.findall(r"[\w'’.,%-]*\w%?", text) if terms(word))


def _cut(question: str) -> list[str]:
    """The parts of a question as they stand there."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for between in (*_BETWEEN.finditer(question), None):
        end = between.start() if between else len(question)
        part = question[begin:end]
        if spans and terms(part) and not (_ASKS.match(part) or len(terms(part)) >= _LONG):
            spans[-1] = (spans[-1][0], end)
        elif terms(part):
            spans.append((begin, end))
        begin = between.end() if between else end
    return [question[start:end].strip(" ,.") for start, end in spans]


def _subject(part: str, name: str) -> str:
    """What a pronoun after this stands for: "Lake Ormen", or "the dam of Lake Ormen" where that is asked about."""
    found = re.search(rf"(?:\bthe\s(?:(?:[\w'’-]+\s){{1,3}}?(?:at|in|of|on)\s(?:the\s)?)?)?{re.escape(name)}", part)
    return found[0] if found else name


def _named(part: str, name: str) -> str:
    """A part with its first pronoun replaced by what it stands for; one with a name of its own as it is."""
    if understand(part).names:
        return part
    swapped = _POSSESSIVE.sub(f"{name}'s", part, count=1)
    return swapped if swapped != part else _PRONOUN.sub(name, part, count=1)
