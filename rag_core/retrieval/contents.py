"""What a summary is made of: whole documents with their chunks, vectors and clusters, within a scope."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Document, Hit, Scope
from rag_core.embedding.pieces import unit_rows
from rag_core.retrieval.hierarchy.clustering import Clusters, Plan, cluster
from rag_core.retrieval.hierarchy.reducing import Floats
from rag_core.retrieval.hits import hit_of
from rag_core.retrieval.indexes import Indexes, told_of
from rag_core.retrieval.tables import TableCache
from rag_core.storage import Storage
from rag_core.storage.indexes.dense import Within
from rag_core.storage.postgres.pieces import pieces_of
from rag_core.tables.joins import JoinedTable
from rag_core.tables.periods import PeriodTable
from rag_core.tables.table import WholeTable

_OF_PAGE = 6  # chunks before and behind a hit that are looked at as its page
# For a document that the background has not clustered yet: seconds count, and few clusters do.
_QUICK = Plan(method="kmeans", least=12, most=8)


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """A document, or what a scope leaves of it.

    hits: its chunks in order, their scores are the cosines with the nearest centroid. vectors: float32 (hits, d).
    pieces: for each chunk the vectors of its pieces, float32 (p, d), of unit length; p may be 0.
    """

    document: Document
    hits: tuple[Hit, ...]
    vectors: Floats
    pieces: tuple[Floats, ...]
    clusters: Clusters

    def taken(self, places: Sequence[int]) -> Content:
        """Some of the chunks alone, by their places; clusters that none of them is in are left out."""
        new = {place: number for number, place in enumerate(places)}
        members, weights, centroids = [], [], []
        for rows, shares, centroid in zip(
            self.clusters.members, self.clusters.weights, self.clusters.centroids, strict=True
        ):
            kept = [number for number, row in enumerate(rows) if int(row) in new]
            if kept:
                members.append(np.array([new[int(rows[number])] for number in kept], dtype=np.int32))
                weights.append(shares[kept])
                centroids.append(centroid)
        return Content(
            document=self.document,
            hits=tuple(self.hits[place] for place in places),
            vectors=self.vectors[list(places)],
            pieces=tuple(self.pieces[place] for place in places),
            clusters=Clusters(np.stack(centroids), tuple(members), tuple(weights)),
        )


@dataclass(frozen=True, slots=True)
class Caption:
    """A figure's caption: the text, its span on the page, and the chunk that it begins in."""

    text: str
    start: int
    end: int
    hit: Hit


