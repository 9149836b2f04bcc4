"""By words: BM25 of a question's terms, from the index of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers.base import Ranked, Ranker, Sources

# Of chunks found in whole documents few may stand in the sections that are searched.
_DEEPER = 10


class LexicalRanker(Ranker):
    """The chunks that hold a question's rarest words most often (Robertson and Zaragoza 2009)."""

    name = "lexical"
    score_kind = "bm25"

    @classmethod
    def available(cls, sources: Sources) -> bool:
        """Whether there is an index of words."""
        return sources.lexical is not None

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranked]:
        """See the base class. Quoted phrases stand in all that it finds, excluded words in none."""
        return [self._rank(query, k) for query in queries]

    def _rank(self, query: Query, k: int) -> Ranked:
        if self._sources.lexical is None:
            raise ValueError("There is no index of words.")
        within = query.within
        narrow = within is not None and not within.whole
        found = self._sources.lexical.search(
            query.weights, _DEEPER * k if narrow else k, within.documents if within is not None else None,
            phrases=query.phrases, excluded=query.excluded,
        )  # fmt: skip
        if within is not None and narrow:
            found = [item for item in found if item[:2] in within][:k]
        scores = np.array([score for _, _, score in found], dtype=np.float32)
        return Ranked([(key, index) for key, index, _ in found], scores, 0.0)
