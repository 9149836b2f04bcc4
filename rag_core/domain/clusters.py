"""The two levels of a library as a person walks them: clusters of documents, and clusters of a document's chunks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChunkCluster:
    """Chunks of a document that are about the same: the words that name them, and their indexes in order."""

    terms: tuple[str, ...]
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DocumentCluster:
    """Documents that are about the same: the words that name them, and their ids, the most typical first."""

    terms: tuple[str, ...]
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterTree:
    """Clusters of documents, the largest first. A document may be in several. `waiting` are ready and in none yet."""

    clusters: tuple[DocumentCluster, ...] = ()
    waiting: int = 0
