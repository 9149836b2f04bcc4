"""The words of a question in the English of those that weights were fitted on: "wie viele" is "how many", "biggest" is
"largest".

They are data, `question_words.json`: few questions of other languages were there to fit on, and the words by which
people ask for a count, an end or a share are some dozen in each. Those of "any" say the same wherever they stand;
articles and their like only in their own language.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rag_core.text.stems import fold

_FILE = Path(__file__).with_name("question_words.json")
_LONGEST_ENDING = 2  # of "höchst-", "höchster"


def in_english(words: Sequence[str], language: str) -> list[list[str]]:
    """What each word of a question, folded and in small letters, is in English; of several that are said together the
    first has all, and the others nothing."""
    phrases = _phrases(language)
    longest = max(said.count(" ") for said in phrases) + 1
    found: list[list[str]] = []
    while len(found) < len(words):
        place = len(found)
        spans = (words[place : place + length] for length in range(min(longest, len(words) - place), 0, -1))
        known = next(((span, said) for span in spans if (said := _said(span, phrases))), None)
        span, said = known or ([words[place]], words[place])
        found += [said.split(), *([] for _ in span[1:])]
    return found


def _said(span: Sequence[str], phrases: dict[str, str]) -> str:
    text = " ".join(span)
    endings = range(min(_LONGEST_ENDING + 1, len(span[-1])))
    return phrases.get(text) or next(
        (phrases[stemmed] for size in endings if (stemmed := f"{text[: len(text) - size]}-") in phrases), ""
    )


@cache
def _phrases(language: str) -> dict[str, str]:
    """The phrases, folded, of which "-" at the end stands for an ending."""
    read: dict[str, dict[str, str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    known = read["any"] | read.get(language, {})
    return {" ".join(map(fold, said.casefold().split())): english for said, english in known.items()}
