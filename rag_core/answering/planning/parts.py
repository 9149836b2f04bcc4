"""A question's parts and what to search for, by rules without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.answering.strategies.comparing import asked_alone
from rag_core.retrieval.understanding import understand
from rag_core.text.terms import terms

_AUXILIARY = "am|are|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would"
_AT = r"(?:(?:at|by|for|from|in|of|on|to|with)\s+)?"
_BETWEEN = re.compile(
    r"\s*[?;]+(?=\s|$)\s*(?:and\s+)?|(?<!how)(?<!what)(?<!when)(?<!where)(?<!who)(?<!why)[,\s]+and\s+(?="
    rf"{_AT}(?:who|whom|whose|what|which|how)\b|(?:when|where|why)(?:['’]s|\s+(?:{_AUXILIARY})\b)"
    rf"|(?:{_AUXILIARY})\s+(?:he|i|it|she|there|they|we|you)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"\s*{_AT}(?:who|whom|whose|what|when|where|which|why|how|{_AUXILIARY})\b", re.IGNORECASE)
_WHOLE = re.compile(rf"^\s*who\s+\w+\s+\w|n['’]t\b|['’]s\b|\b(?:{_AUXILIARY})\b", re.IGNORECASE)
_TELLS = re.compile(r"\s*(?:i|my|our|there|we|you)\b", re.IGNORECASE)
_LONG = 4  # terms of a part that asks something by itself though it has no auxiliary
_FOR_ALL = re.compile(r"(?:according to|at|for|from|in|on|under|with)\s[^,?;]+,\s", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
# What asks about several things named before: "which is larger?", "by how much is it longer?".
_OF_SEVERAL = re.compile(r"^which\b|\b(?:it|they|them|its|their)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:its|their|seine[rsmn]?)\b", re.IGNORECASE)
_MOST = 6


def questions_of(question: str) -> tuple[str, ...]:
    """The questions that a question consists of, at most six, each as it stands alone; itself where it is one.

    "When was the Petrel built and how fast is it?" asks "When was the Petrel built?" and "how fast is the Petrel?".
    """
    first, *others = _cut(question)
    known, named = understand(first), [bool(understand(part).names) for part in others]
    unnamed = (part for part, has_name in zip(others, named, strict=True) if not has_name)
    leans = len(known.names) > 1 and any(map(_OF_SEVERAL.search, unnamed))
    if not others or leans or (len(terms(first)) < 2 and any(named)):
        return (question,)
    lead = found[0] if (found := _FOR_ALL.match(first)) else ""
    subject = _subject(first, re.sub("['’]s?$", "", known.names[0])) if len(known.names) == 1 else ""
    said = [first]
    for part, has_name in zip(others, named, strict=True):
        part = part if has_name or not subject else _named(part, subject)
        has_year = has_name or lead or len(known.years) != 1 or understand(part).years
        said.append(f"{lead}{part}" if has_year else f"{part} in {known.years[0]}")
    return tuple(f"{part}?" for part in said)


def about_subject(question: str, previous: str) -> str:
    """A follow-up with the one name of the question before for its pronoun: "What about its weight?", asked after "What
    does the Petrel cost?", is "What about the Petrel's weight?". "" where it has a name, or no such pronoun, or there
    is not one name."""
    known = understand(previous)
    if len(known.names) != 1 or understand(question).names:
        return ""
    named = _named(question, _subject(previous, re.sub("['’]s?$", "", known.names[0])))
    return named if named != question else ""


def parts_of(query: str, question: str) -> tuple[str, ...]:
    """The questions that a question's wording consists of. One joined with the question before it is one still."""
    joined = query != question and query.endswith(question)
    return (query,) if joined else questions_of(query)


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
    """The parts of a question as they stand there, at most six. What asks nothing by itself ("I have a dog", "at what
    price") is joined with the part before it, or the first one after."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for between in (*_BETWEEN.finditer(question), None):
        end = between.start() if between else len(question)
        part = question[begin:end]
        if between and (question[:end].count('"') % 2 or not (spans or _stands_alone(part, first=True))):
            continue
        if spans and (len(spans) == _MOST or not _stands_alone(part)):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((begin, end))
        begin = between.end() if between else end
    return [question[start:end].strip(" ,.?;") for start, end in spans]


def _stands_alone(part: str, first: bool = False) -> bool:
    """Whether a part asks something by itself; the first one may be keywords."""
    count = len(terms(part))
    if not _ASKS.match(part):
        return first and count > 0 and not _TELLS.match(part)
    return count >= _LONG or (count > 0 and bool(_WHOLE.search(part)))


def _subject(part: str, name: str) -> str:
    """What a pronoun after this stands for: "Lake Ormen", or "the dam of Lake Ormen" where that is asked about."""
    found = re.search(
        rf"(?:\bthe\s(?:(?:[\w'’-]+\s){{1,3}}?(?:at|in|of|on)\s(?:the\s)?)?)?(?<!\w){re.escape(name)}", part
    )
    return found[0] if found else ""


def _named(part: str, name: str) -> str:
    """A part with its first pronoun replaced by what it stands for."""
    swapped = _POSSESSIVE.sub(f"{name}'s", part, count=1)
    return swapped if swapped != part else _PRONOUN.sub(name, part, count=1)
