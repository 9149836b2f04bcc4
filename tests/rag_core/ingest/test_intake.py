"""Intake: what was accepted outlives the process that was to add it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag_core import Cancellation, Library, Settings, Upload
from rag_core.errors import StoreUnavailable
from rag_core.ingest import intake
from rag_core.reading import Reader
from rag_core.storage.postgres.documents import DocumentStore
from tests.conftest import add_text

FILES = [Upload(f"{n}.txt", f"Note {n} tells of the number {n * 7}.".encode()) for n in range(10)]


def test_what_was_accepted_waits_and_is_finished_by_the_names_it_is_given(library: Library, tmp_path: Path) -> None:
    known = add_text(library, "known.txt", "It has been here for long.")
    sources = [*FILES[:3], Upload("again.txt", b"It has been here for long."), Upload("empty.txt", b""), "/no/such.txt"]
    last = {event.source: event for event in library.accept(sources)}
    assert {name: event.stage for name, event in last.items()} == {
        "0.txt": "waiting", "1.txt": "waiting", "2.txt": "waiting",
        "again.txt": "ready", "empty.txt": "failed", "such.txt": "failed",
    }  # fmt: skip
    assert last["again.txt"].document is not None
    assert last["again.txt"].document.id == known.id
    names = {event.document.id: name for name, event in last.items() if event.document and event.stage == "waiting"}
    assert [library.document(key).state for key in names] == ["pending"] * 3
    first, second, third = names
    told = list(library.resume({third: "c", "0" * 32: "gone", first: "a"}))
    assert [(event.source, event.stage) for event in told if event.stage in ("ready", "cancelled")] == [
        ("gone", "cancelled"), ("c", "ready"), ("a", "ready"),
    ]  # fmt: skip
    assert library.document(second).state == "pending"
    assert [event.stage for event in library.resume()][-1] == "ready"
    assert library.maintenance.verify(deep=True).findings == ()


def test_one_whose_file_is_in_another_data_directory_waits_for_that(library: Library, tmp_path: Path) -> None:
    (accepted,) = library.accept(FILES[:1])
    assert accepted.document is not None
    kept = library.original(accepted.document.id)
    kept.rename(tmp_path / "elsewhere")
    (told,) = library.resume()
    assert told.stage == "failed" and isinstance(told.error, StoreUnavailable) and "data directory" in str(told.error)
    assert library.document(accepted.document.id).state == "pending"
    (tmp_path / "elsewhere").rename(kept)
    assert [event.stage for event in library.resume()][-1] == "ready"


def test_accepting_can_be_cancelled_for_one_and_for_all(library: Library) -> None:
    token = Cancellation()
    token.cancel("1.txt")
    stages = {event.source: event.stage for event in library.accept(FILES[:3], cancellation=token)}
    assert stages == {"0.txt": "waiting", "1.txt": "cancelled", "2.txt": "waiting"}
    token.cancel()
    assert {event.stage for event in library.accept(FILES[3:], cancellation=token)} == {"cancelled"}
    assert len(library.documents()) == 2


def test_the_same_bytes_twice_are_one_that_waits(library: Library) -> None:
    first, second = library.accept([Upload("a", FILES[0].data), Upload("b", FILES[0].data)])
    assert {first.source: first.document is not None, second.source: second.document is not None} == {
        "a": True, "b": False,
    }  # fmt: skip
    assert [event.stage for event in library.add([Upload("b", FILES[0].data)])][-1] == "ready"


def test_all_are_accepted_while_the_first_is_read(
    library: Library, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As small batches as can be: large files come one to a batch."""
    monkeypatch.setattr(intake, "BATCH_BYTES", 1)
    reached, go_on = threading.Event(), threading.Event()
    read = Reader.read_small

    def slowly(self: Reader, *args: object, **named: object) -> object:
        reached.set()
        go_on.wait(10)
        return read(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Reader, "read_small", slowly)
    events = library.add(FILES)
    next(events)
    assert reached.wait(10)
    deadline = threading.Event()
    while len(library.documents()) < len(FILES):
        assert not deadline.wait(0.02)
    assert {document.state for document in library.documents()} == {"pending"}
    threading.Timer(0.2, go_on.set).start()
    library.close()  # whatever was accepted stays
    with Library.open(settings) as reopened:
        ready = [event.source for event in reopened.resume() if event.stage == "ready"]
        assert sorted(ready) == [file.name for file in FILES]


def test_adding_again_amid_a_removal_that_is_cut_off_leaves_no_original(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(settings) as library:
        document = add_text(library, "a.txt", "It was here once.")
        library.storage.stop_following()
        monkeypatch.setattr(library.storage.removals, "sweep", dict)  # so that its row stays
        library.remove(document.id)
        with monkeypatch.context() as patch:
            patch.setattr(DocumentStore, "accept", _refuse)
            *_, last = library.add([Upload("a.txt", b"It was here once.")])
        assert last.stage == "failed"
        assert library.storage.files.path(document.id).exists()
    with Library.open(settings) as library:
        library.storage.settle()
        assert library.documents() == []
        assert library.storage.files.listing() == {}


def _refuse(*_: object) -> None:
    raise StoreUnavailable("The process ends here, as it were.")
