"""Summaries and clusters in Chroma follow those in PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Profile
from rag_core.storage.indexes import chroma_client
from rag_core.storage.indexes.chroma_index import ChromaIndex

TEXTS = {
    "ferry": "The ferry of hour {n} crosses the strait with cars when the wind allows its captain to sail.",
    "bread": "The baker of street {n} kneads dough with flour and yeast before the oven is hot for bread.",
}


@pytest.fixture
def settings(tmp_path: Path, new_database: Callable[[], str]) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())


@pytest.fixture
def clustered(settings: Settings) -> Iterator[Library]:
    with Library.open(settings) as library:
        uploads = [
            Upload(f"{subject} {number}.txt", text.format(n=number).encode())
            for subject, text in TEXTS.items()
            for number in range(3)
        ]
        list(library.add(uploads))
        library.storage.settle()
        assert held(library) == {}
        list(library.clusters.update())
        library.storage.settle()
        yield library


def call(library: Library, function: Callable[..., Any], *arguments: object) -> Any:
    """What a function makes of the collection of summaries and clusters, in the process that has it open."""
    store = library.storage.index(ChromaIndex).store
    return store._call(function, library.storage.documents.profile(), *arguments)


def read(place: chroma_client.ChromaPlace, profile: Profile) -> dict[str, tuple[str, np.ndarray[Any, Any]]]:
    rows = chroma_client._hierarchy(place, profile).get(include=["documents", "embeddings"])
    return dict(zip(rows["ids"], zip(rows["documents"], rows["embeddings"], strict=True), strict=True))


def spoil(place: chroma_client.ChromaPlace, profile: Profile) -> None:
    collection = chroma_client._hierarchy(place, profile)
    first, second, *_ = collection.get(include=[])["ids"]
    collection.delete(ids=[first])
    collection.update(ids=[second], metadatas=[{"digest": "other"}])
    collection.add(ids=["summary:gone:0"], embeddings=[np.ones(profile.dimensions)], documents=["gone"])


def held(library: Library) -> dict[str, tuple[str, np.ndarray[Any, Any]]]:
    """Text and vector of every row."""
    rows: dict[str, tuple[str, np.ndarray[Any, Any]]] = call(library, read)
    return rows


def wanted(library: Library) -> dict[str, tuple[str, np.ndarray[Any, Any]]]:
    """The same as PostgreSQL has it."""
    store, kept = library.storage.hierarchy, library.storage.hierarchy.held()
    ids = kept.summaries.ids
    rows = {f"summary:{key}:0": (store.summary(key), kept.summaries.vectors[n]) for n, key in enumerate(ids)}
    for key in ids:
        groups = store.chunk_groups(key)
        rows |= {f"chunks:{key}:{n}": (", ".join(group.terms), group.centroid) for n, group in enumerate(groups)}
    return rows | {f"documents::{n}": (", ".join(g.terms), g.centroid) for n, g in enumerate(kept.documents)}


def agree(library: Library) -> bool:
    ours, theirs = held(library), wanted(library)
    # Clusters of documents are numbered as they were made, and read the largest first.
    texts = [sorted(text for text, _ in rows.values()) for rows in (ours, theirs)]
    close = all(
        ours[key][0] == text and np.allclose(ours[key][1], vector, atol=1e-5)
        for key, (text, vector) in theirs.items()
        if key in ours and not key.startswith("documents")
    )
    return ours.keys() == theirs.keys() and texts[0] == texts[1] and close


def test_it_has_every_summary_and_cluster_and_lets_them_go(clustered: Library) -> None:
    assert sum(key.startswith("summary:") for key in held(clustered)) == 6
    assert any(key.startswith("documents:") for key in held(clustered))
    assert agree(clustered)
    gone = clustered.documents()[0].id
    clustered.remove(gone)
    clustered.storage.settle()
    assert not any(gone in key for key in held(clustered))
    list(clustered.add([Upload("new.txt", b"A train of the mountain line stops at the lake.")]))
    list(clustered.clusters.update(anew=True))
    clustered.storage.settle()
    assert agree(clustered)
    assert clustered.maintenance.verify(deep=True).findings == ()


def test_nothing_is_read_again_where_nothing_changed(clustered: Library, settings: Settings) -> None:
    index = clustered.storage.index(ChromaIndex)
    clustered.storage.index(ChromaIndex).store.rest()
    index.tidy()
    assert not clustered.storage.index(ChromaIndex).store._process.runs
    seen = (settings.data_dir / "chroma" / "hierarchy.seen").read_text()
    list(clustered.clusters.update(anew=True))
    index.tidy()
    assert (settings.data_dir / "chroma" / "hierarchy.seen").read_text() != seen


def test_damage_is_found_and_repaired(clustered: Library) -> None:
    call(clustered, spoil)
    (finding,) = clustered.maintenance.verify().findings
    assert (finding.store, finding.repairable) == ("Chroma", True)
    assert "Summaries" in finding.message
    assert clustered.maintenance.repair().findings == ()
    assert agree(clustered)


def test_what_it_has_yet_to_follow_is_no_damage(clustered: Library) -> None:
    clustered.storage.hierarchy.clear()
    assert clustered.maintenance.verify().findings == ()
    clustered.storage.settle()
    assert held(clustered) == {}


def test_it_comes_back_with_a_lost_index(clustered: Library, settings: Settings) -> None:
    before = set(held(clustered))
    clustered.storage.index(ChromaIndex).rebuild("a test")
    clustered.storage.settle()
    assert set(held(clustered)) == before
    clustered.close()
    shutil.rmtree(settings.data_dir / "chroma")
    with Library.open(settings) as again:
        again.storage.settle()
        assert set(held(again)) == before
        assert agree(again)


def test_rows_near_their_mean_are_all_found(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    mean, apart = np.eye(1, 384), chance.standard_normal((2000, 384)) / 384**0.5
    vectors = (mean + apart / chance.integers(2, 50, (2000, 1)) ** 0.5).astype(np.float32)
    place, profile = chroma_client.ChromaPlace(tmp_path), Profile("test", "test", "1", 384, "mean", "float32")
    ids = [str(row) for row in range(2000)]
    chroma_client.change_hierarchy(place, profile, [], ids, [{"number": 0}] * 2000, [""] * 2000, list(vectors))
    found = chroma_client._hierarchy(place, profile).query(query_embeddings=vectors, n_results=1)["ids"]
    assert sum(row != nearest for row, (nearest, *_) in zip(ids, found, strict=True)) < 2000 / 8
    chroma_client.close(place)
