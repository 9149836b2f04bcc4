"""SCALER as its document describes it: nothing is found but inside the clusters that level one finds.

Level one compares the question with the centroids of clusters of documents, and then with those of the chunks' clusters
in them; where one document alone is searched, with the latter at once. Level two ranks the chunks inside by a new
question, which a language model writes from the question and what these clusters say, or rules where there is none.
"""

from __future__ import annotations

from dataclasses import replace

from rag_core.retrieval.hierarchy.search import Focus, SearchWidth
from rag_core.retrieval.query import Query
from rag_core.retrieval.rankers.base import Ranked
from rag_core.retrieval.rankers.clusters import ClustersRanker
from rag_core.storage.indexes.dense import Within

_EVERY = 1_000_000


class ScalerRanker(ClustersRanker):
    """The cosines of chunks inside the clusters found with the new question."""

    name = "scaler"
    width = SearchWidth(documents=_EVERY, document_clusters=3, chunk_clusters=12, expansion=0, by_summaries=False)

    def _inside(self, query: Query, focus: Focus, within: Within, k: int) -> Ranked:
        if self._sources.rewrite is None:
            return super()._inside(query, focus, within, k)
        new = self._sources.rewrite(query.text, focus)
        found = super()._inside(query, replace(focus, query=new.vector), within, k)
        return replace(found, expansion=new.text, note=new.note)
