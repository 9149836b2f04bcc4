"""What every backend of the scanner does: score one block of a sealed segment.

A score finds candidates and no more: the scanner widens by the backend's own error, reads the candidates' float32 rows
and scores those last, the same for all. So every backend returns the same hits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class BackendUnavailable(RuntimeError):
    """A backend that cannot run here, or no longer; the message says why. The CPU takes its place."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The int8 copy of a segment's rows, of unit length and in its rotated dimensions, maybe mapped read-only.

    Row i is about `head[i] * head_scales[i]` followed by `tail[i] * tail_scales[i]`. head: int8 (n, h), the dimensions
    that tell rows apart best. tail: int8 (n, d - h), which may have no columns. Scales: float32 (n,). digest: names the
    block's content, for what a backend derives from it.
    """

    digest: str
    head: NDArray[np.int8]
    tail: NDArray[np.int8]
    head_scales: NDArray[np.float32]
    tail_scales: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.head)

    @property
    def dimensions(self) -> int:
        """Head and tail together."""
        return int(self.head.shape[1] + self.tail.shape[1])


class Backend(ABC):
    """A backend. Thread-safe."""

    name: ClassVar[str]
    least_rows: int = 4096
    """From so many vectors on a segment is made for it: fewer are scored by the processor as they are."""

    @abstractmethod
    def scores(self, block: Block, queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Inner products of every query with every row of the block: float32 (m, n), and their error, float32 (m,).

        queries: float32 (m, d), of unit length, in the block's rotated dimensions, m at least 1. The error bounds how
        far a score is off the inner product of the whole query with the row that the block holds. Raises
        BackendUnavailable when the backend fails.
        """

    def forget(self, digest: str) -> None:  # noqa: B027  backends that keep nothing have nothing to forget
        """Let go of what was derived from a block that is searched no longer. An unknown one is no error."""

    def describe(self) -> str:
        """What runs, in a few words, for a person."""
        return self.name
