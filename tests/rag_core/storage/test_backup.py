from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import random
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

import psycopg
import pytest

from rag_core import Library, Settings, Upload
from rag_core.cli import main
from rag_core.domain import Scope
from rag_core.errors import ConfigurationError, LecternError, LimitExceeded, StoreCorrupt, StoreUnavailable
from rag_core.storage import Accepted
from rag_core.storage.blobs.folder import FolderBlobs
from rag_core.storage.data_dir_mark import MARK
from rag_core.storage.indexes import ChromaIndex
from rag_core.storage.indexes.dumps import DumpStore
from rag_core.storage.maintenance import archive as archives
from rag_core.storage.maintenance import backup as backups
from rag_core.storage.maintenance.archive import Archive, ArchiveWriter, Manifest
from rag_core.storage.maintenance.backup import PASSING, TABLES
from rag_core.storage.maintenance.restore import Restore
from tests.conftest import add_text
from tests.rag_core.samples import TEXTS


@pytest.fixture
def filled(library: Library) -> Library:
    for event in library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]):
        assert event.error is None
    return library


@pytest.fixture
def other(tmp_path: Path, new_database: Callable[[], str]) -> Settings:
    """Settings of a second, empty library."""
    return Settings(_env_file=None, data_dir=tmp_path / "other", database_url=new_database())


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> bytes:
    """The bytes of a small archive."""
    folder = tmp_path_factory.mktemp("sealed")
    settings = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(settings) as library:
        add_text(library, "chess.txt", TEXTS["chess.txt"])
        library.maintenance.backup(folder / "a.lectern")
    return (folder / "a.lectern").read_bytes()


def leftovers(folder: Path) -> list[Path]:
    return list(folder.glob(".*lectern-tmp"))


def assert_same(old: Library, new: Library) -> None:
    assert [(d.id, d.title, d.sources, d.state) for d in new.documents()] == [
        (d.id, d.title, d.sources, d.state) for d in old.documents()
    ]
    for document in old.documents():
        assert new.chunks(document.id) == old.chunks(document.id)
        assert new.pages(document.id) == old.pages(document.id)
        ours, theirs = (library.storage.files.path(document.id).read_bytes() for library in (old, new))
        assert ours == theirs
    assert new.conversations() == old.conversations()
    for conversation in old.conversations():
        assert new.messages(conversation.id) == old.messages(conversation.id)
        assert new.history.scope(conversation.id) == old.history.scope(conversation.id)


def assert_empty(settings: Settings) -> None:
    with Library.open(settings) as library:
        assert library.documents() == []
        assert library.conversations() == []


def test_a_library_comes_back_whole_without_embedding(filled: Library, other: Settings, tmp_path: Path) -> None:
    filled.ask("What does a loaf of rye bread cost?", scope=Scope(sections=("Prices",), years=(2020,)))
    filled.preferences.set("model", "extractive")
    filled.preferences.set("allow_remote", "yes")
    written = filled.maintenance.backup(tmp_path / "a.lectern")
    assert (written.documents, written.chunks, written.files, written.conversations) == (4, 4, 4, 1)
    assert written.size_bytes == (tmp_path / "a.lectern").stat().st_size
    assert written.notes == ()
    restored = Library.restore(tmp_path / "a.lectern", other)
    assert restored == written
    hits = filled.search("How does the bishop move?", k=3)
    with Library.open(other) as library:
        assert library.embedding.embedder is None
        assert_same(filled, library)
        assert library.preferences.get("model") == "extractive"
        assert library.preferences.get("allow_remote") is None
        # The mark is this library's own, so that nothing is made anew and a lost connection is taken up again.
        assert library.storage.database.server == (other.data_dir / MARK).read_text()
        library.storage.settle()  # the index of words is rebuilt after opening
        again = library.search("How does the bishop move?", k=3)
        assert [(hit.chunk_id, hit.score) for hit in again] == [(hit.chunk_id, hit.score) for hit in hits]
        profile = library.storage.documents.profile()
        assert profile is not None
        assert library.storage.index(ChromaIndex).store.count(profile) == 4
        library.ask("And a cinnamon roll?")
        for document in library.documents():
            kept, _ = library.storage.documents.vectors.of(document.id)
            old, _ = filled.storage.documents.vectors.of(document.id)
            assert kept.tobytes() == old.tobytes()


def test_every_table_is_kept_or_known_to_pass(library: Library, settings: Settings) -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value()) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    assert {row[0] for row in rows} <= {*TABLES, *PASSING, "migrations"}


