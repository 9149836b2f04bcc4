"""From candidates of many parts to the best rows of all: one last scoring, the same for every part and backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.dump import UNIT_TOLERANCE
from accelerator.errors import DumpCorrupt
from accelerator.parts import Part
from accelerator.segment import Segment

# No product of two vectors of unit length is greater, however it was rounded.
_MOST_OF_UNIT_ROWS = 1.01
# Rows in float64 at once: thousands of equal ones can be among the best.
_PORTION = 4096


@dataclass(frozen=True, slots=True)
class Match:
    """A row of a dump and its cosine with the query (a float32 value)."""

    key: str
    row: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Candidates of one part: places in it, (c,), and cosines in float32, (c,)."""

    part: Part | Segment
    places: NDArray[np.intp]
    scores: NDArray[np.float32]

    @classmethod
    def in_part(cls, part: Part, products: NDArray[np.float32], k: int) -> Found:
        """The best of a part by the products of all its rows, float32 (n,), with a query of unit length."""
        scores = _cosines(part, products)
        if len(scores) <= k:
            return cls(part, np.flatnonzero(scores > -np.inf), scores[scores > -np.inf])
        least = np.partition(scores, len(scores) - k)[-k] - slack(part.rows.shape[1])
        places = np.flatnonzero(scores >= max(least, np.float32(-2)))
        return cls(part, places, scores[places])


def slack(dimensions: int) -> np.float32:
    """Two float32 inner products of so many terms of unit vectors differ from the true ones by less than this."""
    return np.float32(2 * (dimensions * float(np.finfo(np.float32).eps) + UNIT_TOLERANCE))


def kth(found: Sequence[Found], k: int) -> float:
    """The k-th greatest cosine among candidates, less what float32 may be off: no worse row is among the best."""
    scores = np.concatenate([part.scores for part in found]) if found else np.empty(0, dtype=np.float32)
    if len(scores) < k:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[-k] - slack(found[0].part.rows.shape[1]))


def merged(found: Sequence[Found], unit: NDArray[np.float64], k: int) -> list[Match]:
    """The best k of all candidates, best first; ties by key, then row. Raises DumpCorrupt for a segment that lies."""
    floor = kth(found, k)
    matches: list[Match] = []
    for part in found:
        places = part.places[part.scores >= floor]
        for start in range(0, len(places), _PORTION):
            matches += _rescored(part.part, places[start : start + _PORTION], unit)
    matches.sort(key=lambda match: (-match.score, match.key, match.row))
    return matches[:k]


def _cosines(part: Part, products: NDArray[np.float32]) -> NDArray[np.float32]:
    most = _MOST_OF_UNIT_ROWS if part.lengths is None else np.finfo(np.float32).max
    scores = products
    if not scores.max(initial=0) <= most:  # a damaged row is never found, and hides no other
        scores = np.where(scores <= most, scores, np.float32(-np.inf))
    if part.lengths is not None:
        scores = np.divide(scores, part.lengths, out=np.zeros_like(scores), where=part.lengths > 0)
    if part.hidden is not None:
        scores = np.where(part.hidden, np.float32(-np.inf), scores)
    return scores


def _rescored(part: Part | Segment, places: NDArray[np.intp], unit: NDArray[np.float64]) -> list[Match]:
    rows = part.rows[places].astype(np.float64)
    # Not a matrix product: that sums in an order which depends on where a row lies.
    products = (rows * unit).sum(axis=1)
    lengths = np.sqrt((rows * rows).sum(axis=1))
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0).astype(np.float32)
    return [Match(*origin, score) for origin, score in zip(_origins(part, places), cosines.tolist(), strict=True)]


def _origins(part: Part | Segment, places: NDArray[np.intp]) -> list[tuple[str, int]]:
    if isinstance(part, Part):
        return [part.origin(place) for place in places.tolist()]
    arrays = part.sections.arrays
    numbers, rows = arrays["origins"][places].astype(np.intp).T
    starts = arrays["key_starts"]
    # Both ways must agree: a damaged origin would be another document's row.
    known = numbers < len(part.keys)
    if not known.all() or not np.array_equal(arrays["places"].take(starts[numbers] + rows, mode="clip"), places):
        raise DumpCorrupt(f"{part.path} has rows of no key")
    return [(part.keys[number], row) for number, row in zip(numbers.tolist(), rows.tolist(), strict=True)]
