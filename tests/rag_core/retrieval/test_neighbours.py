"""The chunks around the passages of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Hit, Scope
from rag_core.retrieval import for_passages
from rag_core.services.tried_chunks import TriedChunks
from rag_core.settings import ChunkingSettings

TEXT = "# Boats\n\n" + " ".join(f"Ferry number {n} has {n + 3} cabins." for n in range(12)) + "\n\n# Trains\n\n"
TEXT += " ".join(f"Train number {n} has {n + 3} carriages." for n in range(12))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    settings = Settings(
        _env_file=None, data_dir=tmp_path_factory.mktemp("around") / "library", database_url=new_database(),
        chunking=ChunkingSettings(tokens=32, overlap_tokens=12),
    )  # fmt: skip
    with Library.open(settings) as opened:
        for event in opened.add([Upload("timetable.md", TEXT.encode()), Upload("bread.txt", b"Rye bread is baked.")]):
            assert event.error is None
        opened.storage.settle()
        yield opened


def found(library: Library, scope: Scope | None = None, **wanted: object) -> tuple[Hit, ...]:
    return library.retrieve("How many cabins has ferry number 5?", scope=scope, mmr=True, k=3, **wanted).hits


def test_a_passage_has_the_chunks_beside_it(library: Library) -> None:
    hits = found(library, neighbours=2)
    count = max(chunk.index for chunk in library.chunks(hits[0].document.id)) + 1
    assert count > 6
    for hit in hits:
        steps = [chunk.index - hit.index for chunk in hit.around]
        assert steps == [step for step in (-1, 1, -2, 2) if 0 <= hit.index + step < hit.document.chunk_count]
        for chunk in hit.around:
            assert library.page(chunk.document.id, chunk.page).text[chunk.start : chunk.end] == chunk.text
            assert (chunk.score, chunk.score_kind, chunk.around) == (hit.score, hit.score_kind, ())


def test_there_are_none_unless_they_are_asked_for(library: Library) -> None:
    assert all(hit.around == () for hit in found(library))
    assert all(hit.around == () for hit in library.retrieve("ferry", mmr=False, neighbours=2).hits)


def test_a_scope_leaves_out_neighbours_too(library: Library) -> None:
    hits = found(library, Scope(sections=("Boats",)), neighbours=9)
    assert {chunk.section for hit in hits for chunk in hit.around} == {"Boats"}


def test_other_chunks_have_theirs(library: Library) -> None:
    chunking = ChunkingSettings(tokens=48, overlap_tokens=0)
    corpus = TriedChunks(library.storage, library.embedding.get(), chunking, min_free_bytes=0)
    list(corpus.prepare(lambda: False))
    settings = for_passages(library.settings.changed("retrieval", neighbours=10))
    (retrieval,) = corpus.search(["ferry number 1"], settings)
    first = retrieval.hits[0]
    chunks = corpus.spans([first.document.id])[first.document.id]
    assert 2 < len(first.around) == len(chunks) - 1
