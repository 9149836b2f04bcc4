"""The reference engine: numpy on the processor. The others are judged by it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelerator.backends.base import Backend


class CpuBackend(Backend):
    """One matrix-vector product by numpy's BLAS."""

    name = "cpu"

    def scores(self, block: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Inner products, float32 (n,)."""
        return block @ query