def test_the_key_is_never_in_it_and_passwords_are(filled: Library, tmp_path: Path, other: Settings) -> None:
    (chess,) = [d for d in filled.documents() if d.title == "chess"]
    filled.language_models.use_gemini("AIza-secret-key", keep=False)
    filled.storage.database.execute("UPDATE documents SET password = 'open sesame' WHERE id = %s", (chess.id,))
    filled.maintenance.backup(tmp_path / "a.lectern")
    with zipfile.ZipFile(tmp_path / "a.lectern") as archive:
        assert all(b"secret-key" not in archive.read(name) for name in archive.namelist())
    assert (tmp_path / "a.lectern").stat().st_mode & 0o077 == 0
    Library.restore(tmp_path / "a.lectern", other)
    with Library.open(other) as library:
        assert library.storage.documents.password(chess.id) == "open sesame"


def test_pending_and_failed_documents_come_back_as_they_are(library: Library, other: Settings, tmp_path: Path) -> None:
    list(library.add([Upload("broken.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog")]))
    data = TEXTS["chess.txt"].encode()
    digest = hashlib.sha256(data).hexdigest()
    library.storage.files.write(digest[:32], [data])
    library.storage.documents.accept([Accepted(digest[:32], digest, "chess.txt", "text/plain", len(data))])
    library.maintenance.backup(tmp_path / "a.lectern")
    Library.restore(tmp_path / "a.lectern", other)
    with Library.open(other) as restored:
        assert sorted(d.state for d in restored.documents()) == ["failed", "pending"]
        *_, last = restored.resume()
        assert last.stage == "ready"


def test_a_backup_while_another_thread_writes_is_one_moment(filled: Library, other: Settings, tmp_path: Path) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def churn() -> None:
        number = 0
        try:
            while not stop.is_set():
                document = add_text(filled, f"{number}.txt", f"Text number {number} tells of {number * 7} apples.")
                if number % 2:
                    filled.remove(document.id)
                number += 1
        except BaseException as error:  # noqa: BLE001  told by the test's own thread
            failures.append(error)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for number in range(4):
            filled.maintenance.backup(tmp_path / f"{number}.lectern")
    finally:
        stop.set()
        thread.join()
    assert not failures
    for number in (0, 3):
        settings = other.model_copy(update={"data_dir": tmp_path / f"restored{number}"})
        if number == 3:
            with psycopg.connect(str(other.database_url and other.database_url.get_secret_value())) as connection:
                connection.execute("TRUNCATE documents CASCADE")
        Library.restore(tmp_path / f"{number}.lectern", settings)
        with Library.open(settings) as library:
            list(library.resume())
            for document in library.documents():
                assert document.state == "ready"
                assert len(library.chunks(document.id)) == document.chunk_count
                stored = library.storage.files.path(document.id).read_bytes()
                assert hashlib.sha256(stored).hexdigest()[:32] == document.id
            assert {d.title for d in library.documents()} >= {"chess", "The bakery"}


