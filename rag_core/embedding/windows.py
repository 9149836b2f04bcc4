"""Texts as rows that the model takes: one for most, several for one that is longer, put together again afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.embedding.pieces import Pieces, joined
from rag_core.embedding.tokens import TokenCounter

Embedded = tuple[NDArray[np.float32], list[Pieces]]
"""Vectors of rows, float32 (n, d), of unit length, and their pieces where those are wanted."""


class Windows:
    """The rows of some texts, and what has been made of them so far.

    rows: token numbers, int64 (t,). spans: the tokens of each row that pieces are made of; None where none are wanted.
    """

    def __init__(self, tokens: TokenCounter, texts: Sequence[str], skips: Sequence[int] | None) -> None:
        windows = tokens.windows(texts)
        counts = np.array([len(rows) for rows in windows], dtype=np.int64)
        self.rows = [row for rows in windows for row in rows]
        self._starts = np.cumsum(counts) - counts
        self._is_first = np.zeros(len(self.rows), dtype=bool)
        self._is_first[self._starts] = True
        self._vectors: NDArray[np.float32] | None = None
        self._pieces: list[Pieces] | None = None if skips is None else [np.empty((0, 0), np.int8)] * len(self.rows)
        self.spans = None if skips is None else self._body(tokens, np.repeat(skips, counts))

    def put(self, indices: Sequence[int], vectors: NDArray[np.float32], pieces: Sequence[Pieces]) -> int:
        """Take what was made of some rows. Returns how many texts begin with one of them."""
        if self._vectors is None:
            self._vectors = np.empty((len(self.rows), vectors.shape[1]), dtype=np.float32)
        self._vectors[indices] = vectors
        if self._pieces is not None and pieces:
            for index, found in zip(indices, pieces, strict=True):
                self._pieces[index] = found
        return int(self._is_first[indices].sum())

    def result(self) -> Embedded:
        """The vectors of the texts, float32 (n, d), rows of unit length, and their pieces."""
        if self._vectors is None:
            raise ValueError("nothing was embedded")
        vectors = self._vectors
        ends = [*self._starts[1:], len(self.rows)]
        if len(self.rows) > len(self._starts):
            lengths = np.array([len(row) for row in self.rows], dtype=np.float32)
            vectors = np.add.reduceat(vectors * lengths[:, np.newaxis], self._starts, axis=0)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        if self._pieces is None:
            return vectors, []
        parts = (self._pieces[start:end] for start, end in zip(self._starts, ends, strict=True))
        return vectors, [joined(part) for part in parts]

    def _body(self, tokens: TokenCounter, skips: NDArray[np.int64]) -> list[tuple[int, int]]:
        """First and last of the tokens of each row that no row before it has, without marks and what is skipped."""
        begin, end = tokens.marks
        firsts = begin + np.where(self._is_first, skips, tokens.shared)
        return [(min(int(first), len(row) - end), len(row) - end) for first, row in zip(firsts, self.rows, strict=True)]
