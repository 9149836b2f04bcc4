"""Documents in two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from rag_core import Library, Settings, Upload
from rag_core.domain import CorpusMap, Scope
from rag_core.insights.mapping import project
from tests.rag_core.services.test_clustering import TEXTS


def test_clusters_stand_apart_and_the_same_input_gives_the_same_map() -> None:
    random = np.random.default_rng(5)
    clusters = np.repeat(np.arange(3), 20)
    centres = random.normal(size=(3, 64))
    vectors = centres[clusters] + random.normal(scale=1.5, size=(60, 64))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    points = project(vectors, clusters)
    assert np.array_equal(points, project(vectors, clusters))
    assert np.abs(points).max() == 1.0
    means = np.stack([points[clusters == cluster].mean(axis=0) for cluster in range(3)])
    nearest = np.linalg.norm(points[:, None] - means, axis=2).argmin(axis=1)
    assert (nearest == clusters).mean() > 0.9


def test_few_documents_have_places_too() -> None:
    assert project(np.empty((0,), dtype=np.float32), np.empty(0, dtype=np.intp)).shape == (0, 2)
    assert project(np.ones((1, 8), dtype=np.float32), np.array([-1])).tolist() == [[0.0, 0.0]]
    alike = project(np.ones((2, 8), dtype=np.float32), np.array([0, 0]))
    assert np.isfinite(alike).all()


def test_the_map_of_a_library_follows_its_tree(tmp_path: Path, new_database: Callable[[], str]) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    with Library.open(settings) as library:
        texts = [(f"{name} {n}.txt", text.format(n=n)) for name, text in TEXTS.items() for n in range(4)]
        list(library.add([Upload(name, text.encode()) for name, text in texts]))
        assert library.insights.corpus_map() == CorpusMap(waiting=8)
        list(library.clusters.update())
        corpus, tree = library.insights.corpus_map(), library.clusters.tree()
        assert corpus.clusters == tuple(cluster.terms for cluster in tree.clusters)
        for place in corpus.places:
            assert place.cluster is not None
            assert place.document_id in tree.clusters[place.cluster].documents
        one = corpus.places[3]
        assert library.insights.corpus_map(Scope(documents=(one.document_id,))).places == (one,)
        drawing = library.insights.map_drawing(corpus, chosen=0)
        assert len(drawing.rows) == 8
