"""The outbox: who takes what, what is put off and for how long, and what two generations of one document leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from rag_core import Settings
from rag_core.errors import StoreUnavailable
from rag_core.storage import Storage
from rag_core.storage.indexes import outbox
from rag_core.storage.indexes.dumps import DumpStore, Rows
from rag_core.storage.indexes.outbox import ATTEMPTS, Waiting
from tests.rag_core.storage.filled import PROFILE, stored


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    """Stores whose outbox nobody carries unasked."""
    storage = Storage(settings)
    assert storage._feeder is not None
    storage._feeder.stop()
    yield storage
    storage.close()


def commit(storage: Storage, count: int, chunks: int) -> None:
    """Commit documents, and carry them to the dumps alone."""
    storage.commit([stored(storage, number, chunks) for number in range(count)], PROFILE)


def delays(storage: Storage) -> list[float | None]:
    """Seconds until each row is due; None for one that was given up."""
    with storage.database.transaction() as connection:
        rows = connection.execute(
            "SELECT CASE WHEN next_attempt_at = 'infinity' THEN NULL ELSE extract(epoch FROM next_attempt_at - now())"
            " END FROM outbox ORDER BY id"
        ).fetchall()
    return [None if row[0] is None else float(row[0]) for row in rows]


def test_what_one_has_taken_another_passes_over(storage: Storage) -> None:
    commit(storage, 3, 2)
    table = storage.relay.outbox
    with table.take("chroma", "put") as first, table.take("chroma", "put") as second:
        assert len(first.due) == 3
        assert not second
    assert table.waiting("chroma") == Waiting()


def test_what_was_taken_by_one_who_failed_is_due_still(storage: Storage) -> None:
    commit(storage, 3, 2)
    with pytest.raises(StoreUnavailable), storage.relay.outbox.take("chroma", "put"):
        raise StoreUnavailable("no")
    with storage.relay.outbox.take("chroma", "put") as taken:
        assert len(taken.due) == 3


def test_delays_grow_and_have_an_end(storage: Storage) -> None:
    commit(storage, 1, 2)
    table = storage.relay.outbox
    seen = []
    for _ in range(ATTEMPTS):
        with storage.database.transaction() as connection:
            connection.execute("UPDATE outbox SET next_attempt_at = now()")
        table.put_off("chroma", "put", "it is away")
        seen += delays(storage)
    assert seen[-1] is None
    assert seen[:3] == pytest.approx([5, 10, 20], abs=1)
    assert max(delay for delay in seen if delay is not None) == pytest.approx(3600, abs=1)
    assert table.waiting("chroma") == Waiting(1, 1, "it is away")
    assert any("1 document could not be brought to Chroma: it is away" in note for note in storage.notes)
    storage.settle()
    assert table.waiting("chroma") == Waiting()
    assert storage.notes == ()


def test_a_dump_that_cannot_be_written_keeps_no_other_back(
    storage: Storage, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [stored(storage, number, 3) for number in (1, 2)]
    write = DumpStore.write_many

    def refuse(self: DumpStore, dumps: Mapping[str, Rows]) -> None:
        if items[0].document_id in dumps:
            raise StoreUnavailable("The data directory could not be written.")
        write(self, dumps)

    monkeypatch.setattr(DumpStore, "write_many", refuse)
    storage.commit(items, PROFILE)
    states = {document.id: document.state for document in storage.documents.all()}
    assert states == {items[0].document_id: "stored", items[1].document_id: "ready"}
    assert storage.relay.outbox.reason(items[0].document_id, "dumps") == "The data directory could not be written."
    monkeypatch.undo()
    storage.relay.carry_dumps()  # it was put off
    assert storage.documents.counts()[0] == 1
    storage.relay.carry_dumps(hasten=[items[0].document_id])
    assert storage.documents.counts()[0] == 2


def test_a_document_added_again_before_its_removal_was_carried(storage: Storage) -> None:
    item = stored(storage, 1, 3)
    storage.commit([item], PROFILE)
    storage.settle()
    storage.documents.start_removal(item.document_id)
    storage.commit([stored(storage, 1, 3)], PROFILE)
    assert storage.files.path(item.document_id).read_bytes() == b"document 1"
    assert storage.dumps.searched() == {item.document_id}
    storage.settle()
    assert storage.chroma.count(PROFILE) == len(item.chunks)
    assert storage.relay.outbox.waiting("dumps") == Waiting()
    assert [document.state for document in storage.documents.all()] == ["ready"]


def test_a_document_removed_while_it_is_carried_is_let_go(storage: Storage) -> None:
    item = stored(storage, 1, 3)
    storage.documents.commit([item], PROFILE)
    storage.dumps.use(PROFILE)
    with storage.relay.outbox.take("dumps", "put") as taken:
        storage.documents.start_removal(item.document_id)  # does not wait for whoever carries it
        storage.documents.receive(taken.connection, [item.document_id])
    storage.settle()
    assert storage.documents.get(item.document_id) is None
    assert storage.dumps.held() == set()


def test_batches_are_bounded(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "_TAKE", outbox._TAKE.replace("LIMIT 256", "LIMIT 2"))
    commit(storage, 5, 1)
    with storage.relay.outbox.take("chroma", "put") as taken:
        assert len(taken.due) == 2
