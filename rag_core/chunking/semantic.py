"""Cutting where neighbouring sentences differ most, by the vectors of the embedding model.

Blocks of two sentences on either side of a gap are compared, as TextTiling does with words (Hearst 1997), here by the
cosine of their vectors' sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag_core.chunking.base import PageText, Span
from rag_core.chunking.sentences import Opens, Sentences, Unit
from rag_core.errors import ModelUnavailable

# Sentences on either side of a gap that are compared.
_BLOCK = 2
# A gap is a break from so many standard deviations above the mean on; what stands alone has this share of a chunk.
_DEVIATIONS, _LEAST = 1.0, 0.15

Floats = NDArray[np.float32]


class Semantic(Sentences):
    """At most `tokens` tokens within a section, broken where the sentences before and behind differ most."""

    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """Cut each page. Every sentence is embedded once. Raises what embedding raises."""
        if self._encode is None:
            raise ModelUnavailable("The semantic strategy needs the embedding model.", help="Choose another strategy.")
        return super().cut(pages)

    def _grouped(self, text: str, units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
        if not units or self._encode is None:
            return
        vectors = self._encode([text[unit.start : unit.end].strip() for unit in units])
        starts = [0, *(place for place, unit in enumerate(units) if place and unit.opens is Opens.SECTION), len(units)]
        differences = _differences(vectors)
        inner = np.delete(differences, starts[:-1])
        least = float(inner.mean() + _DEVIATIONS * inner.std()) if len(inner) else 1.0
        held = np.cumsum([0, *(unit.tokens for unit in units)])
        # A heading belongs to what follows it, and rows to each other.
        rows = ["\t" in text[unit.start : unit.end].strip() for unit in units]
        together = [unit.is_heading or (row and other) for unit, row, other in zip(units, rows, rows[1:], strict=False)]
        differences[1:][together] = -1.0
        for first, last in pairwise(starts):
            for begin, end in self._parted(held, differences, first, last, least):
                yield units[begin:end]

    def _parted(
        self, held: NDArray[np.int64], differences: Floats, first: int, last: int, least: float
    ) -> Iterator[Span]:
        """Runs of units, cut at the greatest difference as long as they are too long or it is a break."""
        alone = _LEAST * self._settings.tokens
        stack = [(first, last)]
        while stack:
            first, last = stack.pop()
            low = int(np.searchsorted(held, held[first] + alone, side="left"))
            high = int(np.searchsorted(held, held[last] - alone, side="right"))
            best = low + int(np.argmax(differences[low:high])) if first < low < high else 0
            if best and differences[best] > (0.0 if held[last] - held[first] > self._settings.tokens else least):
                stack += [(best, last), (first, best)]
            else:
                yield first, last


def _differences(vectors: Floats) -> Floats:
    """How much the sentences before each place differ from those behind it, 1 less the cosine: float32 (n,)."""
    differences = np.zeros(len(vectors), dtype=np.float32)
    for place in range(1, len(vectors)):
        before = vectors[max(place - _BLOCK, 0) : place].sum(axis=0)
        behind = vectors[place : place + _BLOCK].sum(axis=0)
        lengths = float(np.linalg.norm(before) * np.linalg.norm(behind))
        differences[place] = 1.0 - float(before @ behind) / max(lengths, 1e-12)
    return differences
