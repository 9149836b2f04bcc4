"""Rows into small groups of neighbours: k-means by Lloyd's iterations, in two levels, over samples.

Lloyd, "Least Squares Quantization in PCM", IEEE Transactions on Information Theory 1982. Two levels make the cost grow
with the root of the count of clusters. Few iterations are enough: a search looks into hundreds of clusters, so that a
row on a border is found from either side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.intp]

_ITERATIONS = 4
_FIRST_SAMPLE = 64
_SECOND_SAMPLE = 16
_BLOCK = 16_384
# Of one cluster of the first level, however many rows are alike: products take at most some 64 megabytes.
_MOST_PARTS = 1024


def clustered(rows_of: Callable[[Numbers], Floats], count: int, rows_each: int, seed: int) -> tuple[Floats, Numbers]:
    """Clusters of about `rows_each` rows, none empty: centroids, float32 (c, w), and each row's number, (count,).

    rows_of: the rows of some numbers, float32 (m, w), asked for parts of `count` rows. Neighbouring clusters mostly
    have neighbouring numbers.
    """
    chance = np.random.default_rng(seed)
    wanted = max(1, count // rows_each)
    first_count = min(max(1, round(wanted**0.5)), _MOST_PARTS)
    sample = np.sort(chance.permutation(count)[: first_count * _FIRST_SAMPLE])
    firsts = k_means(rows_of(sample), first_count, chance)
    firsts = firsts[chained(firsts)]
    first_labels = _labels(rows_of, np.arange(count), firsts)
    labels = np.empty(count, dtype=np.intp)
    found: list[Floats] = []
    total = 0
    for number in range(first_count):
        members = np.flatnonzero(first_labels == number)
        if len(members):
            part = min(max(1, len(members) // rows_each), _MOST_PARTS)
            sample = np.sort(chance.permutation(members)[: part * _SECOND_SAMPLE])
            centroids = k_means(rows_of(sample), part, chance)
            centroids = centroids[chained(centroids)]
            labels[members] = total + _labels(rows_of, members, centroids)
            found.append(centroids)
            total += part
    filled = np.bincount(labels, minlength=total) > 0
    return np.concatenate(found)[filled], (np.cumsum(filled) - 1)[labels]


def k_means(rows: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Centroids, float32 (count, w), of rows, float32 (n, w), with n at least count."""
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


def nearest(rows: Floats, centroids: Floats) -> Numbers:
    """The number of the centroid nearest to each row, (n,)."""
    products = rows @ centroids.T
    products -= np.einsum("cw,cw->c", centroids, centroids) / 2
    found: Numbers = products.argmax(axis=1)
    return found


def chained(centroids: Floats) -> Numbers:
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


def _labels(rows_of: Callable[[Numbers], Floats], wanted: Numbers, centroids: Floats) -> Numbers:
    parts = (wanted[start : start + _BLOCK] for start in range(0, len(wanted), _BLOCK))
    return np.concatenate([nearest(rows_of(part), centroids) for part in parts])
