from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from rag_core import Settings
from rag_core.domain import Finding, Profile, Report
from rag_core.storage import Accepted, Storage
from rag_core.storage.indexes import ChromaIndex
from rag_core.storage.indexes.chroma import ChromaBatch, ChromaUnavailable
from rag_core.storage.maintenance.doctor import repair, verify
from tests.rag_core.storage.filled import (
    PROFILE,
    cut_to,
    delete,
    empty,
    fill,
    flip,
    make_unreadable,
    truncate,
    zero,
)

Damage = Callable[[Path], None]
HEADER, ROW, HASH, ROWS = 64, 32, 16, 3
VECTORS_END = HEADER + ROWS * ROW
DUMP_DAMAGES: dict[str, Damage] = {
    "cut in the header": cut_to(10),
    "cut after the header": cut_to(HEADER),
    "cut after a row": cut_to(HEADER + ROW),
    "cut after the vectors": cut_to(VECTORS_END),
    "cut before its last byte": cut_to(VECTORS_END + ROWS * HASH - 1),
    "bit of the magic number": flip(0),
    "bit of the header": flip(20),
    "bit of a vector": flip(HEADER + 40),
    "bit of a hash": flip(-1),
    "zeroed": zero,
    "emptied": empty,
    "deleted": delete,
    "unreadable": make_unreadable,
}


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    opened = Storage(settings)
    yield opened
    opened.close()


@pytest.fixture
def filled(storage: Storage) -> list[str]:
    return fill(storage)


