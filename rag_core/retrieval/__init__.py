"""A question to hits: query, rankers, fusion, re-rankers, MMR."""

from rag_core.domain import Retrieval
from rag_core.retrieval.indexes import Indexes
from rag_core.retrieval.pipeline import Pipeline
from rag_core.retrieval.plan import for_passages, for_search
from rag_core.retrieval.query import Query
from rag_core.retrieval.reranking import Rerankers

__all__ = ["Indexes", "Pipeline", "Query", "Rerankers", "Retrieval", "for_passages", "for_search"]
