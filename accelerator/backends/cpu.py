"""The reference backend: simsimd's int8 dot products on the processor. The others are judged by it.

Integers are summed as integers, so that the only error is that of rounding the query to 8 bits.
"""

from __future__ import annotations

import numpy as np
import simsimd
from numpy.typing import NDArray

from accelerator.backends.base import Backend, Block
from accelerator.buffers import BUFFERS
from accelerator.halves import HALVES
from accelerator.quantise import round_queries

# Starting threads costs more than they save where less is to be read.
_WORTH_BYTES = 2**23
# The same for rows far from each other, which take longer to gather.
_WORTH_ROWS = 4096


class CpuBackend(Backend):
    """simsimd on as many threads as asked for. Alone among the backends it can score parts of a block."""

    name = "cpu"

    def __init__(self, threads: int = 1, plain_bytes: int = 0) -> None:
        """plain_bytes: a segment whose float32 rows are no more is scored by them, without its int8 copy."""
        self.threads = threads
        self.plain_bytes = plain_bytes

    def scores(self, block: Block, queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Head and tail in 8 bits, each query rounded by itself."""
        rounded = round_queries(queries, block.head.shape[1])
        scores = self._products(block.head, rounded.head.codes) * block.head_scales
        scores *= rounded.head.scales[:, None]
        if block.tail.shape[1]:
            products = self._products(block.tail, rounded.tail.codes) * block.tail_scales
            products *= rounded.tail.scales[:, None]
            scores += products
        return scores, rounded.errors

    def part(self, codes: NDArray[np.int8], query: NDArray[np.int8]) -> NDArray[np.float32]:
        """Integer inner products of some rows, int8 (n, w), with one query, int8 (1, w): float32 (n,), exact."""
        found: NDArray[np.float32] = self._products(codes, query)[0]
        return found

    def part_at(
        self, codes: NDArray[np.int8], places: NDArray[np.intp], query: NDArray[np.int8]
    ) -> NDArray[np.float32]:
        """The same of the rows at some places, int8 (n, w) and (m,): float32 (m,)."""
        rows: NDArray[np.int8] = BUFFERS.array("codes", (len(places), codes.shape[1]), np.int8)
        half = len(places) // 2
        if self.threads == 1 or half < _WORTH_ROWS:
            np.take(codes, places, axis=0, out=rows, mode="clip")
        else:  # numpy lets go of the interpreter while it gathers, simsimd does not while it multiplies
            HALVES.both(
                lambda: np.take(codes, places[:half], axis=0, out=rows[:half], mode="clip"),
                lambda: np.take(codes, places[half:], axis=0, out=rows[half:], mode="clip"),
            )
        return self.part(rows, query)

    def describe(self) -> str:
        """The backend and its threads."""
        return f"cpu ({self.threads} {'thread' if self.threads == 1 else 'threads'})"

    def _products(self, codes: NDArray[np.int8], queries: NDArray[np.int8]) -> NDArray[np.float32]:
        if not len(codes):
            return np.zeros((len(queries), 0), dtype=np.float32)
        # Never with `out`: simsimd 6.5 returns None without counting the reference, and Python 3.11 dies of it in time.
        # Sums of up to 1,040 products of two int8 are whole numbers that float32 holds.
        threads = self.threads if codes.nbytes * len(queries) >= _WORTH_BYTES else 1
        products = simsimd.cdist(codes, queries, "dot", out_dtype="float32", threads=threads)
        found: NDArray[np.float32] = np.asarray(products).T
        return found
