"""Acronyms and what they stand for: the words whose initials spell them, as texts themselves have them.

After Schwartz and Hearst (2003), "A simple algorithm for identifying abbreviation definitions in biomedical text", save
that the long form need not stand beside the short one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rag_core.text.wordlists import STOP_WORDS

_CAPITALS = r"[A-Z](?:&?[A-Z]){1,5}"
_SHORT = re.compile(rf"(?<![\w&])(?:{_CAPITALS})(?![\w&])")
_DEFINED = re.compile(rf"\((?:{_CAPITALS})\)")
_FUNCTION = rf"(?i:{'|'.join(sorted(STOP_WORDS))})"
_LINK = rf"(?:,?[ \t]*\n?[ \t]*|-)(?:\b{_FUNCTION}[ \t]*\n?[ \t]*)*?"
_AND = r",?\s+(?:and|&)\s+"


def acronyms(text: str) -> list[str]:
    """The acronyms of a text, each once; none where all of it is in capitals."""
    return [] if text.isupper() else list(dict.fromkeys(_SHORT.findall(text)))


def long_forms(acronym: str, text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of a text whose initials spell an acronym, in lower case, and whether it stands in brackets behind.

    Function words between may be left over; an ampersand stands for "and", which must be there.
    """
    for found in _spelling(acronym).finditer(text):
        yield " ".join(found[1].lower().split()), found[2] is not None


def defined(text: str) -> list[tuple[int, int]]:
    """Where acronyms stand in brackets behind the words that they stand for."""
    places = [(found.start() + 1, found.end() - 1) for found in _DEFINED.finditer(text)]
    return [(start, end) for start, end in places if any(said for _, said in long_forms(text[start:end], text))]


def contracted(text: str) -> str:
    """The text with "CEO" for "chief executive officer (CEO)"."""
    for start, end in reversed(defined(text)):
        acronym = text[start:end]
        for found in reversed([*_spelling(acronym).finditer(text)]):
            if found[2]:
                text = text[: found.start()] + acronym + text[found.end() :]
    return text


@lru_cache(maxsize=256)
def _spelling(acronym: str) -> re.Pattern[str]:
    first, *rest = re.findall(r"&?[A-Z]", acronym)
    words = rf"\b(?={_initial(first)})(?!{_FUNCTION}\b)\w\w+"
    for letter in rest:
        words += (_AND if letter[0] == "&" else _LINK) + rf"\b{_initial(letter[-1])}\w+"
    return re.compile(rf"({words})\b(\s*\(\W?{re.escape(acronym)}s?\W?\))?")


def _initial(letter: str) -> str:
    return f"[{letter}{letter.lower()}]"
