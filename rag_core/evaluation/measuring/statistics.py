"""What follows from the values of some questions: intervals by bootstrap, and tests by permutation.

The bootstrap (Efron and Tibshirani 1993, chapter 13: percentile intervals) draws questions with replacement. The
permutation test (Fisher's; as for retrieval in Smucker, Allan and Carterette 2007) flips the signs of the differences,
which are as likely either way when the two configurations are alike. Many tests at once are corrected as Holm (1979)
does. The same values and the same seed give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
"""Resamples and sign flips drawn, up to 10,000 questions; above, fewer: see `_repetitions`."""

MOST_ENUMERATED = 12
"""Up to so many differences other than 0, all of their sign flips are tried."""

_LEAST = 1_000
_DRAWS = 100_000_000  # values drawn in all, some seconds of work
_BLOCK = 64_000  # values held at once; half a megabyte stays in the processor's cache
_QUANTILES = (0.025, 0.975)
_TIE = 1e-9  # sums nearer than this, as a share of the sum of all differences, are equal


@dataclass(frozen=True, slots=True)
class Paired:
    """Several metrics of two configurations compared: one number each; `p` is two-sided and not corrected."""

    difference: Floats
    low: Floats
    high: Floats
    p: Floats


def holm(ps: Sequence[float]) -> list[float]:
    """The p values corrected for their number, in their order: below 0.05 at most one time in 20 by chance alone."""
    corrected, least = [1.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        least = max(least, min(1.0, ps[place] * (len(ps) - rank)))
        corrected[place] = least
    return corrected


def intervals(table: Floats, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Means of the columns and the lower and upper bounds of their 95 % intervals: float64 (m,) each.

    `table` is float64 (n, m): n questions, one at least, by m metrics, all of which share the resamples.
    """
    size = len(table)
    drawn = np.concatenate([weights @ table for weights in _resamples(size, seed)]) / size
    low, high = np.quantile(drawn, _QUANTILES, axis=0)
    means = table.mean(axis=0)
    return means, np.minimum(low, means), np.maximum(high, means)  # equal values differ by rounding


def paired_columns(differences: Floats, seed: int = 0) -> Paired:
    """Compare many metrics at once. `differences`: float64 (n, m), n questions, one at least, by m metrics."""
    means, low, high = intervals(differences, seed)
    changed = np.count_nonzero(differences, axis=0)
    p = np.ones(differences.shape[1])
    for column in np.flatnonzero((changed > 0) & (changed <= MOST_ENUMERATED)):
        values = differences[:, column]
        p[column] = _exact(values[values != 0])
    many = np.flatnonzero(changed > MOST_ENUMERATED)
    if len(many):
        p[many] = _drawn(differences[:, many], seed)
    return Paired(means, low, high, p)


def _exact(values: Floats) -> float:
    """Share of all 2^n sign flips of n values whose sum is at least as far from 0."""
    flips = np.arange(2 ** len(values))[:, None] >> np.arange(len(values)) & 1
    return float(_as_far((1 - 2 * flips) @ values, values).mean())


def _drawn(table: Floats, seed: int) -> Floats:
    """The same of each column by random flips, the flip that happened counted among them (Phipson and Smyth 2010)."""
    far = np.zeros(table.shape[1])
    for flips in _flips(len(table), seed):
        far += _as_far(table.sum(axis=0) - 2 * (flips @ table), table).sum(axis=0)
    return (far + 1) / (_repetitions(len(table)) + 1)


def _as_far(sums: Floats, values: Floats) -> NDArray[np.bool_]:
    """Which sums are at least as far from 0 as the sum of the values itself."""
    far: NDArray[np.bool_] = np.abs(sums) >= np.abs(values.sum(axis=0)) - _TIE * np.abs(values).sum(axis=0)
    return far


def _repetitions(size: int) -> int:
    """How many resamples or flips of `size` questions are drawn, so that the time is bounded."""
    return max(_LEAST, min(RESAMPLES, _DRAWS // size))


def _blocks(size: int) -> Iterator[int]:
    """The repetitions in portions of few values."""
    wanted, rows = _repetitions(size), max(1, _BLOCK // size)
    yield from (min(rows, wanted - begin) for begin in range(0, wanted, rows))


def _resamples(size: int, seed: int) -> Iterator[Floats]:
    """How often each of `size` questions is drawn, float64 (rows, size), block by block."""
    random = np.random.default_rng([seed, 1])
    for rows in _blocks(size):
        places = random.integers(0, size, (rows, size)) + np.arange(rows)[:, None] * size
        yield np.bincount(places.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def _flips(size: int, seed: int) -> Iterator[Floats]:
    """Which of `size` differences change their sign, 0 or 1 as float64 (rows, size), block by block."""
    random = np.random.default_rng([seed, 2])
    for rows in _blocks(size):
        octets = random.integers(0, 256, (rows, -(-size // 8)), dtype=np.uint8)
        yield np.unpackbits(octets, axis=1, count=size).astype(np.float64)
