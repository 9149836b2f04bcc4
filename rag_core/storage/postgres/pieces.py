"""The vectors of a chunk's pieces as a column holds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pieces = NDArray[np.int8]


def pieces_of(kept: bytes | None, dimensions: int) -> Pieces:
    """Pieces, int8 (p, dimensions), from what a column holds; no rows where it holds none."""
    return np.frombuffer(kept or b"", dtype=np.int8).reshape(-1, dimensions)


def kept_form(pieces: Pieces) -> bytes | None:
    """Pieces as a column holds them."""
    return pieces.tobytes() if pieces.size else None