def test_a_document_removed_amid_a_backup_is_left_out(
    filled: Library, other: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (chess,) = [d for d in filled.documents() if d.title == "chess"]
    opened = FolderBlobs.open
    removed = []

    def remove_first(self: FolderBlobs, document_id: str) -> BufferedReader:
        if not removed:
            removed.append(chess.id)
            filled.remove(chess.id)
        return opened(self, document_id)

    monkeypatch.setattr(FolderBlobs, "open", remove_first)
    report = filled.maintenance.backup(tmp_path / "a.lectern")
    monkeypatch.undo()
    assert (report.documents, report.files, report.notes) == (3, 3, ())
    Library.restore(tmp_path / "a.lectern", other)
    with Library.open(other) as library:
        assert_same(filled, library)


def test_an_original_that_is_lost_or_changed_is_said(filled: Library, other: Settings, tmp_path: Path) -> None:
    chess, bakery = (next(d for d in filled.documents() if d.title == title) for title in ("chess", "The bakery"))
    filled.storage.files.path(chess.id).unlink()
    filled.storage.files.path(bakery.id).write_bytes(b"changed")
    report = filled.maintenance.backup(tmp_path / "a.lectern")
    assert len(report.notes) == 2
    assert all(any(f"“{title}”" in note for note in report.notes) for title in ("chess", "The bakery"))
    assert Library.restore(tmp_path / "a.lectern", other).notes == report.notes
    with Library.open(other) as library:
        assert library.search("How does the bishop move?")[0].document.id == chess.id


def test_an_existing_file_is_kept_unless_told(filled: Library, tmp_path: Path) -> None:
    target = tmp_path / "a.lectern"
    target.write_text("mine")
    with pytest.raises(ConfigurationError) as refused:
        filled.maintenance.backup(target)
    assert refused.value.help
    with pytest.raises(ConfigurationError, match="no backup"):
        filled.maintenance.backup(target, replace=True)
    assert target.read_text() == "mine"
    target.unlink()
    for replace_it in (False, True):
        filled.maintenance.backup(target, replace=replace_it)
        Archive(target).close()
    for place in (tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(ConfigurationError):
            filled.maintenance.backup(place, replace=True)


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_full_disk_leaves_nothing_behind(
    filled: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    write, count = os.write, iter(range(1000))

    def fill(descriptor: int, data: bytes) -> int:
        if next(count) >= after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[:1000])

    monkeypatch.setattr("accelerator.atomic.os.write", fill)
    with pytest.raises(StoreUnavailable, match="No space") as refused:
        filled.maintenance.backup(tmp_path / "a.lectern")
    monkeypatch.undo()
    assert "room" in refused.value.help
    assert not (tmp_path / "a.lectern").exists()
    assert not leftovers(tmp_path)
    assert filled.search("rye bread")
    filled.maintenance.backup(tmp_path / "a.lectern")


def test_a_disk_that_lies_is_noticed(filled: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def lie(descriptor: int, data: bytes) -> int:
        return write(descriptor, bytes(data[:100]) + bytes(len(data) - 100) if len(data) > 1000 else data)

    monkeypatch.setattr("accelerator.atomic.os.write", lie)
    with pytest.raises(StoreCorrupt):
        filled.maintenance.backup(tmp_path / "a.lectern")
    assert not (tmp_path / "a.lectern").exists()
    assert not leftovers(tmp_path)


def test_every_truncation_is_refused(sealed: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.lectern"
    boundaries = {0, 1, 3, 4, len(sealed) - 1, len(sealed) - 64, len(sealed) - 80, len(sealed) - 100}
    with zipfile.ZipFile(io.BytesIO(sealed)) as archive:
        for info in archive.infolist():
            boundaries |= {info.header_offset + shift for shift in (-1, 0, 1, 30)}
        boundaries |= {archive.start_dir, archive.start_dir + 1}
    boundaries |= set(random.Random(1).sample(range(len(sealed)), 60))
    for size in sorted(size for size in boundaries if size >= 0):
        path.write_bytes(sealed[:size])
        with pytest.raises(LecternError) as refused:
            Archive(path)
        assert refused.value.help
    path.write_bytes(sealed + b"\0")
    with pytest.raises(LecternError):
        Archive(path)


def test_every_flipped_bit_is_refused(sealed: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.lectern"
    path.write_bytes(sealed)
    ends = [*range(64), *range(len(sealed) - 300, len(sealed))]  # headers, directory and seal: every byte
    places = ends + random.Random(2).sample(range(len(sealed)), 400)
    with path.open("r+b", buffering=0) as file:
        for place in places:
            bit = 1 << (place % 8)
            os.pwrite(file.fileno(), bytes([sealed[place] ^ bit]), place)
            with pytest.raises(LecternError):
                Archive(path)
            os.pwrite(file.fileno(), bytes([sealed[place]]), place)
    Archive(path).close()


def test_a_damaged_archive_touches_nothing(sealed: bytes, other: Settings, tmp_path: Path) -> None:
    path = tmp_path / "cut.lectern"
    path.write_bytes(sealed[:-200])
    with pytest.raises(StoreCorrupt):
        Library.restore(path, other)
    assert not other.data_dir.exists()


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"%PDF-1.7", b"PK\x03\x04" + bytes(300)], ids=["empty", "PK", "pdf", "zip"]
)
def test_foreign_files_are_refused(other: Settings, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises((ConfigurationError, StoreCorrupt)) as refused:
        Library.restore(tmp_path / "foreign", other)
    assert refused.value.help
    assert not other.data_dir.exists()


def test_a_file_that_is_not_there_is_said(other: Settings, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        Library.restore(tmp_path / "nothing", other)
    with pytest.raises(ConfigurationError):
        Library.restore(tmp_path, other)


def test_a_zip_of_another_program_is_refused(other: Settings, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    with pytest.raises(StoreCorrupt):
        Library.restore(tmp_path / "foreign.zip", other)


def forge(
    sealed: bytes,
    path: Path,
    manifest: Callable[[Manifest], Manifest] = lambda old: old,
    members: Callable[[str, bytes], bytes] = lambda name, data: data,
    more: dict[str, bytes] | None = None,
) -> None:
    """An archive with a right seal whose content was changed."""
    writer = ArchiveWriter()
    with zipfile.ZipFile(io.BytesIO(sealed)) as archive:
        old = Manifest.model_validate_json(archive.read("manifest.json"))
        content = {name: members(name, archive.read(name)) for name in archive.namelist() if name != "manifest.json"}
    parts = []
    for name, data in {**content, **(more or {})}.items():
        parts += list(writer.add(name, [data]))
    changed = manifest(old.model_copy(update={"members": writer.members}))
    path.write_bytes(b"".join([*parts, *writer.finish(changed)]))


def test_a_forged_archive_that_is_sound_restores(sealed: bytes, other: Settings, tmp_path: Path) -> None:
    forge(sealed, tmp_path / "a.lectern")
    assert Library.restore(tmp_path / "a.lectern", other).documents == 1


def test_an_archive_of_an_older_lectern_is_brought_up_to_date(
    library: Library, other: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = (
        "question_sets", "questions", "evaluation_runs", "evaluation_results", "document_tags", "document_summaries",
        "chunk_clusters", "document_memberships", "document_clusters", "followed_sources", "left_out_sources",
        "recognised_pages", "chunk_edits", "table_readings", "collections", "collection_members",
        "collection_documents",
    )  # fmt: skip
    columns = {
        "messages": ("rating", "reason", "replaced_by"), "embedding_profiles": ("model",),
        "chunks": ("pieces", "corrected", "hidden"),
        "conversations": ("scope", "pinned", "listed", "begun_by", "collection", "agent", "owner"),
        "citations": ("instructs", "corrected", "hidden"),
        "pages": ("body_start", "body_end", "hidden", "figures"),
        "sources": ("location", "kind", "root", "size_bytes", "modified_ns", "etag", "last_modified", "looked_at"),
        "documents": (
            "generation", "title_read", "title_by_user", "card", "card_version", "kept_until", "chunking",
            "table_notes", "server", "is_lasting", "owner",
        ),
    }  # fmt: skip
    add_text(library, "chess.txt", TEXTS["chess.txt"])
    library.storage.stop_following()  # it knows the newer tables alone
    library.recognition.interrupt()
    library.recognition.close()
    with library.storage.database.transaction() as connection:
        connection.execute(f"DROP TABLE new_vectors, {', '.join(newer)} CASCADE".encode())
        for table, names in columns.items():
            for name in names:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}".encode())
        connection.execute("DELETE FROM migrations WHERE name > '0002'")
    with monkeypatch.context() as patch:
        patch.setattr(backups, "TABLES", tuple(name for name in TABLES if name not in newer))
        library.maintenance.backup(tmp_path / "old.lectern")
    with Archive(tmp_path / "old.lectern") as archive:
        assert archive.manifest.migrations == ("0001_initial.sql",)
    assert Library.restore(tmp_path / "old.lectern", other).documents == 1
    with Library.open(other) as restored:
        assert restored.search("How does the bishop move?")
        assert not restored.maintenance.notes()
        assert restored.maintenance.verify(deep=True).findings == ()


@pytest.mark.parametrize(
    "name", ["../evil", "files/../../evil", "/tmp/evil", "files/evil", "tables/../evil", "tables/pg_class"]
)
def test_members_that_lead_out_of_the_library_are_refused(
    sealed: bytes, other: Settings, tmp_path: Path, name: str
) -> None:
    forge(sealed, tmp_path / "a.lectern", more={name: b"evil"})
    before = {path for path in tmp_path.rglob("*")}
    with pytest.raises((StoreCorrupt, ConfigurationError)):
        Library.restore(tmp_path / "a.lectern", other)
    assert {path for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2}, {"format": "other"}, {"migrations": ("0001_initial.sql", "9999_future.sql")},
        {"tables": {}}, {"members": {}},
    ],
    ids=["version", "format", "newer", "tables", "members"],
)  # fmt: skip
def test_manifests_that_do_not_fit_are_refused(
    sealed: bytes, other: Settings, tmp_path: Path, change: dict[str, object]
) -> None:
    forge(sealed, tmp_path / "a.lectern", lambda old: old.model_copy(update=change))
    with pytest.raises((ConfigurationError, StoreCorrupt)):
        Library.restore(tmp_path / "a.lectern", other)
    assert not other.data_dir.exists()


def test_rows_that_postgresql_refuses_leave_an_empty_library(sealed: bytes, other: Settings, tmp_path: Path) -> None:
    def cut(name: str, data: bytes) -> bytes:
        return data[:-20] + data[-2:] if name == "tables/chunks" else data

    forge(sealed, tmp_path / "a.lectern", members=cut)
    with pytest.raises(StoreCorrupt):
        Library.restore(tmp_path / "a.lectern", other)
    assert list((other.data_dir / "files").iterdir()) == []
    assert_empty(other)
    (tmp_path / "good.lectern").write_bytes(sealed)
    assert Library.restore(tmp_path / "good.lectern", other).documents == 1


def test_a_library_that_is_not_empty_is_kept(
    sealed: bytes, filled: Library, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "a.lectern"
    path.write_bytes(sealed)
    with pytest.raises(LecternError):  # it is open
        Library.restore(path, settings)
    filled.close()
    with pytest.raises(ConfigurationError, match="not empty") as refused:
        Library.restore(path, settings)
    assert "LECTERN_DATA_DIR" in refused.value.help
    with Library.open(settings) as library:
        assert len(library.documents()) == len(TEXTS)


def test_a_disk_without_room_is_said_before_anything_is_written(sealed: bytes, other: Settings, tmp_path: Path) -> None:
    (tmp_path / "a.lectern").write_bytes(sealed)
    with pytest.raises(LimitExceeded):
        Library.restore(tmp_path / "a.lectern", other.changed("storage", min_free_bytes=2**60))
    assert list((other.data_dir / "files").iterdir()) == []


KILLS = {
    "before the files": (FolderBlobs, "write"),
    "amid the tables": (Restore, "_write_tables"),
    "before the dumps": (DumpStore, "write_many"),
}


@pytest.mark.parametrize("point", KILLS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_restore_leaves_an_empty_library_or_a_whole_one(
    sealed: bytes, other: Settings, tmp_path: Path, point: str, when: str
) -> None:
    path = tmp_path / "a.lectern"
    path.write_bytes(sealed)
    child = os.fork()
    if child == 0:
        try:
            kind, name = KILLS[point]
            step = getattr(kind, name)

            def kill(*arguments: object) -> None:
                if when == "after":
                    step(*arguments)
                os.kill(os.getpid(), signal.SIGKILL)

            setattr(kind, name, kill)
            Library.restore(path, other)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    with Library.open(other) as library:
        whole = bool(library.documents())
        if whole:
            assert library.search("How does the bishop move?")[0].document.state == "ready"
    assert whole == (point == "before the dumps" or (point == "amid the tables" and when == "after"))
    if not whole:
        assert Library.restore(path, other).documents == 1
        with Library.open(other) as library:
            assert library.search("How does the bishop move?")


def test_the_commands(
    filled: Library, settings: Settings, other: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)

    def run(where: Settings, *arguments: str) -> tuple[int, str, str]:
        assert where.database_url is not None
        monkeypatch.setenv("DATABASE_URL", where.database_url.get_secret_value())
        code = main([*arguments, "--data-dir", str(where.data_dir)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    code, out, _ = run(settings, "backup", "--json", "a.lectern")
    assert code == 0
    assert json.loads(out)["documents"] == len(TEXTS)  # the library is open all the while
    filled.close()
    code, _, err = run(settings, "backup", "a.lectern")
    assert code == 1
    assert "exists already" in err
    assert run(settings, "backup", "--replace", "a.lectern")[0] == 0
    code, out, _ = run(other, "restore", "a.lectern")
    assert code == 0
    assert out.startswith("Restored: 4 documents")
    code, _, err = run(other, "restore", "a.lectern")
    assert code == 1
    assert "not empty" in err


def test_a_library_that_another_process_has_open_is_backed_up(tmp_path: Path, other: Settings) -> None:
    embedded = Settings(_env_file=None, data_dir=tmp_path / "library")
    with pytest.raises(StoreUnavailable):
        Library.backup_beside(tmp_path / "a.lectern", embedded)
    with Library.open(embedded) as library:
        add_text(library, "chess.txt", TEXTS["chess.txt"])
        assert Library.backup_beside(tmp_path / "a.lectern", embedded).documents == 1
        assert library.search("How does the bishop move?")
    assert Library.restore(tmp_path / "a.lectern", other).documents == 1


def test_the_fallback_without_fadvise(sealed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.lectern").write_bytes(sealed)
    monkeypatch.delattr(archives.os, "posix_fadvise", raising=False)
    Archive(tmp_path / "a.lectern").close()


@pytest.fixture(autouse=True)
def nothing_is_left_beside(tmp_path: Path) -> Iterator[None]:
    yield
    assert not leftovers(tmp_path)
