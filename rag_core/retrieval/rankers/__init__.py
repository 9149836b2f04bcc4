"""Rankers by name, and which of them each mode of search asks."""

from rag_core.retrieval.rankers.base import Ranked, Ranker, Sources
from rag_core.retrieval.rankers.clusters import ClustersRanker
from rag_core.retrieval.rankers.dense import DenseRanker
from rag_core.retrieval.rankers.lexical import LexicalRanker
from rag_core.retrieval.rankers.scaler import ScalerRanker

__all__ = ["MODES", "RANKERS", "Ranked", "Ranker", "Sources"]

RANKERS: dict[str, type[Ranker]] = {
    ranker.name: ranker for ranker in (DenseRanker, LexicalRanker, ClustersRanker, ScalerRanker)
}
MODES: dict[str, tuple[str, ...]] = {
    "dense": ("dense",),
    "lexical": ("lexical",),
    "hybrid": ("dense", "lexical"),
    "clusters": ("dense", "lexical", "clusters"),
    "scaler": ("scaler",),
}
