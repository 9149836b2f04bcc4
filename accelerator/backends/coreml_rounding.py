"""A block and its queries in float16, the Neural Engine's one kind of number, and how far that puts a score off.

Codes are whole numbers up to 127, which float16 holds exactly. Scales it would not hold: they may lie far below its
smallest. So the greater scale of each row stays here, in float32, and a program has only the ratio of each part's scale
to it, at most 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Block

# One rounding to float16, of 11 bits, is off by at most this share of the value.
_UNIT = 2.0**-11
# Below this, float16 has fewer bits, and hardware may make zero of it.
_SMALLEST = float(np.finfo(np.float16).smallest_normal)
# The greatest code; a row of unit length has no greater scale than 1 / _CODES.
_CODES = 127
# The longest row of codes, in units of its row of unit length: that and its rounding.
_LONGEST = 1.25


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The head or the tail of all rows. codes: int8 (n, w). ratios: float16 (n,), to the row's greater scale."""

    name: str
    codes: NDArray[np.int8]
    ratios: NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """A block as its programs hold it; row i is about `scales[i]` times its parts, codes times ratio, side by side.

    parts: head and tail, those that have columns. scales: float32 (n,). error: how far any score is off for what was
    rounded here and is rounded in a program; what a query's own rounding adds is the query's (`round_queries`).
    """

    parts: tuple[Part, ...]
    scales: NDArray[np.float32]
    error: float


def round_block(block: Block) -> Halves:
    """Split the scales of a block and bound the error; reads no codes."""
    sides = [("head", block.head, block.head_scales), ("tail", block.tail, block.tail_scales)]
    sides = [side for side in sides if side[1].shape[1]]
    scales = np.max([side[2] for side in sides], axis=0)
    parts = []
    off = np.zeros(len(block))
    for name, codes, own in sides:
        ratios = np.divide(own, scales, out=np.ones_like(scales), where=scales > 0).astype(np.float64)
        rounded = ratios.astype(np.float16)
        rounded[rounded < _SMALLEST] = 0
        share = np.divide(np.abs(ratios - rounded), ratios, out=np.zeros_like(ratios), where=ratios > 0)
        off += share * np.minimum(own * (_CODES * math.sqrt(codes.shape[1])), _LONGEST)
        parts.append(Part(name, codes, rounded))
    return Halves(tuple(parts), scales, _program_error(block.dimensions) + float(off.max(initial=0)))


def round_queries(queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Values that float16 holds, as float32 (m, d), and what the rounding adds to the error of a score, float32 (m,).

    queries: float32 (m, d), of unit length.
    """
    rounded = queries.astype(np.float16).astype(np.float32)
    rounded[np.abs(rounded) < _SMALLEST] = 0
    distances = np.linalg.norm(queries.astype(np.float64) - rounded, axis=1)
    return rounded, (_LONGEST * distances).astype(np.float32)


def _program_error(dimensions: int) -> float:
    """How far a program's score may be off for a row of `dimensions` codes, in units of a cosine.

    With u for _UNIT and L for _LONGEST, the absolute values of all products add up to L at most (Cauchy-Schwarz), and
    so does every partial sum. Hence, at most:

        u L             each code times its ratio, rounded
        u L             each product, rounded
        sqrt(d) u L     the sum
        2 u L           the results of head and tail, and their sum, rounded
        u L             what these do to one another, and rounding in float32 here
        d 2**-14 / 127  products too small for float16, lost

    What the Neural Engine sums in is not published, and none was at hand to try. Who took it apart reports sums as wide
    as float32 (ane-guide.readthedocs.io, "Numerics"); the third term is then hundreds of times too great. It also
    allows for sqrt(d) roundings of a partial sum to float16, or for all d where they fall by chance (Higham and Mary,
    "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019). It does not allow for d
    roundings that all fall one way: programs are therefore tried on their own rows before they are believed.
    """
    return (5 + math.sqrt(dimensions)) * _UNIT * _LONGEST + dimensions * _SMALLEST / _CODES
