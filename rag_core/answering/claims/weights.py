"""How far the signs speak for a sentence: one logistic regression for each side of it, kept as data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

PATH = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Judge:
    """What `weights.json` holds: the weights of each side's signs and its bias, and the least that is supported."""

    sides: Mapping[str, Mapping[str, float]]
    supported_from: float

    def score(self, signs: Mapping[str, float]) -> float:
        """How surely a sentence stands on its passages, 0..1: the product over the sides, as any of them can fail."""
        return math.prod(self._side(name, signs) for name in self.sides)

    def _side(self, name: str, signs: Mapping[str, float]) -> float:
        weights = self.sides[name]
        odds = weights["bias"] + sum(weight * signs[sign] for sign, weight in weights.items() if sign != "bias")
        return 1 / (1 + math.exp(-max(min(odds, 60.0), -60.0)))


@lru_cache(maxsize=1)
def judge() -> Judge:
    """The weights, read once."""
    return Judge(**json.loads(PATH.read_text(encoding="utf-8")))
