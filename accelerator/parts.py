"""Rows of many small dumps in one growing block, and what a search needs to know of any block.

Not thread-safe by itself: the scanner holds its lock. A `Part` stays sound after it was handed out, since rows are
only appended behind it and packing makes a new block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelerator.selection import Selection

_FIRST_ROWS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A block to scan. rows: float32 (n, d). hidden: bool (n,), rows that must not be found, or None.

    lengths: float32 (n,), or None where all rows are of unit length. `starts` says where each key's rows begin; with
    one key it may be left empty.
    """

    keys: Sequence[str]
    rows: NDArray[np.float32]
    hidden: NDArray[np.bool_] | None = None
    lengths: NDArray[np.float32] | None = None
    starts: Sequence[int] = ()

    def origin(self, place: int) -> tuple[str, int]:
        """Key and row number of the row at `place` of the block."""
        if not self.starts:
            return self.keys[0], place
        entry = bisect_right(self.starts, place) - 1
        return self.keys[entry], place - self.starts[entry]


class SmallDumps:
    """Copies of small dumps, one behind the other. Removed ones are hidden, and packed away once they are half."""

    def __init__(self, dimensions: int) -> None:
        self._spans: dict[str, tuple[int, int]] = {}
        self._keys: list[str] = []
        self._starts: list[int] = []
        self._used = 0
        self._hidden_rows = 0
        self._rows = np.empty((_FIRST_ROWS, dimensions), dtype=np.float32)
        self._hidden = np.zeros(_FIRST_ROWS, dtype=np.bool_)
        self._lengths = np.ones(_FIRST_ROWS, dtype=np.float32)
        self._all_unit = True

    def __contains__(self, key: str) -> bool:
        return key in self._spans

    def __len__(self) -> int:
        return self._used - self._hidden_rows

    def add(self, key: str, vectors: NDArray[np.float32], lengths: NDArray[np.float32] | None) -> None:
        """Copy a dump's rows, float32 (n, d), behind the others. `lengths` is None for rows of unit length."""
        start, end = self._used, self._used + len(vectors)
        self._spans[key] = (start, end)
        if not len(vectors):
            return
        self._grow(end)
        self._rows[start:end] = vectors
        self._hidden[start:end] = False
        self._lengths[start:end] = 1 if lengths is None else lengths
        self._all_unit = self._all_unit and lengths is None
        self._keys.append(key)
        self._starts.append(start)
        self._used = end

    def remove(self, key: str) -> None:
        """Hide a dump's rows. An unknown key is no error."""
        start, end = self._spans.pop(key, (0, 0))
        self._hidden[start:end] = True
        self._hidden_rows += end - start
        if self._hidden_rows * 2 > max(self._used, _FIRST_ROWS):
            self._pack()

    def row(self, key: str, row: int) -> NDArray[np.float32]:
        """One row, float32 (d,). Raises KeyError."""
        start, end = self._spans[key]
        if not 0 <= row < end - start:
            raise KeyError(f"{key} has no row {row}")
        vector: NDArray[np.float32] = self._rows[start + row]
        return vector

    def part(self, within: Selection | None) -> Part:
        """The block as it is now; with `within`, all other rows hidden."""
        used = self._used
        hidden: NDArray[np.bool_] | None = None
        if within is not None:
            hidden = np.ones(used, dtype=np.bool_)
            for key, (start, end) in ((key, self._spans[key]) for key in within if key in self._spans):
                rows = within.rows(key, end - start)
                hidden[slice(start, end) if rows is None else start + rows] = False
        elif self._hidden_rows:
            hidden = self._hidden[:used].copy()
        lengths = None if self._all_unit else self._lengths[:used]
        return Part(self._keys, self._rows[:used], hidden, lengths, self._starts)

    def _grow(self, needed: int) -> None:
        if needed <= len(self._rows):
            return
        size = max(needed, 2 * len(self._rows))
        rows, hidden, lengths = self._rows, self._hidden, self._lengths
        self._rows = np.empty((size, rows.shape[1]), dtype=np.float32)
        self._hidden = np.zeros(size, dtype=np.bool_)
        self._lengths = np.ones(size, dtype=np.float32)
        self._rows[: self._used] = rows[: self._used]
        self._hidden[: self._used] = hidden[: self._used]
        self._lengths[: self._used] = lengths[: self._used]

    def _pack(self) -> None:
        old_rows, old_lengths, old_spans = self._rows, self._lengths, self._spans
        all_unit = self._all_unit
        packed = SmallDumps(old_rows.shape[1])
        for key, (start, end) in old_spans.items():
            packed.add(key, old_rows[start:end], None if all_unit else old_lengths[start:end])
        self.__dict__.update(packed.__dict__)
