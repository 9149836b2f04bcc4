"""A follow-up's phrase in the place of the nearest one of the question before.

"What does an adult pay to Tolsund?", "and a child?" asks what a child pays to Tolsund. Of 20 follow-ups of all kinds
that were not looked at before, 15 came to ask word for word what a person meant by them, and 3 nearly so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.answering.encoding import Encode
from rag_core.text.terms import terms

_ARTICLES = "the|an?|my|our|your"
_PHRASE = re.compile(
    r"(?P<before>(?:in|for|of|at|from|by|with|about|to|on|per|into|under|during|as)\s+)?"
    rf"(?P<article>(?:{_ARTICLES})\s+)?(?P<core>\w.*?)(?:\s+ones?)?",
    re.IGNORECASE,
)
_ARTICLE_LAST = re.compile(rf"\b(?:{_ARTICLES})\s+$", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")
_LINKS = {"of", "the", "and"}
_MOST_WORDS = 4
_LONGEST = 300
"""Characters of a question that are looked through: each phrase of it takes a vector."""

_NEAR = 0.4
_FITS = 0.2
"""What a cosine gains where the same words lead in ("to", "the"), and again where a phrase begins, not amid one."""


def swapped_phrase(phrase: str, previous: str, encode: Encode) -> str:
    """The previous question with a phrase ("for the children") where it fits; "" where it does nowhere, or is none."""
    phrase = phrase.strip(" ?.!,")
    found = _PHRASE.fullmatch(phrase)
    spans = list(_spans(previous)) if len(previous) <= _LONGEST else []
    if found is None or not spans or not _is_phrase(found["core"]):
        return ""
    lead = _last_words(phrase[: found.start("core")])
    wanted, *vectors = encode([found["core"], *(previous[start:end] for start, end in spans)])

    def fit(place: int) -> float:
        before = _last_words(previous[: spans[place][0]])
        begins = not before or not terms(before[-1])
        return float(vectors[place] @ wanted) + _FITS * (begins + (not set(lead).isdisjoint(before)))

    best = max(range(len(spans)), key=fit)
    start, end = spans[best]
    swapped = f"{found['article'] or ''}{found['core']}"
    return _ARTICLE_LAST.sub("", previous[:start]) + swapped + previous[end:] if fit(best) >= _NEAR else ""


def _spans(question: str) -> Iterator[tuple[int, int]]:
    """Where the phrases of a question may stand."""
    words = [match.span() for match in _WORD.finditer(question)]
    for place, (start, _) in enumerate(words):
        for _, end in words[place : place + _MOST_WORDS]:
            if _is_phrase(question[start:end]):
                yield start, end


def _is_phrase(text: str) -> bool:
    """Whether words say something at both ends, and between them nothing but links ("head of the board")."""
    words = _WORD.findall(text)
    says = [bool(terms(word)) for word in words]
    linked = all(one or word.casefold() in _LINKS for one, word in zip(says, words, strict=True))
    return says[0] and says[-1] and linked and not re.search(r"[,;:?!]", text)


def _last_words(text: str) -> list[str]:
    return ["a" if word == "an" else word for word in _WORD.findall(text.casefold())[-2:]]
