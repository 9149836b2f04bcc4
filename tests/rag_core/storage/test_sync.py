"""The change log and the sync: cursors, back-off, dead letters, acknowledgement, two generations of a document."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

import psycopg
import pytest

from rag_core import Settings
from rag_core.errors import StoreUnavailable
from rag_core.storage import Storage
from rag_core.storage import storage as storage_module
from rag_core.storage.indexes import INDEXES, ChromaIndex, DerivedIndex, TableIndex
from rag_core.storage.indexes.base import IndexUnavailable
from rag_core.storage.indexes.dumps import DumpStore, Rows
from rag_core.storage.postgres import changes
from rag_core.storage.postgres.changes import ATTEMPTS, Waiting, append
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.storage.postgres.ownership import migrations
from tests.rag_core.storage.filled import PROFILE, stored


class Listing(DerivedIndex):
    """An index that keeps what it was given in memory, and fails where it is told to."""

    name = "listing"
    label = "Listing"
    reads_texts = True

    def __init__(self, surroundings) -> None:
        super().__init__(surroundings)
        self.held: dict[str, list[str]] = {}
        self.calls: list[tuple[str, int]] = []
        self.refused: set[str] = set()
        self.poison: set[str] = set()
        self.is_away = False

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        self._check([document.id for document in documents])
        self.calls.append(("put", len(documents)))
        self.held |= {document.id: [chunk.text for chunk in document.chunks] for document in documents}

    def remove(self, ids: Sequence[str]) -> None:
        self._check(ids)
        self.calls.append(("remove", len(ids)))
        for document_id in ids:
            self.held.pop(document_id, None)

    def _check(self, ids: Sequence[str]) -> None:
        if self.is_away or self.poison & set(ids):
            raise IndexUnavailable("It is away.")
        if self.refused & set(ids):
            raise StoreUnavailable("Not this one.")

    def count(self) -> int:
        return sum(map(len, self.held.values()))

    def verify(self, comparison):
        return iter(())

    def repair(self, findings) -> bool:
        return False

    def rebuild(self, reason: str) -> None:
        self.held.clear()
        self._take_all()


class Needed(Listing):
    name = "needed"
    label = "Needed"
    needed = True


@pytest.fixture
def storage(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """Stores with one more index, which nothing follows unasked."""
    storage = opened(settings, monkeypatch, (*INDEXES, Listing))
    yield storage
    storage.close()


@pytest.fixture
def listing(storage: Storage) -> Listing:
    return storage.index(Listing)


def opened(settings: Settings, monkeypatch: pytest.MonkeyPatch, kinds: tuple[type[DerivedIndex], ...]) -> Storage:
    monkeypatch.setattr(storage_module, "INDEXES", kinds)
    storage = Storage(settings)
    storage.stop_following()
    return storage


def commit(storage: Storage, count: int, chunks: int = 2) -> list[str]:
    """Commit documents, which the dumps alone have followed then."""
    items = [stored(storage, number, chunks) for number in range(count)]
    storage.commit(items, PROFILE)
    return [item.document_id for item in items]


def rows(storage: Storage, query: str) -> list[tuple]:
    return storage.database.rows(query.encode())


def states(storage: Storage) -> list[str]:
    return sorted(document.state for document in storage.documents.all())


def test_indexes_follow_at_their_own_pace_and_the_log_is_trimmed_behind_the_slowest(
    storage: Storage, listing: Listing
) -> None:
    ids = commit(storage, 3)
    assert (storage.log.waiting("dumps"), storage.log.waiting("listing")) == (Waiting(), Waiting(3))
    storage.sync.follow(listing)
    assert set(listing.held) == set(ids)
    assert storage.log.waiting("chroma") == Waiting(3)
    assert len(rows(storage, "SELECT id FROM changes")) == 3
    storage.sync.follow(storage.index(ChromaIndex))
    assert storage.index(ChromaIndex).store.count(PROFILE) == 6
    storage.sync.follow(storage.lexical)
    storage.sync.follow(storage.index(TableIndex))
    assert rows(storage, "SELECT id FROM changes") == []
    assert listing.calls == [("put", 3)]


def test_batches_are_bounded(storage: Storage, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.storage.indexes.sync.BATCH", 2)
    monkeypatch.setattr("rag_core.storage.indexes.sync._ROWS", 2)
    commit(storage, 5, 1)
    storage.sync.follow(listing)
    assert listing.calls == [("put", 2), ("put", 2), ("put", 1)]
    commit(storage, 1, 5)
    assert storage.log.waiting("listing") == Waiting()  # it was there already


def test_a_new_index_is_given_every_document_and_one_that_is_gone_holds_back_no_log(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(settings, monkeypatch, INDEXES)
    ids = commit(first, 3)
    first.close()
    second = opened(settings, monkeypatch, (*INDEXES, Listing))
    assert second.log.waiting("listing") == Waiting(3)
    second.settle()
    assert set(second.index(Listing).held) == set(ids)
    second.close()
    third = opened(settings, monkeypatch, INDEXES)
    third.commit([stored(third, 9, 2)], PROFILE)
    third.settle()
    assert rows(third, "SELECT id FROM changes") == []
    assert [row[0] for row in rows(third, "SELECT index_name FROM index_cursors ORDER BY 1")] == sorted(
        index.name for index in INDEXES if index.is_kept(settings)
    )
    third.close()


def test_a_document_that_fails_backs_off_and_keeps_no_other_back(storage: Storage, listing: Listing) -> None:
    listing.refused = {commit(storage, 1)[0]}
    (refused,) = listing.refused
    commit(storage, 3)
    storage.sync.follow(listing)
    assert len(listing.held) == 2
    assert storage.log.waiting("listing") == Waiting(1, 0, "Not this one.")
    storage.sync.follow(listing)
    assert rows(storage, "SELECT attempts FROM index_backlog") == [(1,)]  # it is not due
    listing.refused = set()
    storage.sync.retry_now(listing)
    storage.sync.follow(listing)
    assert refused in listing.held
    assert storage.log.waiting("listing") == Waiting()


def test_delays_grow_and_end_in_a_dead_letter(storage: Storage, listing: Listing) -> None:
    listing.refused = set(commit(storage, 1))
    seen = []
    for _ in range(ATTEMPTS):
        rows(storage, "UPDATE index_backlog SET next_attempt_at = now() RETURNING 1")
        storage.sync.follow(listing)
        seen += rows(
            storage,
            "SELECT CASE WHEN next_attempt_at = 'infinity' THEN NULL"
            " ELSE extract(epoch FROM next_attempt_at - now())::float END FROM index_backlog",
        )
    delays = [row[0] for row in seen]
    assert delays[-1] is None
    assert delays[:3] == pytest.approx([5, 10, 20], abs=1)
    assert max(delay for delay in delays if delay is not None) == pytest.approx(3600, abs=1)
    assert storage.log.waiting("listing") == Waiting(1, 1, "Not this one.")
    assert any("1 document could not be brought to Listing: Not this one." in note for note in storage.notes)
    listing.refused = set()
    storage.settle()
    assert storage.log.waiting("listing") == Waiting()
    assert storage.notes == ()


def test_an_index_that_is_away_backs_off_as_a_whole_and_holds_no_other_back(
    storage: Storage, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing.is_away = True
    commit(storage, 3)
    storage.settle()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 6
    assert storage.sync.waiting("listing") == Waiting(3, 0, "It is away.")
    assert "3 documents behind (It is away.)" in storage.describe()["listing"]
    assert rows(storage, "SELECT * FROM index_backlog") == []
    listing.is_away = False
    storage.sync.follow(listing)
    assert listing.held == {}  # not due
    commit_one = stored(storage, 7, 1)
    storage.commit([commit_one], PROFILE)
    storage.sync.follow(listing)  # what was logged since is a reason to try
    assert len(listing.held) == 4
    assert storage.sync.waiting("listing") == Waiting()


def test_an_index_that_cannot_be_made_ready_holds_no_other_back(
    storage: Storage, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise StoreUnavailable("The data directory could not be written.")

    monkeypatch.setattr(storage.lexical, "prepare", refuse)
    commit(storage, 2)
    storage.settle()
    assert storage.sync.waiting("lexical") == Waiting(2, 0, "The data directory could not be written.")
    assert len(listing.held) == 2


def test_a_document_that_makes_an_index_fail_as_a_whole_becomes_a_dead_letter(
    storage: Storage, listing: Listing
) -> None:
    ids = commit(storage, 4)
    listing.poison = {ids[1]}
    for _ in range(4 * ATTEMPTS):
        storage.sync._outages["listing"].due = 0
        rows(storage, "UPDATE index_backlog SET next_attempt_at = now() WHERE attempts < 12 RETURNING 1")
        storage.sync.follow(listing)
    assert set(listing.held) == {*ids} - {ids[1]}
    assert storage.log.waiting("listing") == Waiting(1, 1, "It is away.")


def test_a_document_is_ready_once_every_needed_index_has_taken_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = opened(settings, monkeypatch, (*INDEXES, Needed))
    items = [stored(storage, number, 2) for number in range(2)]
    refused = items[0].document_id
    storage.index(Needed).refused = {refused}
    storage.commit(items, PROFILE)
    assert states(storage) == ["ready", "stored"]
    assert storage.dumps.searched() == {items[1].document_id}
    assert storage.stuck(refused) == "Not this one."
    storage.index(Needed).refused = set()
    storage.sync.acknowledge(retry=[refused])
    assert states(storage) == ["ready", "ready"]
    assert len(storage.dumps.searched()) == 2
    storage.close()


def test_a_dump_that_cannot_be_written_keeps_no_other_back(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [stored(storage, number, 3) for number in (1, 2)]
    write = DumpStore.write_many

    def refuse(self: DumpStore, dumps: Mapping[str, Rows]) -> None:
        if items[0].document_id in dumps:
            raise StoreUnavailable("The data directory could not be written.")
        write(self, dumps)

    monkeypatch.setattr(DumpStore, "write_many", refuse)
    storage.commit(items, PROFILE)
    found = {document.id: document.state for document in storage.documents.all()}
    assert found == {items[0].document_id: "stored", items[1].document_id: "ready"}
    assert storage.stuck(items[0].document_id) == "The data directory could not be written."
    monkeypatch.undo()
    storage.sync.acknowledge()  # it backs off
    assert storage.documents.counts()[0] == 1
    storage.finish([items[0].document_id])
    assert storage.documents.counts()[0] == 2


def test_rows_and_originals_of_removed_documents_go_while_an_index_fails(storage: Storage, listing: Listing) -> None:
    ids = commit(storage, 3)
    storage.settle()
    listing.is_away = True
    storage.remove(ids[0])
    storage.settle()
    assert storage.documents.get(ids[0]) is None
    assert not storage.files.path(ids[0]).exists()
    assert storage.index(ChromaIndex).store.count(PROFILE) == 4
    assert len(listing.held) == 3
    listing.is_away = False
    storage.settle()
    assert set(listing.held) == set(ids[1:])


def test_a_removal_that_the_disk_refuses_is_told_and_done_later(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (document_id,) = commit(storage, 1)

    def refuse(*_: object) -> None:
        raise StoreUnavailable("The data directory could not be written.")

    with monkeypatch.context() as patch:
        patch.setattr(storage.files, "remove", refuse)
        with pytest.raises(StoreUnavailable, match="found no longer"):
            storage.remove(document_id)
    assert storage.documents.all() == []
    assert storage.files.path(document_id).exists()
    storage.settle()
    assert storage.documents.get(document_id) is None
    assert not storage.files.path(document_id).exists()


def test_a_document_added_again_before_its_removal_was_followed(storage: Storage, listing: Listing) -> None:
    storage.commit([stored(storage, 1, 3)], PROFILE)
    storage.settle()
    (document,) = storage.documents.all()
    storage.documents.removals.start(document.id)
    storage.commit([stored(storage, 1, 2)], PROFILE)
    assert storage.files.path(document.id).read_bytes() == b"document 1"
    assert storage.dumps.searched() == {document.id}
    storage.settle()
    assert storage.index(ChromaIndex).store.count(PROFILE) == len(listing.held[document.id]) == 2
    assert listing.calls == [("put", 1), ("remove", 1), ("put", 1)]
    assert storage.log.waiting("dumps") == Waiting()
    assert states(storage) == ["ready"]


def test_a_document_removed_while_it_is_followed_is_let_go(storage: Storage) -> None:
    item = stored(storage, 1, 3)
    storage.documents.commit([item], PROFILE)
    storage.dumps.use(PROFILE)
    batch = storage.log.take("dumps")
    storage.documents.removals.start(item.document_id)  # does not wait for whoever follows it
    storage.log.finish("dumps", batch, needed=["dumps"])
    assert storage.documents.all() == []
    storage.settle()
    assert storage.documents.get(item.document_id) is None
    assert storage.dumps.held() == set()


def test_another_generation_is_not_acknowledged_by_what_was_done_for_the_one_before(storage: Storage) -> None:
    storage.documents.commit([stored(storage, 1, 3)], PROFILE)
    storage.dumps.use(PROFILE)
    batch = storage.log.take("dumps")
    storage.documents.removals.start(batch.changes[0].document_id)
    storage.documents.commit([stored(storage, 1, 2)], PROFILE)
    storage.log.finish("dumps", batch, needed=["dumps"])
    assert states(storage) == ["stored"]
    storage.settle()
    assert states(storage) == ["ready"]


def test_ids_of_changes_are_in_the_order_of_commits(storage: Storage, settings: Settings) -> None:
    """A second transaction gets no id before the first one has ended, or a cursor could pass the first one's."""
    ids = commit(storage, 2)
    assert settings.database_url is not None
    waited = threading.Event()

    def second() -> None:
        with storage.database.transaction() as connection:
            append(connection, "put", ids[:1])
        waited.set()

    with psycopg.connect(settings.database_url.get_secret_value()) as first:
        append(first, "put", ids[1:])
        thread = threading.Thread(target=second)
        thread.start()
        assert not waited.wait(0.3)
        assert storage.log.head() == 2
        first.commit()
    thread.join()
    assert [row[0] for row in rows(storage, "SELECT document_id FROM changes ORDER BY id DESC LIMIT 2")] == ids


