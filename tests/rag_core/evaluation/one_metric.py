"""The statistics of a single metric: as of a table with one column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.domain import Estimate
from rag_core.evaluation.measuring.statistics import intervals, paired_columns


def estimate(values: Sequence[float], seed: int = 0) -> Estimate:
    """Mean of the values and its 95 % interval; all 0 without values. `values` are finite."""
    if not len(values):
        return Estimate(0.0, 0.0, 0.0, 0)
    table = np.asarray(values, dtype=np.float64)[:, None]
    means, low, high = intervals(table, seed)
    return Estimate(float(means[0]), float(low[0]), float(high[0]), len(values))


def paired(a: Sequence[float], b: Sequence[float], seed: int = 0) -> tuple[float, float, float, float]:
    """Mean of b - a, its 95 % interval, and how likely chance alone makes so great a difference (two-sided p).

    `a` and `b` are finite values of the same questions in the same order. Without any: 0, 0, 0, 1.
    """
    if not len(a):
        return 0.0, 0.0, 0.0, 1.0
    found = paired_columns(np.subtract(b, a, dtype=np.float64)[:, None], seed)
    return float(found.difference[0]), float(found.low[0]), float(found.high[0]), float(found.p[0])
