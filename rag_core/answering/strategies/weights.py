"""The reader's weights, kept as data beside the code that uses them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

PATH = Path(__file__).with_name("reader.json")


@dataclass(frozen=True, slots=True)
class Reader:
    """What `reader.json` holds.

    cell: of a table's cell, by feature. rank: of a unit's score, by feature. right, answerable: of the log odds that
    the answer is right, and that the passages hold one. answer_from: least probability of a right answer that is given.
    narrowed: what is added to the log odds of a right answer where one document was chosen; narrowed_from: the least
    probability there, where the nearest that the document says is worth more than nothing. closest_from: least
    probability that the passages answer at which an abstention shows the closest of them.
    """

    cell: Mapping[str, float]
    rank: Mapping[str, float]
    right: Mapping[str, float]
    answerable: Mapping[str, float]
    answer_from: float
    narrowed: float
    narrowed_from: float
    closest_from: float


@lru_cache(maxsize=1)
def reader() -> Reader:
    """The weights, read once."""
    return Reader(**json.loads(PATH.read_text(encoding="utf-8")))
