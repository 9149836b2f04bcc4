"""Words cut to their stems by the Snowball stemmers (Porter 2001), without the accents that people leave out."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import Stemmer

_MARKS = re.compile(r"[\u0591-\u05c7\u064b-\u065f\u0670\u0640]")
"""Vowel signs of Hebrew and Arabic, and the stroke that stretches an Arabic word."""

_ARABIC = str.maketrans("أإآٱىةکی", "اااايهكي")
_LETTERS = str.maketrans({"ё": "е", "ı": "i", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
_FOLDED_SCRIPTS = ("LATIN", "GREEK")
_stemmers = threading.local()  # a stemmer has state: one for each thread and language


@lru_cache(maxsize=1 << 15)
def stem(word: str, language: str = "en") -> str:
    """The stem of a word in lower case by its language's rules, folded; merely folded where there are none.

    "" for a word of signs alone. The stemmer sees accents, since many endings are known by them.
    """
    if word.isascii() and len(word) < 3:
        return word
    known = _stemmer(language)
    word = _MARKS.sub("", word)
    return fold(known.stemWord(word) if known else word)


def stems(word: str, language: str = "en") -> tuple[str, ...]:
    """The stem of a word, and that of the word without accents where it is another: "sequía" is often "sequia"."""
    first = stem(word, language)
    second = first if word.isascii() else stem(fold(word), language)
    return tuple(dict.fromkeys(form for form in (first, second) if form))


def fold(word: str) -> str:
    """A word without the accents of Latin and Greek letters, and with one letter where Arabic is spelled in several."""
    if word.isascii():
        return word
    kept = []
    for letter in word.translate(_LETTERS).translate(_ARABIC):
        base = unicodedata.normalize("NFD", letter)[0]
        kept.append(base if unicodedata.name(base, "").startswith(_FOLDED_SCRIPTS) else letter)
    return "".join(kept)


def _stemmer(language: str) -> Stemmer.Stemmer | None:
    own = _stemmers.__dict__
    if language not in own:
        try:
            own[language] = Stemmer.Stemmer(language, 0)
        except (KeyError, UnicodeEncodeError):
            own[language] = None
    found: Stemmer.Stemmer | None = own[language]
    return found
