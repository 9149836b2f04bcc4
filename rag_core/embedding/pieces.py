"""Piece vectors: of a text's pieces of a few dozen tokens, pooled from the token vectors of the pass that made its own.

What a text's one vector blurs its pieces' still say, each seen in the context of the whole (Günther et al. 2024, "Late
chunking"), at no further pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# By span recall pieces of 32 to 64 tokens do alike, and sentences as well.
_PIECE_TOKENS = 48
_LARGEST = 127
_NOTHING = 1e-12

Pieces = NDArray[np.int8]
"""int8 (p, d): each row points where a piece's vector does; its length means nothing."""


def pooled(tokens: NDArray[np.float32], first: int, last: int) -> Pieces:
    """The pieces of tokens `first` to `last`, from a text's token vectors, float32 (t, d)."""
    count = last - first
    if count <= 0:
        return np.empty((0, tokens.shape[1]), dtype=np.int8)
    parts = max(1, round(count / _PIECE_TOKENS))
    starts = first + np.arange(parts) * count // parts
    sums = np.add.reduceat(tokens[:last], starts, axis=0)
    largest = np.abs(sums).max(axis=1, keepdims=True)
    rows: Pieces = np.rint(sums * (_LARGEST / np.maximum(largest, _NOTHING))).astype(np.int8)
    return rows


def unit_rows(pieces: Pieces) -> NDArray[np.float32]:
    """Pieces as float32 (p, d), rows of unit length; a row of zeros stays one."""
    rows = pieces.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: NDArray[np.float32] = rows / np.maximum(lengths, 1)
    return units


def joined(parts: Sequence[Pieces]) -> Pieces:
    """The pieces of a text's windows, one below the other."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
