"""What configurations are tried on: the library, and its documents in other chunks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accelerator.ranking import Match
from accelerator.scanner import Scanner
from rag_core import Library, Settings, Upload
from rag_core.errors import Cancelled, LimitExceeded, StoreUnavailable
from rag_core.retrieval import Indexes, Retrieval
from rag_core.services.search import SearchService
from rag_core.services.tried_chunks import FOLDER, TriedChunks
from rag_core.settings import ChunkingSettings, RetrievalSettings
from rag_core.storage.postgres.pieces import pieces_of
from tests.conftest import PROJECT, add_text
from tests.rag_core.samples import TEXTS

QUESTIONS = ["When does the first ferry leave?", "storm damage", "Who inspects the water?", "rye bread", "rye bread"]
ALL = RetrievalSettings(k=100, fetch_k=5000, mmr=True, mmr_lambda=1.0)
SMALL = ChunkingSettings(size=140, overlap=10)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("corpora")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(settings) as opened:
        samples = [p for p in (PROJECT / "data" / "samples").iterdir() if p.suffix in (".pdf", ".md", ".txt")]
        for event in opened.add([*samples, *(Upload(name, text.encode()) for name, text in TEXTS.items())]):
            assert event.error is None
        yield opened


def chunked(library: Library, chunking: ChunkingSettings = SMALL) -> TriedChunks:
    return TriedChunks(library.storage, library.embedding.get(), chunking, min_free_bytes=0)


def prepared(library: Library, chunking: ChunkingSettings = SMALL) -> TriedChunks:
    corpus = chunked(library, chunking)
    count = len(library.documents())
    assert list(corpus.prepare(lambda: False)) == [(number, count) for number in range(1, count + 1)]
    return corpus


def places(found: list[Retrieval]) -> list[list[tuple[object, ...]]]:
    return [
        [(h.chunk_id, h.page, h.page_label, h.section, h.text, h.start, h.end, h.document, h.score) for h in one.hits]
        for one in found
    ]


def own_search(library: Library, settings: RetrievalSettings) -> list[Retrieval]:
    return SearchService(library.storage, library.embedding.get).search(QUESTIONS, settings)


def held(library: Library) -> list[Path]:
    return sorted((library.storage.folder / FOLDER).glob("*/*.dump"))


@pytest.mark.parametrize(
    "settings",
    [RetrievalSettings(), RetrievalSettings(k=20, fetch_k=40, mmr=True, mmr_lambda=0.85, scan="exact"), ALL],
    ids=["default", "more", "all"],
)
def test_the_same_chunks_give_the_same_hits(library: Library, settings: RetrievalSettings) -> None:
    anew, own = prepared(library, library.settings.chunking), SearchService(library.storage, library.embedding.get)
    dense = settings.model_copy(update={"mode": "dense"})
    assert places(anew.search(QUESTIONS, dense)) == places(own.search(QUESTIONS, dense))
    assert places(anew.search(QUESTIONS[:1], dense)) == places(own.search(QUESTIONS[:1], dense))
    # Tantivy rounds the lengths of texts, so that scores by words are nearly the same.
    for ours, theirs in zip(anew.search(QUESTIONS, settings), own.search(QUESTIONS, settings), strict=True):
        assert {hit.score_kind for hit in ours.hits} <= {"fused", "rerank"}
        assert ours.hits[0].text == theirs.hits[0].text
    ids = [document.id for document in library.documents()]
    ours, theirs = own.spans([*ids, "gone"]), anew.spans([*ids, "gone"])
    assert set(ours) == set(theirs) == set(ids)
    assert all(np.array_equal(ours[document_id], theirs[document_id]) for document_id in ids)


def test_other_chunks_have_the_same_pieces(library: Library) -> None:
    prepared(library, library.settings.chunking)
    again = prepared(library, library.settings.chunking)  # from what the first one kept
    refs = [(document.id, index) for document in library.documents() for index in range(document.chunk_count)]
    ours, theirs = again._pipeline.indexes.rows(refs), Indexes(library.storage).rows(refs)
    assert ours.keys() == theirs.keys() == set(refs)
    assert all(row.pieces is not None for row in ours.values())
    dimensions = library.embedding.get().profile.dimensions
    for ref in refs:
        mine, kept = (pieces_of(rows[ref].pieces, dimensions).astype(float) for rows in (ours, theirs))
        assert mine.shape == kept.shape
        # The last digits depend on the texts that were embedded with them.
        norms = np.linalg.norm(mine, axis=1) * np.linalg.norm(kept, axis=1)
        assert ((mine * kept).sum(axis=1) > 0.999 * norms).all()
    settings = RetrievalSettings(k=50)
    for mine, kept in zip(again.search(QUESTIONS, settings), own_search(library, settings), strict=True):
        assert {hit.chunk_id for hit in mine.hits[:5]} == {hit.chunk_id for hit in kept.hits[:5]}


@pytest.mark.parametrize("damage", [None, b"", b"PK\x03\x04 no such thing", "other"])
def test_pieces_that_are_damaged_are_made_again(library: Library, damage: bytes | str | None) -> None:
    wanted = places(prepared(library).search(QUESTIONS, RetrievalSettings()))
    path, other = sorted(chunked(library).folder.glob("*.pieces"))[:2]
    whole = path.read_bytes()
    path.unlink()
    if damage is not None:
        path.write_bytes(other.read_bytes()[:-1] if isinstance(damage, str) else damage)
    assert places(prepared(library).search(QUESTIONS, RetrievalSettings())) == wanted
    assert len(path.read_bytes()) == len(whole)


def test_other_chunks_are_spans_of_the_pages(library: Library) -> None:
    corpus = prepared(library)
    (found,) = corpus.search(["What does a loaf of rye bread cost?"], RetrievalSettings())
    assert "4.20" in found.hits[0].text
    for hit in found.hits:
        page = library.page(hit.document.id, hit.page)
        assert page.text[hit.start : hit.end] == hit.text
        assert (hit.page_label, len(hit.text) <= 140) == (page.label, True)
        assert [hit.page, hit.start, hit.end] in corpus.spans([hit.document.id])[hit.document.id].tolist()
    assert found.trace.engine == "dumps"
    assert library.maintenance.status().chunks == sum(document.chunk_count for document in library.documents())


def test_what_was_embedded_is_not_embedded_again(library: Library) -> None:
    chunking = ChunkingSettings(size=150, overlap=10)
    steps = chunked(library, chunking).prepare(lambda: False)
    next(steps)
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    first = {path: path.stat().st_mtime_ns for path in held(library)}
    corpus = prepared(library, chunking)
    assert {path: path.stat().st_mtime_ns for path in held(library) if path in first} == first
    second = {path: path.stat().st_mtime_ns for path in held(library)}
    assert len(second) > len(first)
    again = prepared(library, chunking)
    assert {path: path.stat().st_mtime_ns for path in held(library)} == second
    assert places(again.search(QUESTIONS, ALL)) == places(corpus.search(QUESTIONS, ALL))


def test_a_stop_amid_embedding_keeps_what_is_done(library: Library) -> None:
    chunking = ChunkingSettings(size=160, overlap=10)
    corpus = chunked(library, chunking)
    steps = corpus.prepare(lambda: stop)
    stop = False
    next(steps)
    stop = True
    with pytest.raises(Cancelled):
        list(steps)
    assert places(prepared(library, chunking).search(QUESTIONS, ALL))


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "folder", "other"])
def test_a_damaged_dump_is_made_again(library: Library, damage: str) -> None:
    wanted = places(prepared(library).search(QUESTIONS, ALL))
    folder = chunked(library).folder
    path, other = sorted(folder.glob("*.dump"))[:2]
    data = bytearray(path.read_bytes())
    data[200] ^= 0x40
    new = {"flipped": bytes(data), "cut": bytes(data[:50]), "empty": b"", "folder": b"", "other": other.read_bytes()}
    path.unlink()  # others may have it mapped
    path.mkdir() if damage == "folder" else path.write_bytes(new[damage])
    assert places(prepared(library).search(QUESTIONS, ALL)) == wanted


def test_documents_that_come_and_go(library: Library) -> None:
    early = prepared(library)
    ferry = add_text(library, "ferry.txt", "The ferry to Oreby leaves at nine and at noon.")
    question = ["When does the ferry to Oreby leave?"]
    assert ferry.id not in {hit.document.id for hit in early.search(question, ALL)[0].hits}
    corpus = chunked(library)
    steps = corpus.prepare(lambda: False)
    next(steps)
    late = add_text(library, "late.txt", "The late ferry to Oreby leaves at ten.")
    assert len(list(steps)) == len(library.documents()) - 2
    found = {hit.document.id for hit in corpus.search(question, ALL)[0].hits}
    assert ferry.id in found
    assert late.id not in found
    library.remove(ferry.id)
    assert ferry.id not in {hit.document.id for hit in corpus.search(question, ALL)[0].hits}
    assert all(ferry.id not in path.name for path in (library.storage.folder / FOLDER).glob("*/*"))
    steps = chunked(library).prepare(lambda: False)
    next(steps)
    library.remove(late.id)
    list(steps)
    assert all(late.id not in path.name for path in held(library))


def test_the_chunkings_of_long_ago_are_removed_and_those_of_today_are_not(library: Library) -> None:
    folder = library.storage.folder / FOLDER
    sizes = [ChunkingSettings(size=size, overlap=1) for size in range(300, 306)]
    for chunking in sizes:
        chunked(library, chunking)
    today = set(folder.iterdir())
    prepared(library)
    assert today <= set(folder.iterdir())
    long_ago = time.time() - 3 * 24 * 3600
    for path in folder.iterdir():
        os.utime(path, (long_ago, long_ago))
    kept = chunked(library).folder
    prepared(library)
    assert kept in set(folder.iterdir())
    assert len(list(folder.iterdir())) == 4


def test_other_chunks_are_not_made_on_a_disk_that_is_nearly_full(library: Library) -> None:
    chunking = ChunkingSettings(size=170, overlap=10)
    full = TriedChunks(library.storage, library.embedding.get(), chunking, min_free_bytes=2**60)
    with pytest.raises(LimitExceeded):
        list(full.prepare(lambda: False))
    prepared(library, chunking)
    assert list(full.prepare(lambda: False))  # what is there already needs no room
    (found,) = full.search(["rye bread"], RetrievalSettings(index="pgvector"))
    assert "pgvector" in found.trace.notes[0]


def test_words_that_no_document_holds_are_said(library: Library) -> None:
    library.storage.settle()
    first, *_ = library.retrieve("Which ferries carry a zeppelin and its quetzals?").trace.notes
    assert first == "No document holds “zeppelin” or “quetzals”. What follows comes nearest."
    assert library.retrieve("Which ferry goes to Tolsund -zeppelin").trace.notes == ()
    assert library.retrieve("What does the handbook of the Veyra Ferry say?").trace.notes == ()


def test_an_empty_library_has_nothing_to_find(settings: Settings) -> None:
    with Library.open(settings) as library:
        assert library.asking.library.unknown("zeppelin") == []
        for corpus in (prepared(library), SearchService(library.storage, library.embedding.get)):
            assert [found.hits for found in corpus.search(QUESTIONS, ALL)] == [()] * 5
            assert corpus.spans(["gone"]) == {}


def test_what_the_user_left_out_is_in_no_other_chunks_either(library: Library) -> None:
    document = add_text(library, "jam.txt", " ".join(f"Jam boils for {minutes} minutes." for minutes in range(20, 120)))
    first, *_ = library.chunks(document.id)
    library.chunk_edits.leave_out(f"{document.id}:0")

    def ends() -> list[int]:
        return [int(end) for _, _, end in prepared(library).spans([document.id])[document.id]]

    assert min(ends()) > first.end
    library.chunk_edits.undo(document.id, first.page, first.start, first.end)
    assert min(ends()) < first.end
    library.remove(document.id)


def test_a_search_ends_though_the_model_changes_each_time(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    times = 0

    def changing(*how: object) -> list[Retrieval]:
        nonlocal times
        times += 1
        with library.storage.epoch.changing():
            return []

    monkeypatch.setattr("rag_core.services.search.search_pipeline", changing)
    with pytest.raises(StoreUnavailable, match="changed"):
        own_search(library, ALL)
    assert times < 10


def test_a_search_ends_though_what_it_finds_is_removed_each_time(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = library.storage.dumps
    query = library.embedding.get().encode_query(QUESTIONS[0])
    before, _ = dumps.search(query, 5)
    search, times = Scanner.search, 0

    def search_and_remove(scanner: Scanner, *what: Any, **how: Any) -> list[Match]:
        nonlocal times
        times += 1
        found = search(scanner, *what, **how)
        scanner.remove(found[0].key)
        return found

    try:
        with monkeypatch.context() as patch:
            patch.setattr(Scanner, "search", search_and_remove)
            matches, vectors = dumps.search(query, 5)
        assert times < 10
        assert len(matches) == len(vectors) > 0
        assert before[0].key not in {match.key for match in matches}
    finally:
        for document in library.documents():
            dumps.show(document.id)