def test_what_stood_in_the_outbox_of_an_older_library_is_followed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(settings, monkeypatch, INDEXES)
    ids = commit(first, 3)
    first.settle()
    first.documents.removals.start(ids[0])
    with first.database.transaction() as connection:
        connection.execute("DROP TABLE changes, index_cursors, index_backlog, servers, leases CASCADE")
        outbox = migrations()["0001_initial.sql"].split(b"CREATE TABLE outbox")[1].split(b";")[0]
        connection.execute(b"CREATE TABLE outbox" + outbox)
        connection.execute("ALTER TABLE outbox ADD COLUMN generation bigint NOT NULL DEFAULT 0")
        for store in ("dumps", "chroma"):
            connection.execute(
                "INSERT INTO outbox (document_id, store, action) VALUES (%s, %s, 'remove')", (ids[0], store)
            )
        connection.execute("INSERT INTO outbox (document_id, store, action) VALUES (%s, 'chroma', 'put')", (ids[1],))
        for table in ("documents", "job_owners"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN server".encode())
        connection.execute("INSERT INTO preferences VALUES ('paired', %s)", (first.database.server,))
        connection.execute("ALTER TABLE jobs DROP COLUMN stopping")
        again = ["0005_change_log.sql", "0032_servers.sql", "0034_workers.sql"]
        connection.execute("DELETE FROM migrations WHERE name = ANY(%s)", (again,))
    first.index(ChromaIndex).store.remove(PROFILE, [ids[1]])
    first.close()
    second = opened(settings, monkeypatch, (*INDEXES, Listing))
    assert second.log.waiting("dumps") == Waiting()  # of what it held nothing was to be done again
    assert second.log.waiting_ids("chroma") == set(ids)  # its records are written anew, with titles and pages
    second.settle()
    assert second.index(ChromaIndex).store.count(PROFILE) == 4
    assert second.dumps.held() == set(second.index(Listing).held) == set(ids[1:])
    second.close()


def test_a_lost_connection_amid_a_step_is_no_loss(
    storage: Storage, listing: Listing, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = commit(storage, 3)
    put = listing.put

    def cut(documents: Sequence[IndexedDocument]) -> None:
        monkeypatch.setattr(listing, "put", put)
        assert settings.database_url is not None
        with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        put(documents)

    monkeypatch.setattr(listing, "put", cut)
    storage.sync.follow(listing)
    assert set(listing.held) == set(ids)
    assert storage.log.waiting("listing") == Waiting()


def test_a_changed_title_reaches_those_who_hold_texts(storage: Storage, listing: Listing) -> None:
    ids = commit(storage, 2)
    storage.settle()
    with storage.database.transaction() as connection:
        connection.execute("UPDATE documents SET title = 'Better' WHERE id = %s", (ids[0],))
        append(connection, "describe", ids[:1])
    assert storage.log.waiting("dumps") == Waiting(1)
    storage.sync.acknowledge()
    assert storage.log.waiting("dumps") == Waiting()
    listing.calls.clear()
    storage.settle()
    assert listing.calls == [("remove", 1), ("put", 1)]
    titles = {record["title"] for _, record in storage.index(ChromaIndex).store.records(PROFILE)}
    assert titles == {"Better", "Title 1"}
    assert rows(storage, "SELECT id FROM changes") == []


def test_taking_prefers_neither_the_log_nor_the_backlog(storage: Storage) -> None:
    ids = commit(storage, 3)
    storage.settle()
    storage.log.queue(["listing"], ids[:2], removes=True)
    batch = storage.log.take("listing")
    assert {change.document_id: change.removes for change in batch.changes} == {ids[0]: True, ids[1]: True}
    assert all(change.generation is not None and change.chunks == 2 for change in batch.changes)
    assert changes.BATCH > 2
