"""Compounds cut into words that the library knows: who asks for "Kellerpumpen" finds "die Pumpen im Keller".

The parts are looked up among the terms of the documents themselves, as in Koehn and Knight (2003), so no dictionary is
needed: "Wasserstand" is cut where documents have "Wasser" and "Stand", and left alone elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from rag_core.text.stems import stem

_LINKS = {
    "de": ("", "s", "es", "n", "en", "er", "e"),
    "nl": ("", "s", "e", "en"),
    "sv": ("", "s", "e", "o"),
    "da": ("", "s", "e"),
    "no": ("", "s", "e"),
    "fi": ("", "n"),
    "hu": ("",),
}
"""Letters that may stand between the parts."""

_LEAST = 4
"""Characters of the shorter part; one of three is more often chance than meaning."""


def split_compound(word: str, language: str, known: Callable[[str], bool]) -> list[str]:
    """The stems of the two parts of a compound, both known terms; empty where there are none such.

    Of several cuts the one with the longest last part is taken, which names the thing itself. `word` is in lower case;
    `known` says whether any document holds a term.
    """
    for place in range(_LEAST, len(word) - _LEAST + 1):
        head = stem(word[place:], language)
        if not known(head):
            continue
        for link in _LINKS.get(language, ()):
            first = word[:place].removesuffix(link) if word[:place].endswith(link) else ""
            if len(first) >= _LEAST and known(stem(first, language)):
                return [stem(first, language), head]
    return []
