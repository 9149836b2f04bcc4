"""By meaning: the cosine of a chunk's vector with the question's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers.base import Ranked, Ranker


class DenseRanker(Ranker):
    """The nearest vectors of whatever index of vectors answers."""

    name = "dense"
    score_kind = "cosine"

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranked]:
        """See the base class. Raises ValueError for a query without a vector."""
        vectors = [query.vector for query in queries]
        if any(vector is None for vector in vectors):
            raise ValueError("A query without a vector cannot be ranked by meaning.")
        found = self._sources.index.nearest(np.stack([v for v in vectors if v is not None]), k, queries[0].within)
        return [Ranked(some.refs, some.scores, -1.0, some.vectors) for some in found]
