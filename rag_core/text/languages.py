"""Which language a text is in: by its script, and where several share one, by its function words and letters."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection
from functools import lru_cache

import regex

from rag_core.text.function_words import FUNCTION_WORDS
from rag_core.text.wordlists import stop_words

_SAMPLE = 4_500
"""Characters that are looked at, in three stretches: beginning, middle and end."""

_OF_ONE_LANGUAGE = {
    "CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "THAI": "th", "LAO": "lo", "KHMER": "km",
    "MYANMAR": "my", "GREEK": "el", "HEBREW": "he", "DEVANAGARI": "hi", "ARMENIAN": "hy", "GEORGIAN": "ka",
    "TAMIL": "ta", "BENGALI": "bn", "GUJARATI": "gu", "TELUGU": "te",
}  # fmt: skip
_OF_SEVERAL = {"CYRILLIC": ("ru", "uk", "bg", "sr"), "ARABIC": ("ar", "fa")}
_ELSEWHERE = {"el", "he", "hi"}.union(*_OF_SEVERAL.values())
_LATIN = ("en", *(language for language in FUNCTION_WORDS if language not in _ELSEWHERE))
_LETTERS = {
    "uk": "іїєґ", "sr": "ђјљњћџ", "ru": "ыэё", "fa": "پچژگک", "ar": "ةىك",
    "de": "ß", "es": "ñ¿¡", "pt": "ãõ", "ro": "țăș", "pl": "łąęśźż", "cs": "ěřů", "hu": "őű", "tr": "ığş", "vi": "đơư",
}  # fmt: skip
"""Letters and marks that hardly another language of a script has."""

_WORD = regex.compile(r"[\p{L}\p{M}]+")
_LEAST = 0.04
"""The least share of function words by which a language is known; running text has .25 to .5."""
_ONE_WORD = 2.0  # what one word gives: too little, except for a language that is expected
_EXPECTED = 1.25


def language_of(text: str, default: str = "en", expected: Collection[str] = ()) -> str:
    """The language (ISO 639-1) that most of a text is in; `default` where nothing tells, as in a list of names.

    A question has few words to go by: the `expected` languages are taken before others that would do as well.
    """
    sample = _sample(text).lower()
    characters = Counter(sample)
    scripts: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            scripts[_script(character)] += count
    kana = scripts.pop("HIRAGANA", 0) + scripts.pop("KATAKANA", 0)
    if 10 * kana > scripts["CJK"]:
        scripts["HIRAGANA"] = kana + scripts.pop("CJK", 0)
    script = max(scripts, key=lambda name: scripts[name], default="")
    if script in _OF_ONE_LANGUAGE:
        return _OF_ONE_LANGUAGE[script]
    languages = _OF_SEVERAL.get(script, _LATIN)
    fallback = default if script not in _OF_SEVERAL or default in languages else languages[0]
    return _by_words(_WORD.findall(sample), characters, languages, {default, *expected}) or fallback


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    third, middle = _SAMPLE // 3, len(text) // 2
    return " ".join((text[:third], text[middle : middle + third], text[-third:]))


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """The first word of a letter's name in Unicode, which is its script."""
    return unicodedata.name(character, "").partition(" ")[0]


def _by_words(words: list[str], characters: Counter[str], languages: tuple[str, ...], expected: set[str]) -> str:
    """The language whose function words and own letters have the greatest share of the words; "" if none has any."""
    shares = {
        language: float(sum(characters[letter] for letter in _LETTERS.get(language, ""))) for language in languages
    }
    holders = _holders(languages)
    for word in words:
        among = holders.get(word, ())
        for language in among:
            # A word of one language alone says more than one that many have.
            shares[language] += 1 + 1 / len(among)
    for language in expected.intersection(shares):
        shares[language] *= _EXPECTED
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] > max(_ONE_WORD, _LEAST * len(words)) else ""


@lru_cache(maxsize=4)
def _holders(languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The function words of some languages, each with those that have it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for language in languages:
        for word in stop_words(language):
            found[word].append(language)
    return {word: tuple(among) for word, among in found.items()}
