"""The vectors of a text's tokens, put together from the windows that the model took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_NOTHING = 1e-12

TokenVectors = tuple[NDArray[np.float32], NDArray[np.int64]]
"""float32 (t, h), rows of unit length, and the span of characters of each, int64 (t, 2), in order."""


def whole(windows: Sequence[TokenVectors]) -> TokenVectors:
    """One text from its windows' vectors and spans: without marks, each token once, as the first window saw it."""
    vectors, spans, end = [], [], 0
    for rows, places in windows:
        new = (places[:, 1] > places[:, 0]) & (places[:, 0] >= end)
        vectors.append(rows[new])
        spans.append(places[new])
        end = int(spans[-1][-1, 1]) if new.any() else end
    rows = np.concatenate(vectors).astype(np.float32)
    units: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _NOTHING)
    return units, np.concatenate(spans)
