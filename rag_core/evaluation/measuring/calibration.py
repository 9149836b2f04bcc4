"""Whether confidence means what it says: a reliability diagram and the expected calibration error.

Naeini, Cooper and Hauskrecht (2015), with bins of equal width: of the answers given with 70 % confidence, 7 in 10 ought
to be right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag_core.domain import Calibration, CalibrationBin, Result

BINS = 10


def calibration(results: Sequence[Result]) -> Calibration:
    """The reliability diagram of the results of a run.

    The probability of being right is the confidence where an answer was given, and 1 less the confidence where Lectern
    abstained. Results without confidence or the metric `correct`, and failed ones, are left out; without any left
    everything is 0.
    """
    points = [point for result in results if (point := _point(result)) is not None]
    bins = tuple(_bin(place, [point for point in points if _place(point[0]) == place]) for place in range(BINS))
    gap = math.fsum(abs(one.confidence - one.accuracy) * one.count for one in bins)
    return Calibration(bins, gap / len(points) if points else 0.0, len(points))


def _point(result: Result) -> tuple[float, float] | None:
    """How sure an answer was to be right, 0..1, and whether it was, 0 or 1."""
    confidence, right = result.confidence, result.metrics.get("correct")
    if result.error or result.abstained is None or confidence is None or right is None:
        return None
    if not (math.isfinite(confidence) and math.isfinite(right)):
        return None
    confidence = min(max(confidence, 0.0), 1.0)
    return round(1 - confidence if result.abstained else confidence, 9), right  # 1 - 0.9 is just below 0.1


def _place(probability: float) -> int:
    return min(int(probability * BINS), BINS - 1)


def _bin(place: int, points: Sequence[tuple[float, float]]) -> CalibrationBin:
    low, high, count = place / BINS, (place + 1) / BINS, len(points)
    if not count:
        return CalibrationBin(low, high, 0, 0.0, 0.0)
    confidence = math.fsum(probability for probability, _ in points) / count
    return CalibrationBin(low, high, count, confidence, math.fsum(right for _, right in points) / count)
