"""By meaning: the cosine of a chunk's vector with the question's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers.base import Ranked, Ranker

# The cosine of what has nothing in common. Below it there is nothing to tell apart, though -1 is the least in theory:
# counted from there, the nearest and the merely near would differ too little.
_UNRELATED = 0.0


class DenseRanker(Ranker):
    """The nearest vectors of whatever index of vectors answers."""

    name = "dense"
    score_kind = "cosine"

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranked]:
        """See the base class. Raises ValueError for a query without a vector."""
        vectors = [query.vector for query in queries]
        if any(vector is None for vector in vectors):
            raise ValueError("A query without a vector cannot be ranked by meaning.")
        found = self._sources.index.nearest(
            np.stack([v for v in vectors if v is not None]), k, queries[0].within, self._sources.scan
        )
        return [Ranked(some.refs, some.scores, _UNRELATED, some.vectors) for some in found]
