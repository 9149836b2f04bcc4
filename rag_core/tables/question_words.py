"""The words of a question in the English of those that weights were fitted on: "wie viele" is "how many", "biggest" is
"largest".

They are data, `question_words.json`: few questions of other languages were there to fit on, and the words by which
people ask for a count, an end or a share are some dozen in each. Those of "any" say the same wherever they stand;
articles and their like only in their own language; those of "asked" tell what kind of answer prose is to give.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from rag_core.text.languages import language_of
from rag_core.text.stems import fold
from rag_core.text.terms import terms

_FILE = Path(__file__).with_name("question_words.json")
_WORD = re.compile(r"\w+")
_WHETHER = frozenset(
    _WORD.findall(
        "is are was were has have had did does do can could may must will would should"
        " ist sind war waren hat haben kann konnen darf durfen muss mussen wird werden"
        " est sont peut peuvent doit doivent es son esta estan puede pueden hay"
    )
)
_LONGEST_ENDING = 2  # of "höchst-", "höchster"


def in_english(words: Sequence[str], language: str, *more: str) -> list[list[str]]:
    """What each word of a question, folded and in small letters, is in English; of several that are said together the
    first has all, and the others nothing. `more` names further lists: "asked", the words for a kind of answer."""
    phrases = _phrases(language, *more)
    longest = max(said.count(" ") for said in phrases) + 1
    found: list[list[str]] = []
    while len(found) < len(words):
        place = len(found)
        spans = (words[place : place + length] for length in range(min(longest, len(words) - place), 0, -1))
        known = next(((span, said) for span in spans if (said := _said(span, phrases))), None)
        span, said = known or ([words[place]], words[place])
        found += [said.split(), *([] for _ in span[1:])]
    return found


def question_in_english(question: str) -> str:
    """A question with its question words in English, in small letters without accents; an English one as it is.

    One that has too few words to tell its language may have question words of another all the same.
    """
    words = [fold(word) for word in _WORD.findall(question.lower())]
    found = in_english(words, *_lists(question))
    return question if found == [[word] for word in words] else " ".join(word for said in found for word in said)


def asks_whether(question: str) -> bool:
    """Whether a question is answered by yes or no, as its first word tells: "Is the flood covered?"."""
    first = _WORD.search(question.lower())
    return first is not None and fold(first[0]) in _WHETHER


def asks(word: str, language: str) -> bool:
    """Whether a word of a question in another language asks and says nothing of what is asked: "viel", "combien"."""
    folded = fold(word.lower())
    said = _said([folded], _phrases(language, "asked"))
    return folded in _parts_that_ask(language) or (bool(said) and not terms(said))


@cache
def _parts_that_ask(language: str) -> frozenset[str]:
    phrases = _phrases(language, "asked")
    return frozenset(word for said, english in phrases.items() if not terms(english) for word in said.split())


@lru_cache(maxsize=256)
def _lists(question: str) -> tuple[str, ...]:
    """The language of a question, and the further words that are looked at in one that is not English."""
    language = language_of(question)
    return (language,) if language == "en" else (language, "asked")


def _said(span: Sequence[str], phrases: dict[str, str]) -> str:
    text = " ".join(span)
    endings = range(min(_LONGEST_ENDING + 1, len(span[-1])))
    return phrases.get(text) or next(
        (phrases[stemmed] for size in endings if (stemmed := f"{text[: len(text) - size]}-") in phrases), ""
    )


@cache
def _phrases(*lists: str) -> dict[str, str]:
    """The phrases, folded, of which "-" at the end stands for an ending."""
    read: dict[str, dict[str, str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    known = {said: english for name in ("any", *lists) for said, english in read.get(name, {}).items()}
    return {" ".join(map(fold, said.casefold().split())): english for said, english in known.items()}
