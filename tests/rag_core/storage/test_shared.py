"""Servers that share a database, each with a data directory of its own."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from rag_core import Settings
from rag_core.errors import LibraryInUse, StoreUnavailable
from rag_core.services.access import Access
from rag_core.services.preferences import Preferences
from rag_core.storage import Storage, note_originals
from rag_core.storage import storage as storage_module
from rag_core.storage.maintenance.doctor import verify
from rag_core.storage.postgres import ownership
from rag_core.storage.postgres.changes import Waiting
from rag_core.storage.postgres.ownership import migrations
from tests.rag_core.storage.filled import PROFILE, WITHOUT_CHROMA, stored
from tests.until import until


def sharing(settings: Settings, name: str, *, shared: bool = True) -> Settings:
    """Settings of one more server."""
    data_dir = settings.data_dir.with_name(name)
    return settings.model_copy(update={"data_dir": data_dir}).changed("storage", shared=shared)


@pytest.fixture(autouse=True)
def without_chroma(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "INDEXES", WITHOUT_CHROMA)


def key(number: int) -> str:
    """The id of a document of that number."""
    return hashlib.sha256(f"document {number}".encode()).hexdigest()[:32]


@pytest.fixture
def two(settings: Settings) -> Iterator[tuple[Storage, Storage]]:
    """Two servers, which follow when they are told to."""
    first, second = Storage(sharing(settings, "first")), Storage(sharing(settings, "second"))
    for one in (first, second):
        one.stop_following()
    yield first, second
    second.close()
    first.close()


def found(storage: Storage) -> set[str]:
    storage.settle()
    return set(storage.dumps.searched())


def test_each_follows_the_log_by_itself_and_it_is_kept_for_the_slower(two: tuple[Storage, Storage]) -> None:
    first, second = two
    items = [stored(first, number, 2) for number in (1, 2)]
    first.commit(items, PROFILE)
    assert {document.state for document in second.documents.all()} == {"ready"}
    assert found(first) == {item.document_id for item in items}
    assert (first.log.waiting("dumps"), second.log.waiting("dumps")) == (Waiting(), Waiting(2))
    assert found(second) == found(first)
    second.remove(items[0].document_id)
    second.commit([stored(second, 3, 2)], PROFILE)
    assert found(first) == found(second) == {key(number) for number in (2, 3)}
    assert second.database.rows("SELECT FROM changes") == []
    assert {finding.store for one in two for finding in verify(one, deep=True).findings} <= {"Files"}  # each its own


def test_what_a_dead_server_committed_is_ready_once_another_one_has_it(settings: Settings) -> None:
    first, second = Storage(sharing(settings, "first")), Storage(sharing(settings, "second"))
    try:
        item = stored(first, 1, 2)
        first.dumps.use(PROFILE)
        first.documents.commit([item], PROFILE)  # and no step further
        first.close()
        assert found(second) == {item.document_id}
        assert second.documents.some([item.document_id])[item.document_id].state == "ready"
    finally:
        first.close()
        second.close()


def test_one_that_was_away_for_too_long_makes_its_indexes_anew(settings: Settings) -> None:
    first = Storage(sharing(settings, "first"))
    first.commit([stored(first, number, 2) for number in (1, 2)], PROFILE)
    first.close()
    second = Storage(sharing(settings, "second"))
    try:
        second.database.execute("UPDATE servers SET seen_at = now() - interval '8 days' WHERE id <> %s",
                                (second.database.server,))  # fmt: skip
        second.servers.beat()
        second.settle()
        second.remove(key(1))
        second.settle()
        assert second.database.rows("SELECT FROM changes") == []
        first = Storage(sharing(settings, "first"))
        assert found(first) == {key(2)}
    finally:
        first.close()
        second.close()


def test_one_is_alone_or_all_share(settings: Settings) -> None:
    first = Storage(sharing(settings, "first"))
    try:
        with pytest.raises(LibraryInUse) as refused:
            Storage(sharing(settings, "second", shared=False))
        assert "LECTERN_STORAGE__SHARED=true" in refused.value.help
    finally:
        first.close()
    alone = Storage(sharing(settings, "first", shared=False))
    try:
        with pytest.raises(LibraryInUse) as refused:
            Storage(sharing(settings, "second"))
        assert "LECTERN_STORAGE__SHARED=true" in refused.value.help
    finally:
        alone.close()


def test_tables_are_brought_up_to_date_by_one_that_has_them_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Storage(sharing(settings, "first"))
    newer = {**migrations(), "9999_newer.sql": b"CREATE TABLE newer (id int)"}
    try:
        with monkeypatch.context() as patch:
            patch.setattr(ownership, "migrations", lambda: newer)
            with pytest.raises(LibraryInUse, match="earlier"):
                Storage(sharing(settings, "second"))
            first.close()
            Storage(sharing(settings, "second")).close()
        with pytest.raises(StoreUnavailable, match="9999_newer"):
            Storage(sharing(settings, "first"))
    finally:
        first.close()


def test_a_copied_data_directory_is_no_second_server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "_ENDING_PATIENCE_S", 0.1)
    first = Storage(sharing(settings, "first"))
    try:
        first.commit([stored(first, 1, 2)], PROFILE)
        shutil.copytree(settings.data_dir.with_name("first"), settings.data_dir.with_name("second"))
        with pytest.raises(LibraryInUse, match="copy"):
            Storage(sharing(settings, "second"))
    finally:
        first.close()


def test_a_server_whose_connections_were_cut_has_it_again_beside_the_others(
    two: tuple[Storage, Storage], settings: Settings
) -> None:
    first, second = two
    first.commit([stored(first, 1, 2)], PROFILE)
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.get_secret_value(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert found(first) == found(second) == {key(1)}
    first.commit([stored(first, 2, 2)], PROFILE)
    assert found(second) == {key(1), key(2)}


def test_what_one_server_changes_the_other_knows_at_once(two: tuple[Storage, Storage]) -> None:
    first, second = two
    item = stored(first, 1, 2)
    first.commit([item], PROFILE)
    second.settle()
    assert second.documents.ready([item.document_id])[item.document_id].tags == ()
    first.documents.cards.tag([item.document_id], ["harbour"], [])
    until(lambda: second.documents.ready([item.document_id])[item.document_id].tags == ("harbour",))
    first.documents.removals.start(item.document_id)
    until(lambda: not second.documents.ready([item.document_id]))


def test_settings_consent_and_keys_travel(two: tuple[Storage, Storage], settings: Settings) -> None:
    (first, here), (second, there) = ((one, Preferences(settings, one)) for one in two)
    doors, others = Access(first), Access(second)
    key, text = doors.create("a program")
    until(lambda: others.verify(text) is not None)
    here.apply({"retrieval.k": 17, "chunking.size": 900, "chunking.strategy": "characters"})
    until(lambda: there.settings.retrieval.k == 17)
    assert there.settings == here.settings
    first.conversations.set_preference("allow_remote", "yes")
    until(lambda: there.effective.allow_remote)
    first.conversations.set_preference("allow_remote", None)
    until(lambda: not there.effective.allow_remote)
    others.revoke(key.id)
    until(lambda: doors.verify(text) is None)


def test_what_one_server_does_at_a_time_is_another_s_once_it_ends(two: tuple[Storage, Storage]) -> None:
    first, second = (one.servers for one in two)
    assert first.hold("work")
    assert not second.hold("work")
    assert first.hold("work")
    first.let_go("work")
    assert second.hold("work")
    assert first.hold("other", 0.2)
    until(lambda: second.hold("other"))
    assert not first.hold("other")


def test_no_vectors_of_a_model_that_another_server_has_replaced_come_in(two: tuple[Storage, Storage]) -> None:
    first, second = two
    first.commit([stored(first, 1, 2)], PROFILE)
    assert found(second) == {key(1)}
    late = stored(second, 2, 2)
    newer = replace(PROFILE, id="newer", name="newer")
    first.new_vectors.note_model(newer, "newer")
    first.database.execute("UPDATE documents SET profile = 'newer' WHERE state = 'ready'")
    with pytest.raises(StoreUnavailable, match="changed meanwhile"):
        second.documents.commit([late], PROFILE)
    assert second.documents.some([key(2)])[key(2)].state == "pending"
    first.documents.commit([late], newer)
    second.settle()
    assert "start this one again" in (second.sync.waiting("dumps").reason or "")


def test_what_a_server_accepted_is_another_s_once_it_is_gone(two: tuple[Storage, Storage]) -> None:
    first, second = two
    stored(first, 1, 2)
    assert [one.id for one in first.documents.abandoned(own=True)] == [key(1)]
    assert first.documents.abandoned(own=False) == second.documents.abandoned(own=True) == []
    second.database.execute("UPDATE servers SET seen_at = now() - interval '1 minute' WHERE id = %s",
                            (first.database.server,))  # fmt: skip
    assert [one.id for one in second.documents.abandoned(own=False)] == [key(1)]


def test_servers_share_a_folder_of_originals(settings: Settings) -> None:
    both = [
        Storage(sharing(settings, name).changed("storage", originals=settings.data_dir / "originals"))
        for name in ("first", "second")
    ]
    try:
        with note_originals(both[0].files, [key(1)], both[0].database.server):  # and both are at work
            stored(both[0], 1, 2)
            both[1].close()
            both[1] = Storage(sharing(settings, "second").changed("storage", originals=settings.data_dir / "originals"))
            assert both[1].files.read(key(1)) == b"document 1"
        both[1].documents.removals.start(key(1))
        both[1].removals.sweep()
        assert not both[0].files.has(key(1))
    finally:
        for one in both:
            one.close()
