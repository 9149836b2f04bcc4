"""By words: BM25 of a question's terms, from the index of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers.base import Ranked, Ranker, Sources


class LexicalRanker(Ranker):
    """The chunks that hold a question's rarest words most often (Robertson and Zaragoza 2009)."""

    name = "lexical"
    score_kind = "bm25"

    @classmethod
    def available(cls, sources: Sources) -> bool:
        """Whether there is an index of words."""
        return sources.lexical is not None

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranked]:
        """See the base class."""
        lexical = self._sources.lexical
        if lexical is None:
            raise ValueError("There is no index of words.")
        ranked = []
        for query in queries:
            found = lexical.search(query.terms, k, within=query.within) if query.terms else []
            scores = np.array([score for _, _, score in found], dtype=np.float32)
            ranked.append(Ranked([(key, index) for key, index, _ in found], scores, 0.0))
        return ranked
