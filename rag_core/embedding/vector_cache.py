"""What a model has read lately: a follow-up comes back to the passages of the question before it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]


class VectorCache:
    """Rows' vectors, float32 (d,), with those of their tokens, (t, h), at most `most_tokens` of these in all.

    What was not asked for longest goes first. A row's key is its token numbers, as bytes. Thread-safe.
    """

    def __init__(self, most_tokens: int) -> None:
        self._most_tokens = most_tokens
        self._tokens = 0
        self._rows: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> Vectors | None:
        """The vectors of a row; None where it was not read lately."""
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
            return self._rows.get(key)

    def put(self, rows: Mapping[bytes, Vectors]) -> None:
        """Keep the vectors of some rows."""
        with self._lock:
            for key, vectors in rows.items():
                self._tokens += 0 if key in self._rows else len(vectors[1])
                self._rows[key] = (vectors[0].copy(), vectors[1].copy())  # as views they hold the whole batch
            while self._tokens > self._most_tokens:
                self._tokens -= len(self._rows.popitem(last=False)[1][1])
