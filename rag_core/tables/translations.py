"""What a word of a question is called where a table was written in another language: "pharmacy" is "Apotheke" there.

The words are data, `translations.json`: what is written in heads and cells of statements, orders and lists of staff.
The default encoder knows no German, and a nearest cell of any column is a wrong one far too often.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from rag_core.text.stems import fold, stem

_FILE = Path(__file__).with_name("translations.json")


def translations(word: str, language: str) -> tuple[str, ...]:
    """What a word of a language, by its stem, is in others, folded; () where that is not known."""
    return _of_language(language).get(word, ())


@cache
def _of_language(language: str) -> dict[str, tuple[str, ...]]:
    read: list[dict[str, str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for words in read:
        own = {stem(fold(word)) for word in words.get(language, "").split()}
        others = dict.fromkeys(fold(word) for said in words.values() for word in said.split())
        found |= {word: tuple(one for one in others if stem(one) != word) for word in own}
    return found
