"""How answering sees the embedding model: two functions, so that it needs to know no more of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of unit length, float32 (n, d)."""

EncodeTokens = Callable[[Sequence[str]], Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]]]
"""Texts to the vectors of their tokens, float32 (t, h), rows of unit length, and their spans, int64 (t, 2)."""
