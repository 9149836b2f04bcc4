"""Summaries and clusters kept up to date, one document at a time, without starting over.

A document that is new, was re-chunked or has vectors of another model gets a summary and clusters of its own chunks,
and joins the nearest cluster of documents. All documents are clustered again only once a fifth of them has changed.
What is committed stays: whoever stops, or is killed, goes on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rag_core.domain import Progress
from rag_core.errors import ConfigurationError, LecternError, StoreUnavailable
from rag_core.retrieval.hierarchy.clustering import Clusters, Plan, cluster, unit
from rag_core.retrieval.hierarchy.naming import count_words, name, together, weigh
from rag_core.retrieval.hierarchy.summaries import ChunkText, Write, summarise, tell_clusters
from rag_core.storage import Storage
from rag_core.storage.postgres.hierarchy import Floats, Group, HierarchyStore, StaleSummary, Summaries, Summarised
from rag_core.unexpected import stage

_log = logging.getLogger(__name__)
Run = Callable[..., Any]
"""Calls a function with arguments, here or in another process."""

_BATCH = 64
_CHANGED = 0.2
_LEAST = 3  # rows a cluster on average, of few
_MOST_CLUSTERS = 256
# Of few documents, or chunks of one, BIC says that all are of one kind, where a person tells several.
_FEW = 500


def here(function: Run, /, *arguments: object) -> Any:
    """Call a function in this process."""
    return function(*arguments)


def update(
    storage: Storage,
    plan: Plan | None = None,
    *,
    write: Write | None = None,
    made_by: str = "",
    stopped: Callable[[], bool] = lambda: False,
    run: Run = here,
) -> Iterator[Progress]:
    """Summarise and cluster what is due, telling documents done and in all. The last step is "done" or "cancelled".

    `plan` says how, `write` is a model that summarises, `made_by` names both, `run` is given what takes long; with a
    model it works in this process. Raises StoreUnavailable; what was made before is kept.
    """
    store = storage.hierarchy
    try:
        yield from _steps(store, plan or Plan(), write, made_by, stopped, here if write else run)
    finally:
        store.publish()


def _steps(
    store: HierarchyStore, plan: Plan, write: Write | None, made_by: str, stopped: Callable[[], bool], run: Run
) -> Iterator[Progress]:
    total, done, failed, after = store.missing(), 0, 0, ""
    while batch := store.due(after, _BATCH):
        for due in batch:
            yield Progress("clustering", done, max(total, done + 1))
            if stopped():
                yield Progress("cancelled", done, total, "The rest goes on from here when you like.")
                return
            made, is_whole = _describe_or_average(store, due, plan, write, run, stopped)
            failed += not is_whole
            if made is not None:
                store.put(made, made_by)
            done, after = done + 1, due.document_id
    if is_outdated(store):
        yield Progress("clustering documents", done, max(total, done))
        cluster_documents(store, plan, run)
    told = f"{failed} could not be summarised: the log says why." if failed else ""
    yield Progress("done", done, done, told)


def _describe_or_average(
    store: HierarchyStore, due: StaleSummary, plan: Plan, write: Write | None, run: Run, stopped: Callable[[], bool]
) -> tuple[Summarised | None, bool]:
    """The same as `describe`, and True; where that fails twice for a reason of the document's own, the mean of its
    vectors and all its chunks as one: it would be due for ever, and those behind it never."""
    for attempt in (1, 2):
        try:
            with stage("clustering", due.document_id):
                return describe(store, due, plan, write, run), True
        except LecternError as error:
            if isinstance(error, StoreUnavailable | ConfigurationError) or stopped():
                raise
            _log.warning("A document could not be summarised, attempt %d: %s", attempt, error)
    _, _, vectors = store.chunks(due.document_id)
    if not len(vectors):
        return None, True
    mean, rows = unit(vectors.mean(axis=0)), np.arange(len(vectors), dtype=np.int32)
    group = Group((), mean, rows, np.ones(len(rows), dtype=np.float32))
    return Summarised(due, "", False, mean, {}, [group]), False


def describe(
    store: HierarchyStore, due: StaleSummary, plan: Plan, write: Write | None = None, run: Run = here
) -> Summarised | None:
    """The summary and clusters of a document; None for one that has no chunks (any longer)."""
    texts, tokens, vectors = store.chunks(due.document_id)
    return run(_described, due, texts, tokens, vectors, plan, write) if texts else None


def _described(
    due: StaleSummary, texts: list[str], tokens: list[int], vectors: Floats, plan: Plan, write: Write | None
) -> Summarised:
    clusters = cluster(vectors, _of_chunks(plan, len(vectors)))
    classes = [count_words(texts[row] for row in rows) for rows in clusters.members]
    chunks = [ChunkText(text, count) for text, count in zip(texts, tokens, strict=True)]
    weights = weigh(classes)
    summary = summarise(chunks, vectors, clusters, weights, write)
    told = tell_clusters(chunks, vectors, clusters, weights)
    groups = [replace(group, summary=text) for group, text in zip(_groups(clusters, name(classes)), told, strict=True)]
    return Summarised(due, summary.text, summary.written, summary.vector, count_words(texts), groups)


def is_outdated(store: HierarchyStore) -> bool:
    """Whether a fifth of the documents came, went or changed since all were clustered."""
    standing = store.standing()
    changed = standing.joined + max(0, standing.built - standing.remaining)
    if not standing.built:
        return standing.documents > 0
    return changed >= max(1.0, _CHANGED * standing.built)


def cluster_documents(store: HierarchyStore, plan: Plan, run: Run = here) -> None:
    """Cluster all documents by their summaries' vectors, and name the clusters."""
    held = store.summaries()
    if not held.ids:
        store.put_document_clusters([], [])
        return
    store.put_document_clusters(held.ids, run(_grouped, held, _of_documents(plan, len(held.ids))))


def _grouped(held: Summaries, plan: Plan) -> list[Group]:
    clusters = cluster(held.vectors, plan)
    return _groups(clusters, name([together([held.words[row] for row in rows]) for rows in clusters.members]))


def _of_documents(plan: Plan, documents: int) -> Plan:
    return replace(_of_chunks(plan, documents), least=_LEAST, most=_MOST_CLUSTERS)


def _of_chunks(plan: Plan, rows: int) -> Plan:
    return replace(plan, criterion="silhouette", least=_LEAST) if rows < _FEW else plan


def _groups(clusters: Clusters, names: list[tuple[str, ...]]) -> list[Group]:
    parts = zip(names, clusters.centroids, clusters.members, clusters.weights, strict=True)
    return [Group(*part) for part in parts]
