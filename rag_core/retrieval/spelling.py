"""Misspelt words of a question, put right by the words that the library's own documents have.

A word is taken to be misspelt that no document holds, that is no function word, that the encoder knows in parts only,
and that no dictionary of its language has: words that the documents happen to lack are left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from functools import lru_cache

from rag_core.text.terms import terms
from rag_core.text.tokens import tokens
from rag_core.text.wordlists import stop_words

_SHORTEST = 5  # letters: too many words are alike that have fewer ("wifi", "wife")
# Letters of a word, and of a name, that may be two edits away (letters more, fewer, other or swapped), not one: two
# letters off a shorter name is as likely another one, which the documents do not have.
_LONG, _LONG_NAME = 7, 9

IsWord = Callable[[str], bool]
Like = Callable[[str], Sequence[str]]


def corrected(question: str, holds: Callable[[str], bool], like: Like, is_word: IsWord, language: str = "en") -> str:
    """The question with its misspelt words put right; as it is where there are none.

    holds: whether any document holds a term. like: texts that hold terms like one. is_word: whether a word is common.
    """
    found = question
    for token in reversed(list(tokens(question))):
        word = question[token.start : token.end]
        if token.kind != "word" or len(word) < _SHORTEST or not word.isascii() or word.isupper():
            continue
        forms = terms(word, language)
        if not forms or any(map(holds, forms)) or is_word(word.casefold()) or word.casefold() in _dictionary(language):
            continue
        better = _nearest(word.casefold(), [text for form in forms for text in like(form)], language)
        if better and better != word.casefold():
            better = better.capitalize() if word[0].isupper() else better
            found = found[: token.start] + better + found[token.end :]
    return found


@lru_cache(maxsize=4)
def _dictionary(language: str) -> Container[str]:
    """The words of a language, some 150,000; none where no dictionary of it is at hand."""
    from spellchecker import SpellChecker  # a fifth of a second, which few questions need

    return SpellChecker(language) if language in SpellChecker.languages() else ()


def _nearest(word: str, texts: Sequence[str], language: str) -> str:
    """The word of some texts, or function word, that takes the fewest edits; of equals the function word, which any
    question may have, then the more frequent."""
    functional = stop_words(language)
    held, plain = Counter(functional), set(functional)
    for text in texts:
        found = list(tokens(text))
        held.update(token.text for token in found)
        plain.update(token.text for token in found if language == "de" or text[token.start].islower())
    near = []
    for known, count in held.items():
        most = 2 if len(word) >= _LONG else 1
        if known[0] == word[0] and abs(len(known) - len(word)) <= most and len(known) + 1 >= _SHORTEST:
            edits = _edits(word, known)
            is_name = known not in plain and known not in _dictionary(language)
            if edits <= (1 if is_name and len(word) < _LONG_NAME else most):
                near.append((edits, known not in functional, -count, known))
    return min(near, default=(0, False, 0, ""))[-1]


def _edits(one: str, other: str) -> int:
    """How many letters are more, fewer, other or swapped with the next (optimal string alignment distance)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, opposite in enumerate(other, 1):
            least = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != opposite))
            if row > 1 and column > 1 and (letter, one[row - 2]) == (other[column - 2], opposite):
                least = min(least, before[column - 2] + 1)
            now.append(least)
        before, last = last, now
    return last[-1]