class Contents:
    """Reads documents as a whole. Raises StoreUnavailable."""

    def __init__(self, storage: Storage, indexes: Indexes, tables: TableCache, scope: Scope | None = None) -> None:
        self._storage = storage
        self._indexes = indexes
        self._tables = tables
        self.scope = scope or Scope()

    def documents(self, most: int) -> tuple[list[Document], int]:
        """The first documents of the scope, newest first, at most so many, and how many there are."""
        generations = self._storage.documents.ready_ids()
        within = self._within
        ids = [key for key in generations if within is None or key in within.rows]
        newest = sorted(ids, key=lambda key: -generations[key])
        return self.some(newest[:most]), len(newest)

    def meant(self, question: str) -> list[Document]:
        """The documents of the scope that a question may mean, the surest first."""
        (found,) = self._indexes.meant([question], told_of(self.scope, self._within))
        return self.some(list(found.documents))

    def some(self, ids: Sequence[str]) -> list[Document]:
        """Those of some documents that are ready and within the scope, in this order."""
        within = self._within
        ready = self._indexes.documents(set(ids))
        return [ready[key] for key in dict.fromkeys(ids) if key in ready and (within is None or key in within.rows)]

    def page_of(self, hit: Hit) -> tuple[Hit, ...]:
        """The chunks of a hit's page around it, in order, as far as they are within the scope."""
        first = max(0, hit.index - _OF_PAGE)
        found = self._indexes.rows([(hit.document.id, index) for index in range(first, hit.index + _OF_PAGE + 1)])
        within = self._within
        return tuple(
            hit_of(hit.document, row, hit.score, score_kind=hit.score_kind)
            for ref, row in sorted(found.items())
            if row.page == hit.page and (within is None or ref in within)
        )

    def holding(self, terms: Sequence[str], among: Sequence[str]) -> list[Hit]:
        """Of each of some documents of the scope the chunk that holds all of some terms best, the best first."""
        within = self._within
        found = [ref for ref in self._indexes.holding(terms, among) if within is None or ref in within]
        first = {document: (document, index) for document, index in reversed(found)}
        kept = [ref for ref in found if first[ref[0]] == ref]
        rows, documents = self._indexes.rows(kept), self._indexes.documents(first.keys())
        return [hit_of(documents[ref[0]], rows[ref], 0.0) for ref in kept if ref in rows and ref[0] in documents]

    def lacks(self, term: str) -> bool:
        """Whether no document that may tell of its words holds a term; no while some wait for the index of words."""
        seen = told_of(self.scope, self._within)
        return self._indexes.unknown([[term]])[0] or (seen is not None and not self._indexes.holds(term, seen))

    def texts_like(self, term: str) -> list[str]:
        """Texts of a few chunks of the scope's documents that hold a term spelt much alike."""
        return self._indexes.like(term, told_of(self.scope, self._within))

    def beginning(self, document: Document, most: int) -> list[Hit]:
        """The first chunks of a document, at most so many, as far as they are within the scope."""
        refs = [(document.id, number) for number in range(min(most, document.chunk_count))]
        found, within = self._indexes.rows(refs) if refs else {}, self._within
        return [hit_of(document, found[ref], 0.0) for ref in refs if ref in found and (within is None or ref in within)]

    def captions(self, documents: Sequence[Document]) -> list[Caption]:
        """The captions of the figures of some documents, in order, as far as they are within the scope."""
        spans = self._storage.documents.spans([document.id for document in documents])
        placed = [
            ((key, int(at[0])), figure)
            for key, page, figure in self._storage.documents.figures([document.id for document in documents])
            if figure.end > figure.start and key in spans and len(at := _holding(spans[key], page, figure.start))
        ]
        rows, within = self._indexes.rows(list(dict(placed))), self._within
        known = {document.id: document for document in documents}
        found = []
        for ref, figure in placed:
            if ref in rows and (within is None or ref in within):
                hit = hit_of(known[ref[0]], rows[ref], 0.0)
                end = min(figure.end, hit.end)
                text = " ".join(hit.text[figure.start - hit.start : end - hit.start].split())
                found.append(Caption(text, figure.start, end, hit))
        order = {document.id: number for number, document in enumerate(documents)}
        return sorted(found, key=lambda one: order[one.hit.document.id])

    def tables(self, document: Document) -> Sequence[WholeTable]:
        """The tables of a document; none where the scope leaves out some of it. Raises StoreUnavailable."""
        return self._tables.tables(document).tables if self._has_whole(document) else ()

    def derived_tables(self, document: Document) -> Sequence[JoinedTable | PeriodTable]:
        """Those of its tables that have keys of others, with what these say, and those of months or years, with a row
        for each. Raises StoreUnavailable."""
        return self._tables.tables(document).derived if self._has_whole(document) else ()

    def joined_with(self, document: Document, other: Document) -> Sequence[JoinedTable]:
        """The tables of a document that have keys of another's, with what these say. Raises StoreUnavailable."""
        if not (self._has_whole(document) and self._has_whole(other)):
            return ()
        one, another = (self._tables.tables(some) for some in (document, other))
        return one.joined_with(another, (document.title, other.title))

    def has_tables_made(self, document: Document) -> bool:
        """Whether the tables of a document can be asked by now; those of a long one are made in the background."""
        return self._tables.are_made(document)

    def rows_of(self, document: Document, table: WholeTable, rows: Sequence[int]) -> list[tuple[int, Hit]]:
        """Some rows of a table, each with the chunk in which it is cited; without those that no chunk holds."""
        known = self._tables.tables(document)
        at = {row: known.chunk_at(int(table.pages[row]), int(table.starts[row])) for row in rows}
        found = self._indexes.rows([(document.id, index) for index in set(at.values()) if index is not None])
        return [
            (row, hit_of(document, found[document.id, index], 0.0))
            for row, index in at.items()
            if index is not None and (document.id, index) in found
        ]

    def read(self, document: Document) -> Content | None:
        """What the scope leaves of a document; None where that is nothing."""
        refs = [(document.id, number) for number in range(document.chunk_count)]
        found = self._indexes.rows(refs) if refs else {}
        rows = [found[ref] for ref in refs if ref in found]
        if not rows:
            return None
        vectors = self._storage.dumps.vectors_at([(row.document_id, row.index) for row in rows])
        clusters = self._clusters(document.id, vectors)
        nearness = (vectors @ clusters.centroids.T).max(axis=1)
        hits = [hit_of(document, row, float(score)) for row, score in zip(rows, nearness, strict=True)]
        pieces = tuple(unit_rows(pieces_of(row.pieces, vectors.shape[1])) for row in rows)
        content = Content(document, tuple(hits), vectors, pieces, clusters)
        within = self._within
        if within is None or within.rows.get(document.id, ()) is None:
            return content
        places = [place for place, row in enumerate(rows) if (row.document_id, row.index) in within]
        return content.taken(places) if places else None

    def _has_whole(self, document: Document) -> bool:
        within = self._within
        return within is None or (document.id in within.rows and within.rows[document.id] is None)

    @cached_property
    def _within(self) -> Within | None:
        """What the scope leaves, looked up once for all that is read for a question."""
        return self._indexes.within(self.scope)

    def _clusters(self, document_id: str, vectors: Floats) -> Clusters:
        """Level one's clusters of a document's chunks; made here where there are none that fit them."""
        groups = self._storage.hierarchy.chunk_groups(document_id)
        members = tuple(group.members for group in groups)
        if not groups or not _covers(members, len(vectors)):
            return cluster(vectors, _QUICK)
        return Clusters(np.stack([group.centroid for group in groups]), members, tuple(one.weights for one in groups))


def _holding(spans: NDArray[np.int64], page: int, start: int) -> NDArray[np.intp]:
    """Which chunks, by page, begin and end (int64, n by 3), hold a place."""
    return np.flatnonzero((spans[:, 0] == page) & (spans[:, 1] <= start) & (start < spans[:, 2]))


def _covers(members: Collection[np.ndarray], count: int) -> bool:
    """Whether every row is in a cluster."""
    return len(np.unique(np.concatenate(list(members)))) == count
