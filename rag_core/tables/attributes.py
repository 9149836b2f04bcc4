"""What a word for how something is measures: "cheapest" goes by a price, "how tall" asks for a height.

The words are data, `attributes.json`: each line has what is said, and what heads of columns call it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rag_core.tables.columns import normalised
from rag_core.tables.words import Words
from rag_core.text.stems import fold, stem

_FILE = Path(__file__).with_name("attributes.json")


def measured(words: Words, heads: Sequence[str]) -> dict[int, set[int]]:
    """For the places of words that say how something is the columns whose heads are that measure, where there are any:
    "Price (EUR)" of "the cheapest room"."""
    of_heads = [{stem(word) for word in normalised(head).split()} for head in heads]
    found = {
        place: {at for at, head in enumerate(of_heads) if not head.isdisjoint(measures)}
        for place, word in enumerate(words.plain)
        if (measures := _measures().get(word))
    }
    return {place: columns for place, columns in found.items() if columns}


@cache
def _measures() -> dict[str, frozenset[str]]:
    """The stems of what a word measures, by the word, folded; of one that measures several things those of all."""
    found: dict[str, frozenset[str]] = {}
    for line in json.loads(_FILE.read_text(encoding="utf-8")):
        of_heads = frozenset(stem(fold(word)) for word in line["head"].split())
        for word in map(fold, line["said"].split()):
            found[word] = found.get(word, frozenset()) | of_heads
    return found
