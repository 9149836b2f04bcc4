"""The graph in PostgreSQL: kept where it is asked for, compared, repaired, made anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings, Upload
from rag_core.errors import ConfigurationError
from rag_core.storage.indexes.hnsw_index import HnswIndex
from tests.rag_core.samples import TEXTS


@pytest.fixture
def settings(tmp_path: Path, new_database: object) -> Settings:
    assert callable(new_database)
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    return settings.changed("retrieval", index="hnsw")


@pytest.fixture
def library(settings: Settings) -> Iterator[Library]:
    with Library.open(settings) as library:
        assert all(event.error is None for event in library.add(Upload(n, t.encode()) for n, t in TEXTS.items()))
        library.storage.settle()
        yield library


def index_of(library: Library) -> HnswIndex:
    return library.storage.index(HnswIndex)


def faults_of(library: Library) -> list[tuple[str, bool]]:
    return [(finding.store, finding.repairable) for finding in library.maintenance.verify(deep=True).findings]


def test_it_answers_and_is_told_of(library: Library) -> None:
    found = library.retrieve("rye bread", k=3)
    assert found.trace.engine == "hnsw"
    assert not found.trace.notes
    status = library.maintenance.status()
    assert index_of(library).count() == status.chunks
    assert status.indexes["hnsw"] == f"pgvector's graph of {status.chunks} chunks"
    assert faults_of(library) == []


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM hnsw_chunks WHERE index = 0",
        "INSERT INTO hnsw_chunks SELECT 'gone', 0, vector FROM hnsw_chunks LIMIT 1",
        "UPDATE hnsw_chunks SET vector = (vector::text::vector - (SELECT vector FROM hnsw_chunks LIMIT 1))",
        "DROP TABLE hnsw_chunks",
    ],
)
def test_damages_are_found_and_repaired(library: Library, damage: str) -> None:
    library.storage.database.execute(damage)
    found = faults_of(library)
    assert found
    assert set(found) == {("HNSW", True)}
    assert library.maintenance.repair().findings == ()
    library.storage.settle()
    assert faults_of(library) == []


def test_removed_documents_are_let_go(library: Library) -> None:
    document = library.documents()[0]
    library.remove(document.id)
    library.storage.settle()
    assert index_of(library).count() == library.maintenance.status().chunks
    assert faults_of(library) == []


def test_a_library_that_does_not_keep_it_says_so(settings: Settings, library: Library) -> None:
    library.close()
    with Library.open(settings.changed("retrieval", index="auto")) as other:
        found = other.retrieve("rye bread", index="hnsw")
        assert found.trace.engine == "dumps"
        assert any("does not keep hnsw" in note for note in found.trace.notes)
        assert "hnsw" not in other.maintenance.status().indexes
    with Library.open(settings) as again:
        again.storage.settle()
        assert again.retrieve("rye bread").trace.engine == "hnsw"


def test_an_index_that_there_is_not_is_refused(settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="no index of vectors called faiss") as caught:
        Library.open(settings.changed("retrieval", index="faiss"))
    assert "dumps, pgvector, chroma, hnsw" in caught.value.help
