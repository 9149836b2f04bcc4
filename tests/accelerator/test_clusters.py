"""Rows into groups of neighbours: none empty, whatever the rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from accelerator.clusters import chained, clustered, k_means, nearest
from tests.accelerator.conftest import unit_rows


def of(rows: np.ndarray, rows_each: int = 32, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return clustered(lambda wanted: rows[wanted], len(rows), rows_each, seed)


def grouped_rows(groups: int, each: int, dimensions: int = 16) -> np.ndarray:
    middles = unit_rows(groups, dimensions, seed=2)
    noise = 0.01 * np.random.default_rng(3).standard_normal((groups * each, dimensions))
    return (np.repeat(middles, each, axis=0) + noise).astype(np.float32)


def kinds() -> dict[str, np.ndarray]:
    few = np.repeat(unit_rows(3, 16), [1, 2000, 7], axis=0)
    return {
        "one": unit_rows(1, 16), "three": unit_rows(3, 16), "fewer than a cluster": unit_rows(31, 16),
        "random": unit_rows(5000, 16), "grouped": grouped_rows(60, 50), "equal": np.ones((3000, 16), dtype=np.float32),
        "zeros": np.zeros((500, 16), dtype=np.float32), "three different": few, "one dimension": unit_rows(999, 1),
    }  # fmt: skip


@pytest.mark.parametrize("kind", kinds())
def test_every_row_has_a_cluster_and_every_cluster_a_row(kind: str) -> None:
    rows = kinds()[kind]
    centroids, labels = of(rows)
    assert centroids.dtype == np.float32
    assert centroids.shape[1] == rows.shape[1]
    assert np.isfinite(centroids).all()
    assert labels.shape == (len(rows),)
    assert (np.bincount(labels, minlength=len(centroids)) > 0).all()
    assert labels.max() == len(centroids) - 1


def test_clusters_have_about_the_rows_that_were_wanted() -> None:
    _, labels = of(unit_rows(10_000, 16))
    sizes = np.bincount(labels)
    assert 20 < sizes.mean() < 60
    assert sizes.max() < 500


def test_rows_that_lie_together_share_a_cluster() -> None:
    rows = grouped_rows(60, 50)
    centroids, labels = of(rows)
    own = np.linalg.norm(rows - centroids[labels], axis=1)
    assert np.median(own) < 0.06
    assert np.mean(own < 0.3) > 0.75


def test_the_same_rows_give_the_same_clusters() -> None:
    rows = unit_rows(3000, 16)
    for first, second in zip(of(rows), of(rows), strict=True):
        np.testing.assert_array_equal(first, second)


def test_memory_is_bounded_however_alike_the_rows_are() -> None:
    rows = np.ones((65_536, 4), dtype=np.float32)
    tracemalloc.start()
    of(rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6


def test_nearest_is_what_comparing_all_says() -> None:
    rows, centroids = unit_rows(400, 8), 3 * unit_rows(30, 8, seed=5)
    distances = np.linalg.norm(rows[:, None].astype(np.float64) - centroids[None], axis=2)
    np.testing.assert_array_equal(nearest(rows, centroids), distances.argmin(axis=1))


@pytest.mark.parametrize("count", [1, 7, 40])
def test_centroids_are_as_many_as_asked_for(count: int) -> None:
    rows = unit_rows(40, 8)
    found = k_means(rows, count, np.random.default_rng(0))
    assert found.shape == (count, 8)
    before = np.linalg.norm(rows - rows.mean(axis=0), axis=1).mean()
    assert np.linalg.norm(rows - found[nearest(rows, found)], axis=1).mean() <= before + 1e-6


@pytest.mark.parametrize("centroids", [unit_rows(1, 4), unit_rows(50, 4), np.ones((9, 4), dtype=np.float32)])
def test_a_chain_goes_through_all_and_mostly_to_neighbours(centroids: np.ndarray) -> None:
    order = chained(centroids)
    assert sorted(order.tolist()) == list(range(len(centroids)))
    steps = np.linalg.norm(np.diff(centroids[order], axis=0), axis=1)
    assert steps.sum() <= np.linalg.norm(np.diff(centroids, axis=0), axis=1).sum()
