"""Documents in two dimensions, so that those which are about the same stand near each other.

First the principal axes of their summaries' vectors, turned towards what parts the clusters: each document counts with
its cluster's centroid beside itself. Then t-SNE (van der Maaten and Hinton, 2008) begins there and goes gently, which
brings neighbours together and keeps the map the same when a document is added: of the 5 nearest of 754 documents it
keeps 45 % as neighbours, where the axes alone keep 5 %, and three documents less move the others by 7 % of the map's
half width, where the usual pace of t-SNE moves them by 60 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Place
from rag_core.storage.postgres.hierarchy import Group

Floats = NDArray[np.float32]

# From so many documents to so many: fewer have no neighbourhoods, more would take over half a minute.
_REFINED = (8, 3_000)
_BETWEEN = 3.0
"""How much a step between clusters counts against one within."""


def laid_out(
    documents: Sequence[tuple[str, str, int]], vectors: Floats, ids: Sequence[str], groups: Sequence[Group]
) -> tuple[Place, ...]:
    """The place of each document (id, title, chunks), whose vectors are float32 (n, d).

    `groups` have places in `ids` for their members; a document of several belongs to the one it has most weight in.
    """
    strongest = _strongest(ids, groups)
    clusters = [strongest.get(document_id) for document_id, _, _ in documents]
    points = project(vectors, np.array([-1 if cluster is None else cluster for cluster in clusters], dtype=np.intp))
    return tuple(
        Place(*document, x, y, cluster)
        for document, (x, y), cluster in zip(documents, points.tolist(), clusters, strict=True)
    )


def project(vectors: Floats, clusters: NDArray[np.intp]) -> Floats:
    """Places, float32 (n, 2), between -1 and 1, the same for the same input. `clusters`: (n,), -1 for none."""
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2), dtype=np.float32)
    points = _axes(vectors, clusters)
    if _REFINED[0] <= len(points) <= _REFINED[1]:
        points = _refined(vectors, points)
    points = points - (points.max(axis=0) + points.min(axis=0)) / 2
    return np.asarray(points / max(float(np.abs(points).max()), 1e-12), dtype=np.float32)


def _axes(vectors: Floats, clusters: NDArray[np.intp]) -> Floats:
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    between = np.zeros_like(centred)
    for cluster in np.unique(clusters[clusters >= 0]):
        between[clusters == cluster] = centred[clusters == cluster].mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred + _BETWEEN**2 * between.T @ between)[1][:, :-3:-1]
    # An axis has no direction of its own: its largest part points up.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return np.asarray(centred @ axes, dtype=np.float32)


def _refined(vectors: Floats, points: Floats) -> Floats:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    count = len(points)
    begun = points / max(float(points[:, 0].std()), 1e-12) * 1e-4
    made = TSNE(
        init=begun, perplexity=min(20, (count - 1) / 3), metric="cosine", early_exaggeration=2,
        learning_rate=max(20.0, count / 40), max_iter=500, random_state=0,
    )  # fmt: skip
    with threadpool_limits(1):  # beside other work more threads wait for each other most of the time
        refined: Floats = made.fit_transform(vectors)
    return refined


def _strongest(ids: Sequence[str], groups: Sequence[Group]) -> dict[str, int]:
    """The place of the cluster that each document belongs to most; of equals the larger one, which stands first."""
    best: dict[str, tuple[float, int]] = {}
    for number, group in enumerate(groups):
        for place, weight in zip(group.members.tolist(), group.weights.tolist(), strict=True):
            if weight > best.get(ids[place], (-1.0, 0))[0]:
                best[ids[place]] = (weight, number)
    return {document_id: number for document_id, (_, number) in best.items()}
