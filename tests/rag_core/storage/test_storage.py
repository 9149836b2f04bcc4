from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import psycopg
import pytest
from numpy.typing import NDArray

from rag_core import Settings
from rag_core.domain import Box, Chunk, Page, ParsedDocument, Profile, Section
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.storage import Accepted, Storage, Stored
from rag_core.storage.embedded.server import EmbeddedServer
from rag_core.storage.indexes import ChromaIndex
from rag_core.storage.indexes.chroma import ChromaBatch, ChromaUnavailable
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.maintenance.doctor import repair, verify
from rag_core.storage.postgres.changes import Waiting
from rag_core.storage.postgres.contents import IndexedChunk, IndexedDocument
from rag_core.storage.postgres.database import storable, unavailable
from rag_core.storage.postgres.ownership import migrations

PROFILE = Profile("test", "test", "1", 8, "mean", "float32")


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    opened = Storage(settings)
    yield opened
    opened.close()


def vectors(count: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, PROFILE.dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def stored(storage: Storage, number: int, count: int = 3) -> Stored:
    document_id = f"{number:032x}"
    storage.documents.accept([Accepted(document_id, f"{number:064x}", f"{number}.txt", "text/plain", 10)])
    text = f"document {number} \x00 with a NUL"
    chunks = [
        Chunk(document_id, i, 1, 0, 5, f"{i} {text}".replace("\0", " "), "", "§", (Box(0.1, 0.2, 0.3, 0.4),), 7)
        for i in range(count)
    ]
    chunks = [
        Chunk(c.document_id, c.index, 1, 0, 5, c.text, hashlib.md5(c.text.encode()).hexdigest(), "§", c.boxes, 7)
        for c in chunks
    ]
    parsed = ParsedDocument(
        "text/plain", (Page(1, text, "i"),), title=f"Title {number}", sections=(Section("§", 1, 1),), notes=("a note",)
    )
    return Stored(document_id, parsed, chunks, vectors(count, number))


def test_a_committed_document_is_ready_in_every_store(storage: Storage) -> None:
    item = stored(storage, 1)
    storage.commit([item], PROFILE)
    document = storage.documents.get(item.document_id)
    assert document is not None
    assert (document.state, document.title, document.sections, document.notes) == (
        "ready", "Title 1", (Section("§", 1, 1),), ("a note",)
    )  # fmt: skip
    assert storage.documents.chunks(item.document_id) == item.chunks
    kept, sums = storage.documents.vectors.of(item.document_id)
    assert np.array_equal(kept, item.vectors)
    assert sums == [chunk.md5 for chunk in item.chunks]
    [match], [vector] = storage.dumps.search(item.vectors[2], 1)
    assert (match.key, match.row) == (item.document_id, 2)
    assert np.array_equal(vector, item.vectors[2])
    assert storage.dumps.md5(item.document_id, 2) == item.chunks[2].md5
    storage.settle()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 3
    assert storage.index(ChromaIndex).store.nearest(PROFILE, item.vectors[0], 1) == [(item.document_id, 0)]
    assert storage.sync.waiting("chroma") == Waiting()
    assert storage.documents.profile() == PROFILE


def test_records_of_chroma_say_what_a_client_cites(storage: Storage) -> None:
    storage.commit([stored(storage, 1)], PROFILE)
    storage.settle()
    records = dict(storage.index(ChromaIndex).store.records(PROFILE))
    assert records[f"{1:032x}:2"] == {
        "document": f"{1:032x}", "title": "Title 1", "source": "1.txt", "page": 1, "page_label": "i", "section": "§",
        "index": 2,
    }  # fmt: skip


def test_a_pending_document_is_in_no_store(storage: Storage) -> None:
    storage.commit([stored(storage, 1)], PROFILE)
    item = stored(storage, 2)
    assert storage.documents.ready([item.document_id]) == {}
    assert all(match.key != item.document_id for match in storage.dumps.search(item.vectors[0], 10)[0])


def test_removal_reaches_every_store(storage: Storage) -> None:
    items = [stored(storage, number) for number in (1, 2)]
    storage.commit(items, PROFILE)
    storage.settle()
    storage.remove(items[0].document_id)
    storage.settle()
    assert storage.documents.get(items[0].document_id) is None
    assert storage.index(ChromaIndex).store.count(PROFILE) == 3
    assert {match.key for match in storage.dumps.search(items[0].vectors[0], 10)[0]} == {items[1].document_id}
    assert not (storage.folder / "dumps" / f"{items[0].document_id}.dump").exists()


def test_what_was_committed_and_not_carried_is_carried_on_opening(settings: Settings) -> None:
    first = Storage(settings)
    item = stored(first, 1)
    first.documents.commit([item], PROFILE)  # as if killed right after the transaction
    state = first.documents.get(item.document_id)
    assert state is not None
    assert state.state == "stored"
    first.close()
    second = Storage(settings)
    try:
        assert item.document_id in second.documents.ready([item.document_id])
        assert second.dumps.search(item.vectors[0], 1)[0][0].key == item.document_id
    finally:
        second.close()


@pytest.mark.parametrize("damage", ["missing", "truncated", "zeroed"])
def test_a_damaged_dump_is_written_anew_on_opening(settings: Settings, damage: str) -> None:
    first = Storage(settings)
    item = stored(first, 1)
    first.commit([item], PROFILE)
    first.close()
    dump = settings.data_dir / "dumps" / f"{item.document_id}.dump"
    if damage == "missing":
        dump.unlink()
    else:
        size = dump.stat().st_size
        dump.write_bytes(dump.read_bytes()[: size // 2] if damage == "truncated" else bytes(size))
    second = Storage(settings)
    try:
        assert second.notes
        assert second.dumps.search(item.vectors[1], 1)[0][0].row == 1
    finally:
        second.close()


def test_a_dump_that_cannot_be_written_keeps_no_library_closed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Storage(settings)
    items = [stored(first, number) for number in (1, 2)]
    first.commit(items, PROFILE)
    first.close()
    for dump in (settings.data_dir / "dumps").iterdir():
        dump.unlink()

    def refuse(*_: object) -> None:
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(DumpStore, "write", refuse)
    second = Storage(settings)
    try:
        assert any("2 documents cannot be searched" in note and "The disk is full." in note for note in second.notes)
        assert second.documents.vectors.nearest(items[1].vectors[0], 1)[0][0] == items[1].document_id
        monkeypatch.undo()
        assert {finding.store for finding in repair(second, verify(second)).findings} == {
            "Files"
        }  # there are none here
        assert second.dumps.searched() == {item.document_id for item in items}
        assert not any("cannot be searched" in note for note in second.notes)
    finally:
        second.close()


def test_chroma_that_does_not_answer_keeps_nothing_back(settings: Settings) -> None:
    storage = Storage(settings.model_copy(update={"chroma_url": "http://127.0.0.1:9"}))
    try:
        item = stored(storage, 1)
        storage.commit([item], PROFILE)
        storage.settle()
        assert item.document_id in storage.documents.ready([item.document_id])
        waiting = storage.sync.waiting("chroma")
        assert (waiting.documents, waiting.dead) == (1, 0)
        assert waiting.reason is not None
        assert "1 document behind" in storage.describe()["chroma"]
        with pytest.raises(ChromaUnavailable):
            storage.index(ChromaIndex).store.count(PROFILE)
    finally:
        storage.close()


def test_adding_to_chroma_twice_changes_nothing(storage: Storage) -> None:
    storage.commit([stored(storage, 1)], PROFILE)
    storage.settle()
    batch = ChromaBatch()
    chunks = tuple(IndexedChunk(index, 1, "", "", text, "") for index, text in enumerate("abc"))
    batch.add(IndexedDocument(f"{1:032x}", "", "", "en", chunks, vectors(3, 1)))
    storage.index(ChromaIndex).store.add(PROFILE, batch)
    assert storage.index(ChromaIndex).store.count(PROFILE) == 3


def test_a_document_removed_meanwhile_is_not_committed(storage: Storage) -> None:
    items = [stored(storage, number) for number in (1, 2)]
    storage.documents.removals.start(items[0].document_id)
    storage.commit(items, PROFILE)
    assert [d.id for d in storage.documents.all()] == [items[1].document_id]


def test_a_data_directory_follows_what_another_one_did_to_its_database(settings: Settings, tmp_path: Path) -> None:
    first = Storage(settings)
    first.commit([stored(first, number) for number in (1, 2)], PROFILE)
    first.settle()
    first.close()
    second = Storage(settings.model_copy(update={"data_dir": tmp_path / "second"}))
    try:
        assert second.dumps.searched() == {f"{1:032x}", f"{2:032x}"}
        second.remove(f"{1:032x}")
        second.read_again([f"{2:032x}"])
        second.commit([replace(stored(second, 2), vectors=vectors(3, 9)), stored(second, 3)], PROFILE)
        second.settle()
    finally:
        second.close()
    for _ in range(2):
        first = Storage(settings)
        try:
            first.settle()
            assert [place[0] for place in first.lexical.search(["3"], 9)] == [f"{3:032x}"] * 3
            assert {item.store for item in verify(first, deep=True).findings} == {"Files"}  # nobody kept the bytes
            written = (settings.data_dir / "dumps" / f"{2:032x}.dump").stat().st_mtime_ns
        finally:
            first.close()
    assert (settings.data_dir / "dumps" / f"{2:032x}.dump").stat().st_mtime_ns == written


def test_vectors_of_nothing_are_an_error(storage: Storage) -> None:
    with pytest.raises(StoreCorrupt):
        storage.documents.vectors.of("none")


def test_migrations_run_once(new_database: Callable[..., str], tmp_path: Path) -> None:
    empty = new_database("template0")
    for _ in range(2):
        Storage(Settings(_env_file=None, data_dir=tmp_path / "library", database_url=empty)).close()
    with psycopg.connect(empty) as connection:
        rows = connection.execute("SELECT name FROM migrations ORDER BY name").fetchall()
    assert [row[0] for row in rows] == list(migrations())


def test_a_cut_connection_is_an_error_of_the_house_and_the_next_call_works(
    storage: Storage, settings: Settings
) -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert storage.documents.counts() == (0, 0, 0, 0)


def test_passwords_stay_out_of_messages() -> None:
    error = unavailable(psycopg.OperationalError("connection to postgresql://me:secret@host failed: password=secret2"))
    assert isinstance(error, StoreUnavailable)
    assert "secret" not in str(error)


def test_text_that_postgresql_refuses_is_made_storable() -> None:
    assert storable("a\x00b\ud800c") == "a\ufffdb\ufffdc"


def test_the_embedded_server_comes_back_after_a_kill(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "postgres")
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (x int)")
    pid = int((tmp_path / "postgres" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=5)
    again = EmbeddedServer(tmp_path / "postgres")
    try:
        with psycopg.connect(again.start()) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    finally:
        again.stop()


def test_a_folder_that_was_killed_is_opened_again(tmp_path: Path, new_database: Callable[[], str]) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "library", database_url=new_database())
    child = os.fork()
    if child == 0:
        Storage(settings)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    Storage(settings).close()
