"""Acronyms and what they stand for: the words whose initials spell them, as texts themselves have them.

After Schwartz and Hearst (2003), "A simple algorithm for identifying abbreviation definitions in biomedical text", save
that the `long_forms` of an acronym need not stand beside it; `spelt_out` finds those that do, of any abbreviation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from rag_core.text.wordlists import STOP_WORDS

_CAPITALS = r"[A-Z](?:&?[A-Z]){1,5}"
_SHORT = re.compile(rf"(?<![\w&])(?<!\d-)(?:{_CAPITALS})(?![\w&]|-\d)")  # and no letters of a code, "BK-3061"
_DEFINED = re.compile(rf"\((?:{_CAPITALS})\)")
_FUNCTION = rf"(?i:{'|'.join(sorted(STOP_WORDS))})"
_LINK = rf"(?:,?[ \t]*\n?[ \t]*|-)(?:\b{_FUNCTION}[ \t]*\n?[ \t]*)*?"
_AND = r",?\s+(?:and|&)\s+"
_NAME = re.compile(r"(?<![\w-])[^\W_][\w&-]{1,9}(?![\w-])")
_WORD = re.compile(r"\S+")
_MORE_WORDS = 5  # than an abbreviation has letters, that what it stands for may have at most
_EXPLAINED = r"\s*(?:[:=–—-]|\bstands for\b|\bsteht für\b)\s+(?P<line>[^\n]{2,120})"


def acronyms(text: str) -> list[str]:
    """The acronyms of a text, each once; none where all of it is in capitals."""
    return [] if text.isupper() else list(dict.fromkeys(_SHORT.findall(text)))


def abbreviations(text: str) -> list[str]:
    """The abbreviations of a text: short words with two capitals or more, each once."""
    found = (match[0] for match in _NAME.finditer(text))
    return list(dict.fromkeys(one for one in found if sum(letter.isupper() for letter in one) > 1))


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


def spelt_out(short: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a text says beside an abbreviation what it stands for: "Deutsche Bahn (DB)", "DB (Deutsche Bahn)", "DB:
    Deutsche Bahn". Spans of characters: the shortest run of words, begun by its first letter, that has its letters."""
    for start, end in (*_before(short, text), *_behind(short, text)):
        if not text[start:end].casefold().startswith(short.casefold()):
            yield start, end


def _before(short: str, text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(rf"\(\s*{re.escape(short)}\s*[,;)]", text):
        before = text[: match.start()].rstrip().rstrip("\"'”’»“")
        words = list(_WORD.finditer(before))[-_most_words(short) :]
        if words and (start := _start(before, words[0].start(), short)) is not None:
            yield start, len(before)


def _behind(short: str, text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(rf"(?<!\w){re.escape(short)}(?:\s*\((?P<held>[^()]{{2,120}})\)|{_EXPLAINED})", text):
        start, end = match.span("held" if match["held"] else "line")
        if (found := _ahead(text[start:end], short)) is not None:
            yield start, start + found


@lru_cache(maxsize=256)
def _spelling(acronym: str) -> re.Pattern[str]:
    first, *rest = re.findall(r"&?[A-Z]", acronym)
    words = rf"\b(?={_initial(first)})(?!{_FUNCTION}\b)\w\w+"
    for letter in rest:
        words += (_AND if letter[0] == "&" else _LINK) + rf"\b{_initial(letter[-1])}\w+"
    return re.compile(rf"({words})\b(\s*\(\W?{re.escape(acronym)}s?\W?\))?")


def _initial(letter: str) -> str:
    return f"[{letter}{letter.lower()}]"


def _most_words(short: str) -> int:
    return min(len(short) + _MORE_WORDS, 2 * len(short))


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _start(text: str, first: int, short: str) -> int | None:
    """Where a long form that ends with a text begins, not before `first`."""
    place = len(text)
    letters = _letters(short)
    for number in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= first and not (
            text[place].casefold() == letters[number] and (number or place == 0 or not text[place - 1].isalnum())
        ):
            place -= 1
        if place < first:
            return None
    return place


def _ahead(text: str, short: str) -> int | None:
    """Where a long form ends that a text begins with: its words have the letters in their order, first ones at best."""
    words = list(re.finditer(r"[^\W_]+", text))[: _most_words(short)]
    ends = (_end(words, _letters(short), pattern) for pattern in (_first_letters, _letters_of))
    return next((end for end in ends if end is not None), None)


def _end(words: Sequence[re.Match[str]], letters: str, held: Callable[[str, str], int]) -> int | None:
    for word in words:
        count = held(word[0].casefold(), letters)
        if not count and word is words[0]:
            return None
        letters = letters[count:]
        if not letters:
            return word.end()
    return None


def _first_letters(word: str, letters: str) -> int:
    """How many of the letters, from the first on, a word has: the one that it begins with."""
    return int(word.startswith(letters[:1]))


def _letters_of(word: str, letters: str) -> int:
    """The same of all of its letters, where it begins with the first."""
    count = 0
    for letter in word if word.startswith(letters[:1]) else "":
        count += letters[count : count + 1] == letter
    return count
