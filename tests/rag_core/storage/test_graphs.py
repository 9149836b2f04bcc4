"""The graphs of vectors outside this process: kept where they are asked for, compared, repaired, made anew."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from rag_core import Library, Settings, Upload
from rag_core.errors import ConfigurationError
from rag_core.storage.indexes import milvus_index
from rag_core.storage.indexes.base import IndexUnavailable
from rag_core.storage.indexes.graph_index import GraphIndex
from rag_core.storage.indexes.hnsw_index import HnswIndex
from rag_core.storage.indexes.milvus_index import MilvusIndex
from tests.rag_core.api.servers import exports, section
from tests.rag_core.samples import TEXTS


@pytest.fixture(params=["hnsw", "milvus"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(request: pytest.FixtureRequest, engine: str, settings: Settings) -> Settings:
    if engine == "milvus":
        settings = settings.changed("storage", milvus=request.getfixturevalue("new_milvus")())
    return settings.changed("retrieval", index=engine)


@pytest.fixture
def library(settings: Settings) -> Iterator[Library]:
    with Library.open(settings) as library:
        assert all(event.error is None for event in library.add(Upload(n, t.encode()) for n, t in TEXTS.items()))
        library.storage.settle()
        yield library


def index_of(library: Library) -> GraphIndex:
    return library.storage.index(HnswIndex if library.settings.retrieval.index == "hnsw" else MilvusIndex)


def faults_of(library: Library) -> list[tuple[str, bool]]:
    return [(finding.store, finding.repairable) for finding in library.maintenance.verify(deep=True).findings]


def test_it_answers_and_is_told_of(library: Library) -> None:
    found = library.retrieve("rye bread", k=3)
    assert found.trace.engine == library.settings.retrieval.index
    assert not found.trace.notes
    status = library.maintenance.status()
    assert index_of(library).count() == status.chunks
    told = {"hnsw": f"pgvector's graph of {status.chunks} chunks", "milvus": "Milvus at 127.0.0.1"}
    assert status.indexes[found.trace.engine] == told[found.trace.engine]
    assert faults_of(library) == []


def lose_a_chunk(library: Library) -> None:
    index = index_of(library)
    if isinstance(index, MilvusIndex):
        index.collection("delete", ids=[min(row["id"] for row in rows_of(index))])
    else:
        library.storage.database.execute("DELETE FROM hnsw_chunks WHERE index = 0")


def keep_one_of_a_document_that_is_gone(library: Library) -> None:
    index = index_of(library)
    if isinstance(index, MilvusIndex):
        index.collection("upsert", data=[{**rows_of(index)[0], "id": "gone:0", "document": "gone"}])
    else:
        library.storage.database.execute("INSERT INTO hnsw_chunks SELECT 'gone', 0, vector FROM hnsw_chunks LIMIT 1")


def take_one_vector_from_all(library: Library) -> None:
    index = index_of(library)
    if isinstance(index, MilvusIndex):
        rows = rows_of(index)
        off = np.array(rows[0]["vector"])
        index.collection("upsert", data=[{**row, "vector": np.array(row["vector"]) - off + 1e-3} for row in rows])
    else:
        library.storage.database.execute(
            "UPDATE hnsw_chunks SET vector = (vector::text::vector - (SELECT vector FROM hnsw_chunks LIMIT 1))"
        )


def lose_all(library: Library) -> None:
    index = index_of(library)
    if isinstance(index, MilvusIndex):
        index.collection("drop_collection")
    else:
        library.storage.database.execute("DROP TABLE hnsw_chunks")


def rows_of(index: MilvusIndex) -> list[dict[str, Any]]:
    return list(index.collection("query", filter="id != ''", output_fields=["id", "document", "vector"]))


@pytest.mark.parametrize(
    "damage", [lose_a_chunk, keep_one_of_a_document_that_is_gone, take_one_vector_from_all, lose_all]
)
def test_damages_are_found_and_repaired(library: Library, damage: Callable[[Library], None]) -> None:
    damage(library)
    found = faults_of(library)
    # A collection that is gone may have been made anew meanwhile.
    assert found or (damage is lose_all and isinstance(index_of(library), MilvusIndex))
    assert set(found) <= {(index_of(library).label, True)}
    assert library.maintenance.repair().findings == ()
    library.storage.settle()
    assert faults_of(library) == []


def test_removed_documents_are_let_go(library: Library) -> None:
    document = library.documents()[0]
    library.remove(document.id)
    library.storage.settle()
    assert index_of(library).count() == library.maintenance.status().chunks
    assert faults_of(library) == []


def test_a_library_that_does_not_keep_it_says_so(engine: str, settings: Settings, library: Library) -> None:
    library.close()
    with Library.open(settings.changed("retrieval", index="auto").changed("storage", milvus="")) as other:
        found = other.retrieve("rye bread", index=engine)
        assert found.trace.engine == "dumps"
        assert any(f"does not keep {engine}" in note for note in found.trace.notes)
        assert engine not in other.maintenance.status().indexes
    with Library.open(settings) as again:
        again.storage.settle()
        assert again.retrieve("rye bread").trace.engine == engine


def test_an_index_that_there_is_not_is_refused(settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="no index of vectors called faiss") as caught:
        Library.open(settings.changed("retrieval", index="faiss"))
    assert "dumps, pgvector, chroma, hnsw, milvus" in caught.value.help


def test_the_lines_of_the_page_ask_for_milvus(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in exports(section("Vectors in Milvus")).items():
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)
    assert (settings.retrieval.index, settings.storage.milvus[:7]) == ("milvus", "http://")
    assert MilvusIndex.is_kept(settings)


@pytest.mark.parametrize("engine", ["milvus"], indirect=True)
class TestMilvus:
    """What a server away from this machine adds."""

    def test_one_that_is_away_leaves_the_rest_and_follows_once_it_answers(self, settings: Settings) -> None:
        with Library.open(settings.changed("storage", milvus="http://127.0.0.1:9")) as library:
            assert all(event.error is None for event in library.add([Upload("a.txt", TEXTS["bakery.md"].encode())]))
            library.storage.settle()
            found = library.retrieve("rye bread")
            assert (found.trace.engine, len(found.hits)) == ("dumps", 1)
            assert any("Milvus" in note for note in found.trace.notes), found.trace.notes
            (finding,) = library.maintenance.verify().findings
            assert (finding.store, finding.repairable) == ("Milvus", False)
            assert "LECTERN_STORAGE__MILVUS" in finding.help
        with Library.open(settings) as library:
            library.storage.settle()
            assert library.retrieve("rye bread").trace.engine == "milvus"
            assert faults_of(library) == []

    def test_what_it_refuses_is_raised_and_nothing_is_printed(self, library: Library) -> None:
        index = index_of(library)
        assert isinstance(index, MilvusIndex)
        with pytest.raises(IndexUnavailable, match="Milvus does not do what it is asked for"):
            index.collection("query", filter="document in [")
        assert not logging.getLogger("pymilvus").isEnabledFor(logging.ERROR)
        assert library.retrieve("rye bread").trace.engine == "milvus"  # it is not taken for one that is away

    def test_without_address_or_package_it_says_what_to_do(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(ConfigurationError) as refused:
            Library.open(settings.changed("storage", milvus=""))
        assert "LECTERN_STORAGE__MILVUS=http://" in refused.value.help
        monkeypatch.setattr(milvus_index, "find_spec", lambda name: None)
        with pytest.raises(ConfigurationError, match="needs the package pymilvus") as refused:
            Library.open(settings)
        assert "pip install" in refused.value.help
