"""Documents re-chunked after a change of chunking."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rag_core import Cancellation, Library, Settings, Upload
from rag_core.domain import Configuration, Gold, Progress, Question
from rag_core.errors import LecternError
from tests.conftest import add_text

COUNT = 20


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Settings:
    folder = tmp_path_factory.mktemp("anew")
    return Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())


@pytest.fixture(scope="module")
def library(settings: Settings) -> Iterator[Library]:
    with Library.open(settings) as opened:
        uploads = [Upload(f"d{number}.txt", text_of(number).encode()) for number in range(COUNT)]
        for event in opened.add(uploads):
            assert event.error is None
        yield opened


def text_of(number: int) -> str:
    return "\n\n".join(f"Document {number}, paragraph {n}, tells of river {number * n}. " * 3 for n in range(6))


def apply(library: Library, size: int) -> None:
    library.evaluation.apply(Configuration(f"{size}", {"chunking.size": size, "chunking.overlap": 20}))


def longest(library: Library) -> list[int]:
    """The longest chunk of each document, in characters, without those that are alike."""
    assert {document.state for document in library.documents()} == {"ready"}
    return sorted({max(len(chunk.text) for chunk in library.chunks(item.id)) for item in library.documents()})


def test_documents_are_cut_anew_a_few_at_a_time(library: Library) -> None:
    before = longest(library)
    apply(library, 300)
    assert longest(library) == before
    assert library.maintenance.to_rechunk() == COUNT
    assert any("20 documents have chunks of an earlier setting" in note for note in library.maintenance.notes())
    steps = list(library.maintenance.rechunk())
    assert [(step.stage, step.done, step.total) for step in steps] == [
        ("chunking", 0, COUNT), ("chunking", 8, COUNT), ("chunking", 16, COUNT), ("done", COUNT, COUNT),
    ]  # fmt: skip
    assert steps[-1].note == ""
    assert all(size <= 300 for size in longest(library))
    assert library.maintenance.to_rechunk() == 0
    assert not any("earlier setting" in note for note in library.maintenance.notes())
    assert list(library.maintenance.rechunk()) == [Progress("done", 0, 0)]
    library.storage.settle()
    assert library.maintenance.verify(deep=True).findings == ()
    gold = tuple(Gold(f"d{number}.txt", 1, f"Document {number}, paragraph 3") for number in range(COUNT))
    questions = [Question(f"{n}", f"River of document {n}?", gold=(place,)) for n, place in enumerate(gold)]
    found = library.evaluation.create("Rivers", questions)
    changes = {"retrieval.k": 100, "retrieval.fetch_k": 1000}
    (run,) = library.evaluation.begin(found.id, [Configuration("All", changes)])
    list(library.evaluation.carry_out())
    assert library.evaluation.run(run.id).metrics["span_recall"].mean == 1.0


def test_a_stop_keeps_what_is_done_and_the_rest_goes_on(library: Library) -> None:
    apply(library, 200)
    token = Cancellation()
    steps = []
    for step in library.maintenance.rechunk(cancellation=token):
        steps.append(step)
        token.cancel()
    assert [step.stage for step in steps] == ["chunking", "cancelled"]
    left = library.maintenance.to_rechunk()
    assert left in (COUNT, COUNT - 8)
    going = library.maintenance.rechunk()
    next(going)
    next(going)
    with pytest.raises(LecternError):
        next(library.maintenance.rechunk())
    going.close()  # type: ignore[attr-defined]
    assert library.maintenance.to_rechunk() < COUNT
    assert list(library.maintenance.rechunk())[-1].stage == "done"
    assert all(size <= 200 for size in longest(library))


def test_what_is_left_is_known_after_a_restart_and_can_be_left_so(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]
) -> None:
    folder = tmp_path_factory.mktemp("restart")
    own = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(own) as library:
        assert library.maintenance.to_rechunk() == 0
        add_text(library, "d1.txt", text_of(1))
        apply(library, 300)
    with Library.open(own) as library:
        assert library.maintenance.to_rechunk() == 1
        add_text(library, "d2.txt", text_of(2))
        assert len(longest(library)) == 2
        assert list(library.maintenance.rechunk())[-1].stage == "done"
        assert all(size <= 300 for size in longest(library))
        apply(library, 100)
        library.maintenance.keep_chunks()
        assert library.maintenance.to_rechunk() == 0
        assert all(size > 100 for size in longest(library))


@pytest.fixture
def older(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Settings:
    """A library from before chunkings were noted, with a document, opened with another default."""
    folder = tmp_path_factory.mktemp("older")
    own = Settings(_env_file=None, data_dir=folder / "library", database_url=new_database())
    with Library.open(own.changed("chunking", strategy="characters")) as library:
        add_text(library, "d1.txt", text_of(1))
        library.storage.conversations.set_preference("chunking", None)
    return own.changed("chunking", tokens=64)


def test_another_default_is_offered_and_taken(older: Settings) -> None:
    with Library.open(older) as library:
        (before,) = [library.chunks(item.id) for item in library.documents()]
        assert library.maintenance.can_rechunk()
        assert library.maintenance.to_rechunk() == 0
        add_text(library, "d2.txt", text_of(2))
        assert library.maintenance.can_rechunk()
        first, second = (library.chunks(item.id) for item in reversed(library.documents()))
        assert first == before
        assert max(chunk.token_count for chunk in second) <= 64 < max(chunk.token_count for chunk in first)
        assert list(library.maintenance.rechunk())[-1] == Progress("done", 1, 1)  # the other one is cut so
        assert not library.maintenance.can_rechunk()
        assert all(chunk.token_count <= 64 for item in library.documents() for chunk in library.chunks(item.id))
    with Library.open(older) as library:
        assert not library.maintenance.can_rechunk()


def test_another_default_is_offered_and_left(older: Settings) -> None:
    with Library.open(older.changed("chunking", strategy="characters")) as library:
        assert not library.maintenance.can_rechunk()
    with Library.open(older) as library:
        library.maintenance.keep_chunks()
        assert not library.maintenance.can_rechunk()
    with Library.open(older.changed("chunking", tokens=90)) as library:
        assert library.maintenance.can_rechunk()


def test_a_library_without_documents_has_the_default_of_the_day(older: Settings) -> None:
    with Library.open(older) as library:
        for document in library.documents():
            library.remove(document.id)
        library.storage.settle()
    with Library.open(older) as library:
        add_text(library, "d3.txt", text_of(3))
        assert not library.maintenance.can_rechunk()


def test_applying_another_in_the_middle_has_every_document_cut_by_it(library: Library) -> None:
    apply(library, 260)
    steps = library.maintenance.rechunk()
    next(steps)
    next(steps)
    apply(library, 160)
    assert library.maintenance.to_rechunk() == COUNT
    list(steps)
    list(library.maintenance.rechunk())
    assert all(size <= 160 for size in longest(library))


def test_the_rest_is_forgotten_in_the_middle(library: Library) -> None:
    apply(library, 240)
    steps = library.maintenance.rechunk()
    next(steps)
    next(steps)
    library.maintenance.keep_chunks()
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    assert library.maintenance.to_rechunk() == 0


def test_a_document_whose_file_is_gone_or_damaged_keeps_its_chunks(library: Library) -> None:
    list(library.maintenance.rechunk())
    damaged, lost, removed = library.documents()[:3]
    texts = {item.id: [chunk.text for chunk in library.chunks(item.id)] for item in (damaged, lost)}
    kept = {item.id: library.storage.files.path(item.id).read_bytes() for item in (damaged, lost)}
    apply(library, 220)
    library.storage.files.path(damaged.id).write_bytes(b"\x00\x01\x02\xff" * 10)
    library.storage.files.path(lost.id).unlink()
    library.remove(removed.id)
    try:
        last = list(library.maintenance.rechunk())[-1]
        assert {key: [chunk.text for chunk in library.chunks(key)] for key in texts} == texts
        assert last.note.startswith("2 documents")
        assert {document.state for document in library.documents()} == {"ready"}
    finally:
        for key, data in kept.items():
            library.storage.files.path(key).write_bytes(data)
