"""Eight bits instead of thirty-two: rows of int8 with a scale each, and how far they are off.

Symmetric rounding to 127 steps, the greatest value of a row on the last one. The error is measured, not assumed: by it
a search knows which rows it must look at in float32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 127
# The arithmetic below is float32: what it calls a distance may be this much more.
_ROUNDED = np.float32(1 + 1e-5)
# The longest row of codes, in units of its row of unit length: that and its rounding.
LONGEST = 1.25


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """codes: int8 (n, w). scales: float32 (n,). errors: float32 (n,), the distance of a row to its codes' values."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    errors: NDArray[np.float32]


def quantise(rows: NDArray[np.float32]) -> Quantised:
    """Round rows, float32 (n, w), finite. A row of zeros, or of no width, has the scale 0 and no error."""
    if not rows.shape[1]:
        none = np.zeros(len(rows), dtype=np.float32)
        return Quantised(np.empty(rows.shape, dtype=np.int8), none, none)
    scales = np.maximum(rows.max(axis=1), -rows.min(axis=1)) / np.float32(_STEPS)
    # Below the smallest normal number a quotient may overflow: such a row is as good as zero, and all of it is error.
    sound = scales > np.finfo(np.float32).tiny
    inverse = np.divide(np.float32(1), scales, out=np.zeros_like(scales), where=sound)
    scales = np.where(sound, scales, np.float32(0))
    rounded = np.rint(rows * inverse[:, None])
    np.clip(rounded, -_STEPS, _STEPS, out=rounded)
    codes = rounded.astype(np.int8)
    rounded *= scales[:, None]
    np.subtract(rows, rounded, out=rounded)
    errors = np.sqrt(np.einsum("nd,nd->n", rounded, rounded)) * _ROUNDED
    return Quantised(codes, scales, errors.astype(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class RoundedVector:
    """codes: int8 (1, w). `error` is the distance of the vector to its codes' values, `length` its own length."""

    codes: NDArray[np.int8]
    scale: float
    error: float
    length: float

    @classmethod
    def of(cls, vector: NDArray[np.float32]) -> RoundedVector:
        """What `quantise` makes of one vector, float32 (w,), finite, in a third of the time."""
        length = math.sqrt(vector @ vector) * float(_ROUNDED)
        scale = max(float(vector.max(initial=0)), -float(vector.min(initial=0))) / _STEPS
        if scale <= np.finfo(np.float32).tiny:
            return cls(np.zeros((1, len(vector)), dtype=np.int8), 0.0, length, length)
        rounded = np.rint(vector * np.float32(1 / scale))
        rest = vector - rounded * np.float32(scale)
        return cls(rounded.astype(np.int8)[None], scale, math.sqrt(rest @ rest) * float(_ROUNDED), length)


@dataclass(frozen=True, slots=True, eq=False)
class RoundedQueries:
    """Queries in 8 bits, head and tail each by itself. errors: float32 (m,), how far off that makes any score."""

    head: Quantised
    tail: Quantised
    errors: NDArray[np.float32]


def round_queries(queries: NDArray[np.float32], width: int) -> RoundedQueries:
    """Round queries, float32 (m, d), finite, whose first `width` dimensions are the head."""
    head, tail = quantise(queries[:, :width]), quantise(queries[:, width:])
    errors: NDArray[np.float32] = np.float32(LONGEST) * np.hypot(head.errors, tail.errors)
    return RoundedQueries(head, tail, errors)
