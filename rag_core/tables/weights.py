"""The fitted weights of what speaks for a plan, `weights.json`, and which words speak clearly for an operation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_core.tables.outflows import MIRRORED
from rag_core.tables.words import Words

Features = dict[str, float]
_WEIGHTS = Path(__file__).with_name("weights.json")
_CLEAR = 1.0  # from which weight on a word speaks clearly for an operation


@dataclass(frozen=True)
class Weights:
    """Fitted weights by the names of features. vocabulary: words that speak for operations and comparisons."""

    values: Mapping[str, float]
    vocabulary: frozenset[str]
    trust: Mapping[str, float]

    def score(self, features: Features) -> float:
        """The sum of what features weigh."""
        return sum(self.values.get(name, 0.0) * value for name, value in features.items())


@cache
def weights() -> Weights:
    """Those that ship."""
    read = json.loads(_WEIGHTS.read_text(encoding="utf-8"))
    return Weights(read["values"], frozenset(read["vocabulary"]), read["trust"])


def operation_words(words: Words, *operations: str) -> set[int]:
    """The places of words that speak clearly for one of some operations: "average", "highest"."""
    known = weights().values
    names = [name for one in operations for name in {one, MIRRORED.get(one, one)}]
    return {
        at for at in words.telling
        if any(known.get(f"o {name} {said}", 0.0) >= _CLEAR for name in names for said in words.english[at])
    }  # fmt: skip
