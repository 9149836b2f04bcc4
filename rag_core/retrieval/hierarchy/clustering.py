"""Rows in clusters: k-means or Gaussian mixtures over fewer dimensions, as many as BIC or the silhouette says.

Time and memory are bounded: axes and numbers are found on a sample, k-means of many rows goes by small batches (Sculley
2010), mixtures are fitted to the sample and then asked for every row. Seeds are fixed: equal rows give equal clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rag_core.retrieval.hierarchy.reducing import Floats, Reduction, reduce

Method = Literal["mixture", "kmeans"]
Criterion = Literal["bic", "silhouette"]

_SAMPLE = 4_000
_SILHOUETTE_ROWS = 1_000
_STEP = 2**0.5
_PATIENCE = 2  # numbers that may be worse, one after the other, before the search for the best one ends
_LEAST_WEIGHT = 0.1
_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class Plan:
    """How rows are clustered. `least` rows a cluster on average, so that a cluster is more than a row and its double.

    A criterion of None is BIC for mixtures and the silhouette for k-means.
    """

    method: Method = "mixture"
    reduction: Reduction = "pca"
    criterion: Criterion | None = None
    least: int = 6
    most: int = 64
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clusters of rows, the largest first.

    centroids: float32 (k, d), of unit length. members: for each cluster the numbers of its rows, int32, in order;
    weights: how much each belongs to it, float32, 0.1 to 1; a row may belong to several.
    """

    centroids: Floats
    members: tuple[NDArray[np.int32], ...]
    weights: tuple[Floats, ...]

    def __len__(self) -> int:
        return len(self.members)


def cluster(vectors: Floats, plan: Plan | None = None) -> Clusters:
    """Clusters of rows, float32 (n, d), n at least 1: one where there are too few rows to tell more apart."""
    plan = plan or Plan()
    most = min(plan.most, len(vectors) // plan.least)
    if most < 2 or not np.ptp(vectors, axis=0).any():
        return _collected(vectors, np.ones((len(vectors), 1), dtype=np.float32))
    from threadpoolctl import threadpool_limits

    # One thread: this runs behind people's backs, and sums of several threads differ from run to run.
    with threadpool_limits(1):
        sample = np.random.default_rng(plan.seed).permutation(len(vectors))[:_SAMPLE]
        sample.sort()
        reduced = reduce(vectors, sample, plan.reduction, plan.seed)
        model = _best(reduced[sample], most, plan)
        return _collected(vectors, _memberships(model, reduced, plan))


def numbers(most: int) -> Iterator[int]:
    """The numbers of clusters that are tried, up to `most`: 1, 2, 3, 4, 6, 8, 11, 16, ..."""
    last, number = 0, 1.0
    while round(number) <= most:
        if round(number) > last:
            last = round(number)
            yield last
        number *= _STEP


def _best(rows: Floats, most: int, plan: Plan) -> Any:
    """The model of the best number of clusters, fitted to a sample of reduced rows."""
    best: Any = None
    least_cost, worse = np.inf, 0
    for number in numbers(most):
        model = _fitted(rows, number, plan)
        cost = _cost(model, rows, number, plan)
        if best is None or cost < least_cost:
            best, least_cost, worse = model, cost, 0
        else:
            worse += 1
            if worse > _PATIENCE:
                break
    return best


def _fitted(rows: Floats, number: int, plan: Plan) -> Any:
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.mixture import GaussianMixture

    if plan.method == "mixture":
        # Round clusters of k-means to begin with; a floor under the variances, or two equal rows would be a cluster.
        floor = 0.01 * float(rows.var(axis=0).mean())
        model = GaussianMixture(number, covariance_type="diag", reg_covar=floor, random_state=plan.seed)
    elif len(rows) < _SAMPLE:
        model = KMeans(number, n_init=4, random_state=plan.seed)
    else:
        model = MiniBatchKMeans(number, n_init=4, batch_size=1024, random_state=plan.seed)
    return model.fit(rows.astype(np.float64))


def _cost(model: Any, rows: Floats, number: int, plan: Plan) -> float:
    """What is to be least: BIC (Schwarz 1978), or the silhouette (Rousseeuw 1987) with its sign turned."""
    criterion = plan.criterion or ("bic" if plan.method == "mixture" else "silhouette")
    if criterion == "silhouette":
        return -_silhouette(model.predict(rows.astype(np.float64)), rows, plan.seed)
    if plan.method == "mixture":
        return float(model.bic(rows.astype(np.float64)))
    return _kmeans_bic(float(model.inertia_), rows.shape, number)


def _silhouette(labels: NDArray[np.intp], rows: Floats, seed: int) -> float:
    """-1..1, of some rows where there are many; 0 for a single cluster."""
    from sklearn.metrics import silhouette_score

    chosen = np.random.default_rng(seed).permutation(len(rows))[:_SILHOUETTE_ROWS]
    if not 1 < len(np.unique(labels[chosen])) < len(chosen):
        return 0.0
    return float(silhouette_score(rows[chosen], labels[chosen]))


def _kmeans_bic(inertia: float, shape: tuple[int, ...], number: int) -> float:
    """BIC of k-means as a mixture of equal, round Gaussians (Pelleg and Moore, X-means, 2000), sizes left out."""
    rows, dimensions = shape
    variance = max(inertia / (rows * dimensions), np.finfo(np.float64).tiny)
    likelihood = -0.5 * rows * dimensions * (np.log(2 * np.pi * variance) + 1)
    parameters = number * (dimensions + 1)
    return float(parameters * np.log(rows) - 2 * likelihood)


def _memberships(model: Any, reduced: Floats, plan: Plan) -> Floats:
    """How much each row belongs to each cluster: float32 (n, k), rows that sum to 1; 0 or 1 for k-means."""
    parts = []
    for start in range(0, len(reduced), _BLOCK):
        rows = reduced[start : start + _BLOCK].astype(np.float64)
        if plan.method == "mixture":
            parts.append(model.predict_proba(rows).astype(np.float32))
        else:
            parts.append(np.eye(len(model.cluster_centers_), dtype=np.float32)[model.predict(rows)])
    return np.concatenate(parts)


def _collected(vectors: Floats, weights: Floats) -> Clusters:
    """Clusters from memberships, float32 (n, k). A row stays in the cluster that it belongs to most."""
    found = []
    strongest = weights.argmax(axis=1)
    for number in range(weights.shape[1]):
        held = (weights[:, number] >= _LEAST_WEIGHT) | (strongest == number)
        if (strongest == number).any():
            rows = np.flatnonzero(held).astype(np.int32)
            found.append((rows, weights[rows, number]))
    found.sort(key=lambda one: (-len(one[0]), int(one[0][0])))
    centroids = np.stack([unit(share @ vectors[rows]) for rows, share in found])
    return Clusters(centroids, tuple(rows for rows, _ in found), tuple(share for _, share in found))


def unit(vector: Floats) -> Floats:
    """Of length 1, float32; a vector of zeros stays one. vector: (d,) or rows (n, d)."""
    lengths = np.linalg.norm(vector, axis=-1, keepdims=True)
    shortened: Floats = (vector / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    return shortened
