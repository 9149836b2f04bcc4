"""BM25 over a handful of texts: for choosing among sentences and passages already at hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

_K1, _B = 0.9, 0.4  # as in Anserini


class Bm25:
    """BM25 (Robertson and Zaragoza 2009) over a handful of texts."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(text) for text in texts]
        self._lengths = [max(len(text), 1) for text in texts]
        self._mean = sum(self._lengths) / max(len(texts), 1)
        self._holders = Counter(term for counts in self._counts for term in counts)

    def weight(self, term: str) -> float:
        """Inverse document frequency of a term, always above 0."""
        holders = self._holders[term]
        return math.log(1 + (len(self._counts) - holders + 0.5) / (holders + 0.5))

    def scores(self, query: Sequence[str]) -> list[float]:
        """One score for each text, on a scale where 1 is the most that this query could reach."""
        wanted = set(query)
        best = sum(self.weight(term) for term in wanted) * (_K1 + 1)
        return [self._score(wanted, index) / best if best else 0.0 for index in range(len(self._counts))]

    def _score(self, wanted: set[str], index: int) -> float:
        counts = self._counts[index]
        norm = _K1 * (1 - _B + _B * self._lengths[index] / self._mean)
        return sum(self.weight(t) * counts[t] * (_K1 + 1) / (counts[t] + norm) for t in wanted if counts[t])
