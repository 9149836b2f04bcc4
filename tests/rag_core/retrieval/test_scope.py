"""A scope narrows what every index searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Scope
from rag_core.services.tried_chunks import TriedChunks
from rag_core.settings import ChunkingSettings, RetrievalSettings, StorageSettings
from rag_core.storage.indexes import DENSE

NOTES = {
    "trips/ferry.md": "# Timetable\n\nThe ferry leaves at nine.\n\n# Fares\n\nThe ferry costs four crowns.\n",
    "trips/train.md": "# Timetable\n\nThe train leaves at ten.\n\n# Fares\n\nThe train costs nine crowns.\n",
    "food/bread.md": "# Fares\n\nThe ferry of bread is a loaf for four crowns.\n",
}
TODAY = datetime.now(UTC).date()
SMALL = ChunkingSettings(size=50, overlap=0)


@pytest.fixture(scope="module")
def library(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str], new_milvus: Callable[[], str]
) -> Iterator[Library]:
    settings = Settings(
        _env_file=None, data_dir=tmp_path_factory.mktemp("scope") / "library", database_url=new_database(),
        chunking=SMALL, retrieval=RetrievalSettings(index="hnsw"), storage=StorageSettings(milvus=new_milvus()),
    )  # fmt: skip
    with Library.open(settings) as opened:
        for event in opened.add([Upload(name, text.encode()) for name, text in NOTES.items()]):
            assert event.error is None
        opened.storage.settle()
        yield opened


def names(library: Library, scope: Scope, **wanted: object) -> set[str]:
    found = library.retrieve("What does the ferry cost?", scope=scope, k=50, **wanted)
    assert not found.trace.notes
    assert found.trace.searched is not None
    assert found.trace.searched.scope == scope
    return {hit.document.sources[0] for hit in found.hits}


def ids(library: Library, *sources: str) -> tuple[str, ...]:
    return tuple(document.id for document in library.documents() if document.sources[0] in sources)


@pytest.mark.parametrize("index", DENSE)
def test_documents_folders_and_dates_narrow_every_index(library: Library, index: str) -> None:
    assert names(library, Scope(), index=index) == set(NOTES)
    bread = Scope(documents=ids(library, "food/bread.md"))
    assert names(library, bread, index=index) == {"food/bread.md"}
    assert names(library, Scope(folders=("trips/",)), index=index) == {"trips/ferry.md", "trips/train.md"}
    assert names(library, Scope(folders=("trips/f", "food")), index=index) == {"trips/ferry.md", "food/bread.md"}
    since = TODAY - timedelta(days=1)
    assert names(library, Scope(added_since=since, added_until=TODAY + timedelta(days=1)), index=index) == set(NOTES)
    both = Scope(documents=ids(library, "food/bread.md"), folders=("trips/",))
    assert names(library, both, index=index) == set()


@pytest.mark.parametrize("index", DENSE)
def test_sections_narrow_to_their_chunks(library: Library, index: str) -> None:
    hits = library.search("When does the train leave?", scope=Scope(sections=("timetable",)), k=50, index=index)
    assert {hit.section for hit in hits} == {"Timetable"}
    assert {hit.document.sources[0] for hit in hits} == {"trips/ferry.md", "trips/train.md"}
    assert hits[0].document.sources == ("trips/train.md",)
    narrow = Scope(sections=("Fares",), documents=ids(library, "trips/ferry.md"))
    assert {hit.section for hit in library.search("ferry", scope=narrow, k=50, index=index)} == {"Fares"}


@pytest.mark.parametrize(
    "scope",
    [
        Scope(documents=("gone",)),
        Scope(folders=("nowhere",)),
        Scope(sections=("Nothing",)),
        Scope(years=(1066,)),
        Scope(added_until=date(2001, 1, 1)),
        Scope(added_since=TODAY + timedelta(days=3)),
    ],
    ids=["document", "folder", "section", "year", "until", "since"],
)
def test_what_leaves_nothing_finds_nothing(library: Library, scope: Scope) -> None:
    assert library.search("ferry", scope=scope) == []


def test_what_was_covered_is_told(library: Library) -> None:
    everything = library.retrieve("ferry").trace.searched
    narrow = library.retrieve("ferry", scope=Scope(folders=("food",))).trace.searched
    assert everything is not None
    assert narrow is not None
    assert (everything.documents, everything.chunks) == (3, library.maintenance.status().chunks)
    assert (narrow.documents, narrow.chunks) == (1, library.documents()[0].chunk_count)


def test_other_chunks_are_narrowed_alike(library: Library) -> None:
    chunking = ChunkingSettings(size=60, overlap=5)
    corpus = TriedChunks(library.storage, library.embedding.get(), chunking, min_free_bytes=0)
    list(corpus.prepare(lambda: False))
    settings = RetrievalSettings(k=50)
    for scope in (Scope(folders=("trips",)), Scope(sections=("FARES",)), Scope(documents=("gone",))):
        (found,) = corpus.search(["ferry"], settings, scope)
        assert {hit.document.sources[0] for hit in found.hits} == names(library, scope)
        assert all(hit.section == "Fares" for hit in found.hits if scope.sections)


def test_a_document_outside_the_scope_is_not_meant(library: Library) -> None:
    def meant(scope: Scope) -> set[str]:
        searched = library.retrieve("What does the train cost?", scope=scope).trace.searched
        assert searched is not None
        return set(searched.understood.documents)

    train = set(ids(library, "trips/train.md"))
    assert train <= meant(Scope())
    assert train.isdisjoint(meant(Scope(documents=ids(library, "trips/ferry.md"))))
