"""Rows into groups of neighbours: k-means by Lloyd's iterations over a sample.

Lloyd, "Least Squares Quantization in PCM", IEEE Transactions on Information Theory 1982. Few iterations are enough: a
search looks into many clusters, so that a row on a border is found from either side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ITERATIONS = 8


def k_means(rows: NDArray[np.float32], count: int, seed: int = 0) -> NDArray[np.float32]:
    """Centroids, float32 (count, w), of rows, float32 (n, w), with n at least count. The same seed gives the same."""
    chance = np.random.default_rng(seed)
    centroids = rows[chance.choice(len(rows), count, replace=False)]
    for _ in range(_ITERATIONS):
        labels = nearest(rows, centroids)
        sizes = np.bincount(labels, minlength=count)
        order = np.argsort(labels, kind="stable")
        filled = np.flatnonzero(sizes)
        starts = np.concatenate(([0], np.cumsum(sizes)))[filled]
        centroids = rows[chance.integers(0, len(rows), count)]  # an empty cluster begins again at some row
        centroids[filled] = np.add.reduceat(rows[order], starts, axis=0) / sizes[filled, None]
    return centroids


def nearest(rows: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.intp]:
    """The number of the centroid nearest to each row, (n,)."""
    products = rows @ centroids.T
    products -= np.einsum("cw,cw->c", centroids, centroids) / 2
    found: NDArray[np.intp] = products.argmax(axis=1)
    return found


def chained(centroids: NDArray[np.float32]) -> NDArray[np.intp]:
    """An order, (count,), in which neighbours mostly follow each other: each next one is the nearest left."""
    products = centroids @ centroids.T
    squares = np.diagonal(products)
    distances = squares[:, None] + squares[None, :] - 2 * products
    order = np.empty(len(centroids), dtype=np.intp)
    place = 0
    for number in range(len(centroids)):
        order[number] = place
        distances[:, place] = np.inf
        place = int(distances[place].argmin())
    return order
