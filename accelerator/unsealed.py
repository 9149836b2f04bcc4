"""The unsealed tail: dumps that no segment holds yet, scored in float32 as they are.

Dumps below SMALL_ROWS rows are copied into one block in memory, so that thousands of short documents are one pass;
larger ones are scanned from their maps and never copied. Not thread-safe by itself: the scanner holds its lock.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from accelerator.dump import Dump, Layout
from accelerator.parts import Part, SmallDumps
from accelerator.selection import Selection

SMALL_ROWS = 1024


class Unsealed:
    """The dumps by key, as they were added, and the parts that a search goes through."""

    def __init__(self, dimensions: int) -> None:
        self._small = SmallDumps(dimensions)
        self._large: dict[str, Part] = {}
        self._layouts: dict[str, Layout] = {}

    def add(self, key: str, dump: Dump) -> None:
        """Take a dump in, in place of an earlier one of that key."""
        self.remove(key)
        lengths = None if dump.normalised else _lengths(dump.vectors)
        self._layouts[key] = dump.layout
        if len(dump) < SMALL_ROWS:
            self._small.add(key, dump.vectors, lengths)
        else:
            self._large[key] = Part((key,), dump.vectors, None, lengths)

    def remove(self, key: str) -> None:
        """Forget a dump. An unknown key is no error."""
        if self._layouts.pop(key, None) is not None:
            self._small.remove(key)
            self._large.pop(key, None)

    def layouts(self) -> dict[str, Layout]:
        """What the header of each dump said. A map of every small one would hold a descriptor each."""
        return dict(self._layouts)

    def keys(self) -> Iterator[str]:
        """The keys of all dumps, those without rows too."""
        return iter(self._layouts)

    def __contains__(self, key: str) -> bool:
        return key in self._layouts

    def __len__(self) -> int:
        return len(self._small) + sum(len(part.rows) for part in self._large.values())

    def row(self, key: str, row: int) -> NDArray[np.float32]:
        """One row, float32 (d,). Raises KeyError."""
        part = self._large.get(key)
        if part is None:
            return self._small.row(key, row)
        if not 0 <= row < len(part.rows):
            raise KeyError(f"{key} has no row {row}")
        vector: NDArray[np.float32] = part.rows[row]
        return vector

    def parts(self, within: Selection | None) -> list[Part]:
        """What a search goes through, as it is now."""
        large = [_restricted(part, within) for key, part in self._large.items() if within is None or key in within]
        return [part for part in (self._small.part(within), *large) if len(part.rows)]


def _restricted(part: Part, within: Selection | None) -> Part:
    wanted = None if within is None else within.rows(part.keys[0], len(part.rows))
    if wanted is None:
        return part
    hidden = np.ones(len(part.rows), dtype=np.bool_)
    hidden[wanted] = False
    return Part(part.keys, part.rows, hidden, part.lengths)


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    squares = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    lengths: NDArray[np.float32] = np.sqrt(squares).astype(np.float32)
    return lengths
