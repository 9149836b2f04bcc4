"""The negations of a text and what each denies; `negation.json` has the words, and the phrases that deny nothing."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import regex

_PATH = Path(__file__).with_name("negation.json")
_BEHIND = 4  # how many words behind it a negation can deny
_WORD = regex.compile(r"[\p{L}\p{M}][\p{L}\p{M}'’]*|[.;:!?]")
_LIMIT = regex.compile(r"\b(?:no|not)\s+(?:\p{L}+er|more|less|fewer)\s+than\b", regex.IGNORECASE)  # "no less than six"
_SHORTEST = 3  # letters left of a word without its prefix

Span = tuple[int, int]


@lru_cache(maxsize=1)
def _data() -> tuple[frozenset[str], tuple[str, ...], regex.Pattern[str]]:
    data = json.loads(_PATH.read_text(encoding="utf-8"))
    idle = regex.compile("|".join(one.replace(" ", r"\s+") for one in data["idle"]), regex.IGNORECASE)
    return frozenset(data["words"]), tuple(data["prefixes"]), idle


def negations(text: str, opposite: Collection[str]) -> list[list[Span]]:
    """For each negation of a text the words that it can deny; a prefix counts where the word without it is among
    `opposite`, in lower case."""
    words, prefixes, idle = _data()
    skipped = [match.span() for pattern in (_LIMIT, idle) for match in pattern.finditer(text)]
    found = list(_WORD.finditer(text))
    every: list[list[Span]] = []
    for place, match in enumerate(found):
        plain = match[0].casefold().replace("’", "'")
        if any(start <= match.start() < end for start, end in skipped):
            continue
        if plain in words or plain.endswith("n't"):
            near = found[place + 1 : place + _BEHIND + 1]
            every.append([one.span() for one in near if one[0] not in ".;:!?"])
        elif any(_without(plain, prefix) in opposite for prefix in prefixes):
            every.append([match.span()])
    return every


def _without(word: str, prefix: str) -> str | None:
    rest = word.removeprefix(prefix)
    return rest if rest != word and len(rest) >= _SHORTEST else None
