"""Rows in clusters: told apart, as many as there are, the same every time, bounded in time."""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np
import pytest

from rag_core.errors import ConfigurationError
from rag_core.retrieval.hierarchy.clustering import Clusters, Plan, cluster, numbers, unit
from rag_core.retrieval.hierarchy.reducing import dimensions_for


def blobs(number: int, each: int, *, spread: float = 0.03, dimensions: int = 32, seed: int = 1) -> np.ndarray:
    """Rows of unit length around `number` directions, one blob after the other."""
    chance = np.random.default_rng(seed)
    middles = unit(chance.standard_normal((number, dimensions)).astype(np.float32))
    rows = np.repeat(middles, each, axis=0) + spread * chance.standard_normal((number * each, dimensions))
    return unit(rows.astype(np.float32))


def labels(clusters: Clusters, rows: int) -> np.ndarray:
    """The cluster that each row belongs to most."""
    weights = np.zeros((rows, len(clusters)))
    for number, (members, held) in enumerate(zip(clusters.members, clusters.weights, strict=True)):
        weights[members, number] = held
    return weights.argmax(axis=1)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(),
        Plan(criterion="silhouette"),
        Plan(method="kmeans"),
        Plan(method="kmeans", criterion="bic"),
    ],
    ids=["mixture-bic", "mixture-silhouette", "kmeans-silhouette", "kmeans-bic"],
)
def test_blobs_are_told_apart(plan: Plan) -> None:
    found = cluster(blobs(4, 60), plan)
    assert len(found) == 4
    given = labels(found, 240).reshape(4, 60)
    assert all(len(set(row)) == 1 for row in given)
    assert len({row[0] for row in given}) == 4


@pytest.mark.parametrize("rows", [1, 2, 3, 11])
def test_few_rows_are_one_cluster(rows: int) -> None:
    found = cluster(blobs(1, rows))
    assert len(found) == 1
    assert found.members[0].tolist() == list(range(rows))
    assert found.weights[0].tolist() == [1.0] * rows


def test_equal_rows_are_one_cluster() -> None:
    assert len(cluster(np.ones((100, 8), dtype=np.float32))) == 1


def test_rows_of_zeros_harm_nothing() -> None:
    rows = blobs(2, 30)
    rows[::7] = 0
    found = cluster(rows)
    assert np.isfinite(found.centroids).all()


@pytest.mark.parametrize("method", ["mixture", "kmeans"])
def test_the_same_rows_give_the_same_clusters(method: str) -> None:
    rows = blobs(5, 40, spread=0.2)
    first, second = (cluster(rows, Plan(method=method)) for _ in range(2))  # type: ignore[arg-type]
    assert np.array_equal(first.centroids, second.centroids)
    assert all(np.array_equal(one, other) for one, other in zip(first.members, second.members, strict=True))


def test_every_row_belongs_somewhere_and_centroids_are_of_unit_length() -> None:
    rows = blobs(6, 50, spread=0.3)
    found = cluster(rows)
    assert set(np.concatenate(found.members).tolist()) == set(range(300))
    assert np.allclose(np.linalg.norm(found.centroids, axis=1), 1, atol=1e-5)
    assert [len(rows) for rows in found.members] == sorted(map(len, found.members), reverse=True)


def test_a_row_between_two_clusters_belongs_to_both() -> None:
    chance = np.random.default_rng(3)
    line = np.concatenate([chance.normal(-1, 0.35, 150), chance.normal(1, 0.35, 150), [0.0]])
    rows = np.stack([line, np.full_like(line, 5.0), chance.normal(0, 0.02, len(line))], axis=1).astype(np.float32)
    found = cluster(rows, Plan(most=2))
    assert len(found) == 2
    shared = set(found.members[0].tolist()) & set(found.members[1].tolist())
    assert len(shared) < 100
    assert all(abs(line[row]) < 0.8 for row in shared)


def test_numbers_are_spread_evenly_by_ratio() -> None:
    assert list(numbers(64)) == [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64]
    assert list(numbers(1)) == [1]


@pytest.mark.parametrize(("rows", "dimensions"), [(3, 2), (40, 5), (10_000, 16)])
def test_dimensions_grow_with_the_rows(rows: int, dimensions: int) -> None:
    assert dimensions_for(rows) == dimensions


def test_many_rows_are_bounded_in_time() -> None:
    rows = blobs(12, 1000, spread=0.05, dimensions=64)
    started = time.perf_counter()
    found = cluster(rows, Plan(most=16))
    assert time.perf_counter() - started < 60
    assert 11 <= len(found) <= 16


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_umap_says_what_to_install() -> None:
    with pytest.raises(ConfigurationError) as told:
        cluster(blobs(3, 30), Plan(reduction="umap"))
    assert "umap-learn" in told.value.help


@pytest.mark.skipif(find_spec("umap") is None, reason="umap-learn is not installed")
def test_umap_tells_blobs_apart() -> None:
    assert len(cluster(blobs(4, 60), Plan(reduction="umap"))) == 4
