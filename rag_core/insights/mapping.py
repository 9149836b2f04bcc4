"""Documents in two dimensions: principal axes of their summaries' vectors, turned towards what parts the clusters.

A projection is exact about what it shows, takes milliseconds, and hardly moves when a document is added; t-SNE and UMAP
lay all of it out anew. Plain principal axes follow what varies most, which with few dimensions often runs through the
clusters; so each document counts with its clusters' centroid beside itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Place
from rag_core.storage.postgres.hierarchy import Group

_BETWEEN = 3.0
"""How much a step between clusters counts against one within."""


def laid_out(
    documents: Sequence[tuple[str, str, int]], vectors: NDArray[np.float32], ids: Sequence[str], groups: Sequence[Group]
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


def project(vectors: NDArray[np.float32], clusters: NDArray[np.intp]) -> NDArray[np.float64]:
    """Places, float64 (n, 2), between -1 and 1, the same for the same input. `clusters`: (n,), -1 for none."""
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2))
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    between = np.zeros_like(centred)
    for cluster in np.unique(clusters[clusters >= 0]):
        between[clusters == cluster] = centred[clusters == cluster].mean(axis=0)
    spread = centred.T @ centred + _BETWEEN**2 * between.T @ between
    axes = np.linalg.eigh(spread)[1][:, :-3:-1]
    # An axis has no direction of its own: its largest part points up.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    points: NDArray[np.float64] = centred @ axes
    return points / max(float(np.abs(points).max()), 1e-12)


def _strongest(ids: Sequence[str], groups: Sequence[Group]) -> dict[str, int]:
    """The place of the cluster that each document belongs to most; of equals the larger one, which stands first."""
    best: dict[str, tuple[float, int]] = {}
    for number, group in enumerate(groups):
        for place, weight in zip(group.members.tolist(), group.weights.tolist(), strict=True):
            if weight > best.get(ids[place], (-1.0, 0))[0]:
                best[ids[place]] = (weight, number)
    return {document_id: number for document_id, (_, number) in best.items()}