@pytest.fixture(scope="module")
def lasting(new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """One filled library for damages that are repaired at once."""
    folder = tmp_path_factory.mktemp("lasting") / "library"
    opened = Storage(Settings(_env_file=None, data_dir=folder, database_url=new_database()))
    fill(opened)
    yield opened
    assert verify(opened, deep=True).findings == ()
    opened.close()


def execute(storage: Storage, query: str, *values: object) -> None:
    storage.database.execute(query.encode(), values)


def places(report: Report) -> set[tuple[str, str]]:
    return {(finding.store, finding.document_id) for finding in report.findings}


def assert_repaired(storage: Storage, report: Report) -> None:
    after = repair(storage, report)
    assert after.findings == ()
    assert after.deep == report.deep
    assert report.deep or verify(storage, deep=True).findings == ()


def test_a_sound_library_has_no_findings(storage: Storage, filled: list[str]) -> None:
    for deep in (False, True):
        report = verify(storage, deep)
        assert (report.documents, report.chunks, report.findings, report.deep) == (4, 12, (), deep)
        assert report.took_s > 0


def test_an_empty_library_has_no_findings(storage: Storage) -> None:
    assert verify(storage, deep=True).findings == ()
    assert repair(storage, verify(storage)).findings == ()


@pytest.mark.parametrize("damage", DUMP_DAMAGES.values(), ids=DUMP_DAMAGES.keys())
def test_a_damaged_dump_is_reported_and_made_again(lasting: Storage, damage: Damage) -> None:
    (document,) = [item.id for item in lasting.documents.all() if item.title == "Title 1"]
    damage(lasting.folder / "dumps" / f"{document}.dump")
    report = verify(lasting)
    assert places(report) == {("Dumps", document)}
    assert report.findings[0].title == "Title 1"
    after = repair(lasting, report)
    assert (after.findings, after.repaired) == ((), report.findings)
    assert verify(lasting).findings == ()


@pytest.mark.parametrize("damage", [delete, zero, make_unreadable, flip(HEADER + 40)])
def test_dumps_damaged_while_closed_are_sound_after_opening_and_repair(
    settings: Settings, filled: list[str], storage: Storage, damage: Damage
) -> None:
    storage.close()
    damage(settings.data_dir / "dumps" / f"{filled[0]}.dump")
    again = Storage(settings)
    try:
        assert repair(again, verify(again)).findings == ()
        assert again.dumps.searched() == set(filled)
    finally:
        again.close()


def test_a_dump_of_other_vectors_is_found(storage: Storage, filled: list[str]) -> None:
    own = storage.folder / "dumps" / f"{filled[0]}.dump"
    shutil.copyfile(storage.folder / "dumps" / f"{filled[1]}.dump", own)
    report = verify(storage)
    assert "another text" in report.findings[0].message
    assert_repaired(storage, report)
    vectors, sums = storage.documents.vectors.of(filled[0])
    storage.dumps.write(filled[0], -vectors, sums)
    report = verify(storage, deep=True)
    assert places(report) == {("Dumps", filled[0])}
    assert "not the vector of chunk 1" in report.findings[0].message
    assert_repaired(storage, report)


def test_dumps_that_are_not_searched_or_left_over(storage: Storage, filled: list[str]) -> None:
    storage.dumps.hide(filled[0])
    gone = "f" * 32
    shutil.copyfile(storage.folder / "dumps" / f"{filled[1]}.dump", storage.folder / "dumps" / f"{gone}.dump")
    storage.dumps.show(gone)
    report = verify(storage)
    assert places(report) == {("Dumps", filled[0]), ("Dumps", gone)}
    assert_repaired(storage, report)
    assert storage.dumps.searched() == storage.dumps.held() == set(filled)


def test_chunks_of_the_last_document_leave_chroma_though_its_row_went_first(
    storage: Storage, filled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: ChromaIndex) -> None:
        raise ChromaUnavailable("Chroma is away.")

    with monkeypatch.context() as while_away:
        while_away.setattr(ChromaIndex, "prepare", away)
        for document in filled:
            storage.remove(document)
        storage.settle()
    assert storage.documents.profile() is None
    storage.settle()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 0


def test_rows_missing_foreign_or_wrong_in_chroma(storage: Storage, filled: list[str]) -> None:
    lacking, wrong_vector, wrong_text, moved = filled
    storage.index(ChromaIndex).store.remove_rows(PROFILE, [f"{lacking}:1"])
    for document, row, text in ((wrong_vector, 0, "chunk 0 of document 1"), (wrong_text, 2, "another text")):
        storage.index(ChromaIndex).store.remove_rows(PROFILE, [f"{document}:{row}"])
        vectors = storage.documents.vectors.of(document)[0]
        vector = -vectors[row] if document == wrong_vector else vectors[row]
        add_row(storage, f"{document}:{row}", document, text, vector)
    storage.index(ChromaIndex).store.remove_rows(PROFILE, [f"{moved}:0"])
    add_row(
        storage, f"{moved}:0", "another document", "chunk 0 of document 3", storage.documents.vectors.of(moved)[0][0]
    )
    for row in ("f" * 32 + ":0", f"{lacking}:7", "odd"):
        add_row(storage, row, row.partition(":")[0], "foreign", vectors[0])
    report = verify(storage, deep=True)
    assert {item.store for item in report.findings} == {"Chroma"}
    assert {item.document_id for item in report.findings} == {*filled, "f" * 32, "?"}
    assert_repaired(storage, report)
    assert repair(storage, report).findings == ()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 12


def add_row(storage: Storage, row: str, document: str, text: str, vector: np.ndarray) -> None:
    storage.index(ChromaIndex).store.add(
        PROFILE, ChromaBatch([row], [{"document": document}], [text], [vector.reshape(1, -1)])
    )


def test_files_missing_or_left_over(storage: Storage, filled: list[str]) -> None:
    storage.files.path(filled[0]).unlink()
    empty(storage.files.path(filled[1]))
    flip(3)(storage.files.path(filled[2]))
    left = storage.files.path("e" * 32)
    left.write_bytes(b"left over")
    coming = storage.files.path("d" * 32)
    coming.write_bytes(b"of a document on its way")
    os.utime(left, (time.time() - 3600,) * 2)
    report = verify(storage, deep=True)
    assert places(report) == {("Files", item) for item in (*filled[:3], "e" * 32)}
    after = repair(storage, report)
    assert not left.exists()
    assert coming.exists()
    assert places(after) == {("Files", item) for item in filled[:3]}
    assert all("Add the same file again" in item.help and not item.repairable for item in after.findings)
    assert {item.document_id for item in after.repaired} == {"e" * 32}


@pytest.mark.parametrize(
    ("query", "deep"),
    [
        ("DELETE FROM chunks WHERE document_id = %s AND index = 1", False),
        ("DELETE FROM chunks WHERE document_id = %s", False),
        ("DELETE FROM pages WHERE document_id = %s", False),
        ("UPDATE documents SET page_count = 9 WHERE id = %s", False),
        ("UPDATE chunks SET page = 5 WHERE document_id = %s AND index = 2", False),
        ("UPDATE chunks SET text = 'another' WHERE document_id = %s AND index = 2", True),
    ],
)
def test_what_postgresql_itself_lost_stays_in_the_report(
    storage: Storage, settings: Settings, filled: list[str], query: str, deep: bool
) -> None:
    execute(storage, query, filled[0])
    for report in (verify(storage, deep), repair(storage, verify(storage, deep))):
        assert ("PostgreSQL", filled[0]) in places(report)
        (own,) = [item for item in report.findings if item.store == "PostgreSQL"]
        assert not own.repairable
        assert "restore a backup" in own.help
    (storage.folder / "dumps" / f"{filled[0]}.dump").unlink()
    storage.close()
    Storage(settings).close()


def test_documents_on_their_way_are_not_wrong(storage: Storage, filled: list[str], monkeypatch) -> None:
    storage.documents.accept([Accepted("b" * 32, "b" * 64, "pending.txt", "text/plain", 4)])
    storage.files.write("b" * 32, [b"four"])
    storage.stop_following()
    storage.documents.removals.start(filled[0])
    storage.dumps.hide(filled[0])
    assert verify(storage).findings == ()
    storage.sync.acknowledge()
    assert verify(storage).findings == ()


def test_adding_and_removing_while_stores_are_compared(storage: Storage, filled: list[str]) -> None:
    done = threading.Event()
    found: list[Finding] = []

    def look() -> None:
        while not done.is_set():
            found.extend(verify(storage).findings)

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(4):
        for document_id in filled:
            storage.remove(document_id)
        storage.settle()
        filled = fill(storage)
    done.set()
    thread.join()
    assert found == []
    assert verify(storage, deep=True).findings == ()


CHROMA_DAMAGES: dict[str, tuple[str, Damage]] = {
    "database truncated": ("chroma.sqlite3", truncate(0.5)),
    "database zeroed": ("chroma.sqlite3", zero),
    "database emptied": ("chroma.sqlite3", empty),
    "database unreadable": ("chroma.sqlite3", make_unreadable),
    "folder deleted": (".", shutil.rmtree),
}


@pytest.mark.parametrize(("name", "damage"), CHROMA_DAMAGES.values(), ids=CHROMA_DAMAGES.keys())
def test_a_damaged_chroma_is_reported_and_made_again(
    storage: Storage, filled: list[str], name: str, damage: Damage
) -> None:
    storage.stop_following()  # it would be mended before anybody looks
    storage.index(ChromaIndex).store.rest()
    damage(storage.folder / "chroma" / name)
    report = verify(storage)
    assert {item.store for item in report.findings} == {"Chroma"}
    assert repair(storage, report).findings == ()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 12


@pytest.mark.usefixtures("fresh_processes")
@pytest.mark.parametrize("seen", [False, True])
def test_a_process_that_ended_is_a_doubt_and_the_index_is_made_anew(
    storage: Storage, filled: list[str], seen: bool
) -> None:
    storage.stop_following()
    killed = [one for one in psutil.Process().children(recursive=True) if "low_priority" in " ".join(one.cmdline())]
    for process in killed:
        process.kill()
    if seen:  # or it ends while it is asked
        _, alive = psutil.wait_procs(killed, timeout=10)
        assert all(one.status() == psutil.STATUS_ZOMBIE for one in alive)
    with pytest.raises(ChromaUnavailable):
        storage.index(ChromaIndex).store.count(PROFILE)
    assert storage.index(ChromaIndex).store.doubt
    assert {item.store for item in verify(storage).findings} == {"Chroma"}
    storage.index(ChromaIndex).prepare()
    assert storage.notes == ("Chroma's index is being made anew: 4 documents to go. The dump files answer meanwhile.",)
    storage.settle()
    assert storage.notes == ()
    assert verify(storage, deep=True).findings == ()


@pytest.mark.parametrize("happened", ["nothing", "changed", "killed"])
def test_a_folder_that_is_not_as_it_was_left_is_made_anew(
    settings: Settings, storage: Storage, filled: list[str], happened: str
) -> None:
    folder = settings.data_dir / "chroma"
    (folder / "empty").mkdir()
    storage.close()
    if happened == "changed":
        (folder / "chroma.sqlite3").touch()
    elif happened == "killed":  # who is killed leaves no note of it
        (folder / "left.sound").unlink()
    with contextlib.closing(Storage(settings)) as again:
        again.settle()
        assert not (folder / "left.sound").exists()
        assert (folder / "empty").exists() == (happened == "nothing")
        assert again.index(ChromaIndex).store.count(PROFILE) == 12
        assert verify(again, deep=True).findings == ()


def test_a_server_that_does_not_answer_is_told_of(settings: Settings) -> None:
    storage = Storage(settings.model_copy(update={"chroma_url": "http://127.0.0.1:9"}))
    try:
        fill(storage)
        (finding,) = repair(storage, verify(storage)).findings
        assert (finding.store, finding.repairable) == ("Chroma", False)
        assert "CHROMA_URL" in finding.help
    finally:
        storage.close()


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_repair_cut_short_is_finished_by_the_next(
    storage: Storage, filled: list[str], monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    (storage.folder / "dumps" / f"{filled[0]}.dump").unlink()
    storage.index(ChromaIndex).store.remove_rows(PROFILE, [f"{filled[1]}:1"])
    clear = storage.index(ChromaIndex).store.clear

    def killed(profile: Profile) -> None:
        if done:
            clear(profile)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(storage.index(ChromaIndex).store, "clear", killed)
        repair(storage, verify(storage))
    storage.settle()
    assert repair(storage, verify(storage, deep=True)).findings == ()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 12
