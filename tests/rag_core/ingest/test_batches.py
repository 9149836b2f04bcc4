"""Many small files: the same as one by one, whatever stands between them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import AddEvent, Cancellation, Library, Settings, Upload
from rag_core.errors import StoreUnavailable
from rag_core.ingest.work import BATCH_DOCUMENTS
from rag_core.storage.blobs.folder import FolderBlobs
from rag_core.storage.disk import disk_failure
from rag_core.storage.indexes.dumps import DumpStore
from tests.conftest import PROJECT
from tests.rag_core.samples import TEXTS

MANY = BATCH_DOCUMENTS * 2 + 5


def notes(count: int, first: int = 0) -> list[Upload]:
    return [Upload(f"{n}.txt", f"Note {n} tells of the number {n * 7}.".encode()) for n in range(first, first + count)]


def ends(events: Iterator[AddEvent]) -> dict[str, AddEvent]:
    """The last event of each source; no source ends twice."""
    last: dict[str, AddEvent] = {}
    for event in events:
        if event.source in last:
            assert last[event.source].stage not in ("ready", "failed", "cancelled"), (last[event.source], event)
        last[event.source] = event
    return last


def test_every_one_of_many_is_there_and_told_of_in_order(library: Library) -> None:
    stages: dict[str, list[str]] = {}
    for event in library.add(notes(MANY)):
        assert event.error is None
        stages.setdefault(event.source, []).append(event.stage)
    assert len(stages) == MANY
    for told in stages.values():
        assert list(dict.fromkeys(told)) == ["reading", "embedding", "storing", "ready"]
    documents = library.documents()
    assert [d.title for d in documents] == [str(n) for n in reversed(range(MANY))]
    assert all((d.state, d.chunk_count, d.page_count) == ("ready", 1, 1) for d in documents)
    chunks = [chunk for d in documents for chunk in library.chunks(d.id)]
    assert [c.token_count for c in chunks] == library.embedding.get().count_tokens([c.text for c in chunks])
    assert library.search("the number 1463", k=1)[0].document.title == "209"
    assert library.maintenance.verify(deep=True).findings == ()
    again = ends(library.add(notes(MANY)))
    assert {event.note for event in again.values()} == {"already in the library"}
    assert len(library.documents()) == MANY


def test_short_and_long_ones_of_all_kinds_among_each_other(library: Library) -> None:
    (pdf,) = sorted((PROJECT / "data" / "samples").glob("*.pdf"))
    long = "\n\n".join(f"Paragraph {n} tells of the number {n * 7} at some length. " * 9 for n in range(300))
    sources = [
        *notes(3), pdf, Upload("empty.txt", b""), Upload("long.txt", long.encode()), Upload("blank.txt", b"  \n"),
        Upload("page.txt", b"<!DOCTYPE html><html></html>"), "/no/such/file.txt", *notes(3, 10),
        Upload("large.txt", b"Words of a file that is too large to be read with others. " * 2000),
    ]  # fmt: skip
    told = ends(library.add(sources))
    failed = {name for name, event in told.items() if event.stage == "failed"}
    assert failed == {"empty.txt", "blank.txt", "page.txt", "file.txt"}
    assert all(event.stage == "ready" for name, event in told.items() if name not in failed)
    assert library.search("Paragraph 299 tells of the number 2093", k=1)[0].document.title == "long"


def test_the_same_bytes_again_and_again_in_one_run(library: Library) -> None:
    data = TEXTS["chess.txt"].encode()
    copies = [Upload(f"copy {n}.txt", data) for n in range(5)]
    others = [Upload(f"again {upload.name}", upload.data) for upload in notes(20)]
    told = ends(library.add([*copies, *notes(20), *others]))
    assert {event.stage for event in told.values()} == {"ready"}
    assert len(library.documents()) == 21
    (chess,) = [d for d in library.documents() if len(d.sources) > 2]
    assert sorted(chess.sources) == [upload.name for upload in copies]


def test_a_copy_of_a_cancelled_one_goes_its_own_way(library: Library) -> None:
    token = Cancellation()
    data = TEXTS["chess.txt"].encode()
    stages = {}
    for event in library.add([Upload("a.txt", data), Upload("b.txt", data)], cancellation=token):
        stages[event.source] = event.stage
        token.cancel("a.txt")
    assert stages == {"a.txt": "cancelled", "b.txt": "ready"}
    assert [d.sources for d in library.documents()] == [("b.txt",)]


def test_cancelling_everything_leaves_what_was_ready(library: Library) -> None:
    token = Cancellation()
    told: dict[str, str] = {}
    for event in library.add(notes(MANY), cancellation=token):
        told[event.source] = event.stage
        if event.stage == "ready":
            token.cancel()
    assert len(told) == MANY
    assert set(told.values()) == {"ready", "cancelled"}
    assert {d.state for d in library.documents()} == {"ready"}
    assert len(library.documents()) == list(told.values()).count("ready")


def test_one_that_the_disk_refuses_does_not_keep_its_batch(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    write = FolderBlobs.write

    def refuse(*_: object) -> None:
        raise disk_failure(OSError(27, "File too large"))

    def picky(store: FolderBlobs, document_id: str, parts: list[bytes]) -> None:
        if b"number 14." in parts[0]:
            refuse()
        write(store, document_id, parts)

    monkeypatch.setattr(FolderBlobs, "write_many", refuse)
    monkeypatch.setattr(FolderBlobs, "write", picky)
    told = ends(library.add(notes(4)))
    assert {name: event.stage for name, event in told.items()} == {
        "0.txt": "ready", "1.txt": "ready", "2.txt": "failed", "3.txt": "ready",
    }  # fmt: skip
    assert "File too large" in str(told["2.txt"].error)
    assert len(library.documents()) == 3


def test_one_whose_dump_is_refused_is_told_of_and_found_once_it_is_written(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise disk_failure(OSError(28, "No space left on device"))

    with monkeypatch.context() as patch:
        patch.setattr(DumpStore, "write_many", refuse)
        told = ends(library.add(notes(3)))
        assert {event.stage for event in told.values()} == {"failed"}
        for event in told.values():
            assert isinstance(event.error, StoreUnavailable)
            assert "No space left" in str(event.error)
            assert event.error.help
        assert {event.stage for event in ends(library.add(notes(1))).values()} == {"failed"}
    assert {event.note for event in ends(library.add(notes(1))).values()} == {"already in the library"}
    library.storage.settle()
    assert {d.state for d in library.documents()} == {"ready"}
    assert library.search("the number 14", k=1)[0].document.title == "2"


def test_whoever_stops_listening_finds_it_resumed(settings: Settings) -> None:
    with Library.open(settings) as library:
        for event in library.add(notes(MANY)):
            if event.stage == "ready":
                break
        documents = library.documents()
        assert {d.state for d in documents} == {"pending", "ready"}
    with Library.open(settings) as library:
        told = ends(library.resume())
        assert {event.stage for event in told.values()} == {"ready"}
        assert len(told) == sum(d.state == "pending" for d in documents)
        assert {d.state for d in library.documents()} == {"ready"}


def test_runs_side_by_side_bring_in_each_document_once(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for upload in notes(40):
        (folder / upload.name).write_bytes(upload.data)
    results: list[dict[str, AddEvent]] = []
    threads = [threading.Thread(target=lambda: results.append(ends(library.add([folder])))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [{event.stage for event in told.values()} for told in results] == [{"ready"}] * 4
    assert len(library.documents()) == 40
    assert sum(not event.note for told in results for event in told.values()) == 40
