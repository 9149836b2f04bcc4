"""A search in two levels: what documents and clusters are about first, then the chunks inside what was found.

Level one compares the question with the centroids of clusters of documents and with the summaries, and then with the
centroids of the chunks' clusters of the documents found. Level two ranks the chunks of these clusters alone, with a
question moved towards their centroids (Rocchio 1971): one vector for all chunks, so that their cosines are of one kind
and can be compared. The seed embeds a question for each cluster and sorts distances from different questions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.retrieval.hierarchy.clustering import unit
from rag_core.retrieval.hierarchy.reducing import Floats
from rag_core.storage.postgres.hierarchy import Group, Held

_TOLD_TERMS = 4
_NO_WEIGHTS = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class SearchWidth:
    """How far level one looks. `documents` by their summaries, where `by_summaries`, and as many from each of
    `document_clusters`; `chunk_clusters` of theirs; the question moves by `expansion` towards the `guides` nearest of
    these."""

    documents: int = 16
    document_clusters: int = 3
    chunk_clusters: int = 24
    guides: int = 3
    expansion: float = 0.3
    by_summaries: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Focus:
    """What level one found: the indexes of chunks to look at, int64, in order, by document; the question as it is asked
    there, float32 (d,), of unit length; and the words that name the clusters nearest to it, and what these say."""

    rows: Mapping[str, NDArray[np.intp]]
    query: Floats
    terms: tuple[str, ...]
    summaries: tuple[str, ...] = ()


class Hierarchy:
    """The two levels in memory. Does not change: one is made after each update. Thread-safe."""

    def __init__(self, held: Held) -> None:
        self._ids = held.summaries.ids
        self._places = {key: place for place, key in enumerate(self._ids)}
        self._summaries = held.summaries.vectors
        self._documents = held.documents
        self._document_centroids = _stacked([group.centroid for group in held.documents])
        self._owners = np.array([place for place, _ in held.chunks], dtype=np.intp)
        self._groups = [group for _, group in held.chunks]
        self._centroids = _stacked([group.centroid for group in self._groups])

    def __len__(self) -> int:
        """How many documents it holds."""
        return len(self._ids)

    @property
    def dimensions(self) -> int:
        """Of its vectors; 0 where it holds none."""
        return int(self._summaries.shape[1])

    def focus(self, query: Floats, reach: SearchWidth | None = None, allowed: Collection[str] | None = None) -> Focus:
        """Where to look for a question, float32 (d,), of unit length. allowed: ids of the only documents to look at.

        Empty where nothing is held or allowed; what is not held is for the flat search to find.
        """
        reach = reach or SearchWidth()
        if len(query) != self.dimensions:  # of another model, whose hierarchy is not made yet
            return Focus({}, query, ())
        documents = self._nearest_documents(query, reach, self._allowed(allowed))
        clusters = self._nearest_clusters(query, documents, reach.chunk_clusters)
        if not len(clusters):
            return Focus({}, query, ())
        guides = clusters[: reach.guides]
        moved = unit(query + np.float32(reach.expansion) * unit(self._centroids[guides].mean(axis=0)))
        groups = [self._groups[number] for number in guides]
        return Focus(self._rows(clusters), moved, _told(groups), tuple(group.summary for group in groups))

    def _allowed(self, ids: Collection[str] | None) -> NDArray[np.bool_] | None:
        if ids is None:
            return None
        allowed = np.zeros(len(self._ids), dtype=np.bool_)
        allowed[[self._places[key] for key in ids if key in self._places]] = True
        return allowed

    def _nearest_documents(
        self, query: Floats, reach: SearchWidth, allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_]:
        """Those of the nearest summaries, and the nearest of each of the nearest clusters: bool (documents,)."""
        found = np.zeros(len(self._ids), dtype=np.bool_)
        if not len(self._ids):
            return found
        scores = self._summaries @ query
        clusters = self._document_centroids @ query if self._documents else _NO_WEIGHTS
        if allowed is not None:
            scores[~allowed] = -np.inf
            clusters[[not allowed[group.members].any() for group in self._documents]] = -np.inf
        if reach.by_summaries:
            found[_best(scores, reach.documents)] = True
        if self._documents:
            for number in _best(clusters, reach.document_clusters):
                members = self._documents[number].members
                found[members[_best(scores[members], reach.documents)]] = True
        return found

    def _nearest_clusters(self, query: Floats, documents: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
        """The clusters of these documents' chunks, nearest first."""
        if not len(self._owners):
            return np.empty(0, dtype=np.intp)
        within = np.flatnonzero(documents[self._owners])
        return within[_best(self._centroids[within] @ query, most)]

    def _rows(self, clusters: Sequence[int] | NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
        parts: dict[str, list[NDArray[np.int32]]] = {}
        for number in clusters:
            parts.setdefault(self._ids[self._owners[number]], []).append(self._groups[number].members)
        return {key: np.unique(np.concatenate(part)).astype(np.intp) for key, part in parts.items()}


def _best(scores: Floats, most: int) -> NDArray[np.intp]:
    """Places of the greatest scores, greatest first, ties in order; none that is minus infinity."""
    places = np.sort(np.argpartition(-scores, most - 1)[:most]) if len(scores) > most else np.arange(len(scores))
    places = places[np.argsort(-scores[places], kind="stable")]
    return places[scores[places] > -np.inf]


def _stacked(vectors: Sequence[Floats]) -> Floats:
    return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)


def _told(groups: Sequence[Group]) -> tuple[str, ...]:
    """The words that name clusters, the best of each first."""
    words = [group.terms[:_TOLD_TERMS] for group in groups]
    return tuple(dict.fromkeys(word for some in words for word in some))
