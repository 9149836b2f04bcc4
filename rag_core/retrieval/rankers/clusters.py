"""By the library's two levels: the nearest chunks inside the documents and clusters that a question is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rag_core.retrieval.hierarchy.clustering import unit
from rag_core.retrieval.hierarchy.search import Focus, Hierarchy, SearchWidth
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers.base import Ranked, Ranker, Sources
from rag_core.storage.indexes.dense import Within


class ClustersRanker(Ranker):
    """The cosines of chunks with the question as it was moved towards the clusters found: see `hierarchy.search`.

    In a fusion a chunk that it found has the scores that the other rankers give it, so that it only adds candidates.
    """

    name = "clusters"
    score_kind = "cosine"
    width: ClassVar[SearchWidth] = SearchWidth()

    @classmethod
    def available(cls, sources: Sources) -> bool:
        """Whether the library's documents have been clustered."""
        return sources.hierarchy is not None and len(sources.hierarchy) > 0

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranked]:
        """See the base class. Raises ValueError for a query without a vector."""
        hierarchy = self._sources.hierarchy
        if hierarchy is None or any(query.vector is None for query in queries):
            raise ValueError("Searching by clusters needs a hierarchy, and queries with vectors.")
        return [self._rank(hierarchy, query, k) for query in queries]

    def _rank(self, hierarchy: Hierarchy, query: Query, k: int) -> Ranked:
        assert query.vector is not None  # noqa: S101  looked at above
        allowed = None if query.within is None else query.within.rows
        focus = hierarchy.focus(unit(query.vector), self.width, allowed)
        within = _within(focus, query.within)
        if not within.chunks:
            return Ranked([], np.empty(0, dtype=np.float32), -1.0)
        return self._inside(query, focus, within, k)

    def _inside(self, query: Query, focus: Focus, within: Within, k: int) -> Ranked:
        """Level two: the best of the chunks inside what level one found."""
        found = self._sources.index.nearest(focus.query[np.newaxis], k, within, self._sources.scan)[0]
        return Ranked(found.refs, found.scores, -1.0, found.vectors, ", ".join(focus.terms))


def _within(focus: Focus, scope: Within | None) -> Within:
    """What was found, as far as the scope leaves it."""
    rows = {}
    for key, indexes in focus.rows.items():
        kept = scope.rows[key] if scope is not None and key in scope.rows else None
        rows[key] = indexes if kept is None else np.intersect1d(indexes, kept)
    rows = {key: indexes for key, indexes in rows.items() if len(indexes)}
    return Within(rows, sum(map(len, rows.values())))
