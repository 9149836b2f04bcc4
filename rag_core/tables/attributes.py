"""What a word for how something is measures: "cheapest" goes by a price, "how tall" asks for a height.

The words are data, `attributes.json`: each line has what is said, what heads of columns call it, and its units.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rag_core.tables.columns import normalised
from rag_core.tables.words import Words
from rag_core.text.stems import fold, stem

_UNIT = re.compile(r"[^\s()\[\],;]+")
_FILE = Path(__file__).with_name("attributes.json")


def measured(words: Words, heads: Sequence[str]) -> dict[int, set[int]]:
    """For the places of words that say how something is the columns whose heads are that measure, where there are any:
    "Price (EUR)" of "the cheapest room"."""
    of_heads = [{stem(word) for word in normalised(head).split()} | _of_units(head) for head in heads]
    found = {
        place: {at for at, head in enumerate(of_heads) if not head.isdisjoint(measures)}
        for place, word in enumerate(words.plain)
        if (measures := _measures().get(word))
    }
    return {place: columns for place, columns in found.items() if columns}


def _of_units(head: str) -> set[str]:
    """What the units in a head measure: "temperature" of "Evening (°C)"."""
    found = {unit for unit in _UNIT.findall(head) if unit in _units()}
    return set().union(*(_units()[unit] for unit in found))


@cache
def _units() -> dict[str, frozenset[str]]:
    """The stems of what a unit measures, by the unit."""
    lines = (line for line in _lines() if "unit" in line)
    return {unit: _stems(line["head"]) for line in lines for unit in line["unit"].split()}


@cache
def _lines() -> list[dict[str, str]]:
    lines: list[dict[str, str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return lines


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in text.split())


@cache
def _measures() -> dict[str, frozenset[str]]:
    """The stems of what a word measures, by the word, folded; of one that measures several things those of all."""
    found: dict[str, frozenset[str]] = {}
    for line in _lines():
        of_heads = _stems(line["head"])
        for word in map(fold, line["said"].split()):
            found[word] = found.get(word, frozenset()) | of_heads
    return found
