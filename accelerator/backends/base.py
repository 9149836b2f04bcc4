"""What every engine of the scanner does: score one block of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class Backend(ABC):
    """An engine. Thread-safe. Its scores find candidates; the scanner scores those once more, the same for all."""

    name: ClassVar[str]

    @abstractmethod
    def scores(self, block: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Inner products: float32 (n, d) rows, maybe read-only and mapped, with float32 (d,) give float32 (n,).

        Off by at most what float32 arithmetic over d terms is off.
        """
