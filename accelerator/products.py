"""Inner products of rows with one vector, by simsimd, whose threads do not wait for each other as those of BLAS do.

BLAS would share even some hundred rows among its threads, which wait for each other: with another process on a core,
4 to 8 ms were measured for what takes 0.02 ms alone.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import simsimd
from numpy.typing import NDArray

_OUT: dict[str, Literal["float32", "float64"]] = {"float32": "float32", "float64": "float64"}


def inner(rows: NDArray[Any], vector: NDArray[Any], threads: int = 1) -> NDArray[Any]:
    """Inner products, (n,), of rows (n, d) and a vector (d,), all three of float32 or of float64."""
    if not rows.size:
        return np.zeros(len(rows), dtype=rows.dtype)
    return np.asarray(simsimd.cdist(rows, vector[None], "dot", out_dtype=_OUT[rows.dtype.name], threads=threads))[:, 0]
