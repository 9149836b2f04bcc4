"""Inner products of float32 rows with one vector, by simsimd on one thread.

BLAS would share even some hundred rows among its threads, which wait for each other: with another process on a core,
4 to 8 ms were measured for what takes 0.02 ms alone.
"""

from __future__ import annotations

import numpy as np
import simsimd
from numpy.typing import NDArray


def inner(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Float32 (n,) of rows, float32 (n, d), and a vector, float32 (d,)."""
    if not len(rows):
        return np.empty(0, dtype=np.float32)
    found: NDArray[np.float32] = np.asarray(simsimd.cdist(rows, vector[None], "dot", out_dtype="float32"))[:, 0]
    return found
