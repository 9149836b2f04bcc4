"""A failure that nobody foresaw, at one document of twenty, in every stage: it alone fails, and can be retried."""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from accelerator.faults import VARIABLE
from rag_core import AddEvent, Library, Settings, Upload
from rag_core.domain import Job
from rag_core.settings import EmbeddingSettings
from tests.faults.conftest import ALL
from tests.faults.points import stages
from tests.faults.summary import Tally, seed
from tests.rag_core.scans import image_bytes, sheet
from tests.until import until

COUNT = 20
STRUCK = 7
ADDING = ("source", "intake", "acceptance", "reading", "card", "chunking", "embedding", "commit")
IN_THE_LIBRARY = ("reading", "chunking", "embedding", "commit")
FOLLOWING = ("chroma", "lexical")
# Those that have a test of their own below.
OTHERS = {"reading process", "indexing", "recognition", "re-embedding", "clustering", "watch", "job", "job row"}


def some(cases: Sequence[str], count: int) -> Sequence[str]:
    """All cases with `make test-faults`, else some by chance."""
    return cases if ALL else sorted(random.Random(seed()).sample(cases, count))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("one") / "library"
    with Library.open(Settings(_env_file=None, data_dir=folder, database_url=new_database())) as opened:
        yield opened


@pytest.fixture
def notes(request: pytest.FixtureRequest, library: Library) -> Iterator[list[Upload]]:
    """Twenty notes that no other test has; they leave the library with it."""
    told = request.node.name
    yield [Upload(f"note-{n}.txt", f"Note {n} of {told} says that {n * 7} otters swim.".encode()) for n in range(COUNT)]
    for document in library.documents():
        library.remove(document.id)


class Striker:
    """Has a stage fail for one document, by its id or its name."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def strike(self, stage: str, *about: str) -> None:
        self._patch.setenv(VARIABLE, f"{stage}={','.join(about)}")

    def spare(self) -> None:
        self._patch.delenv(VARIABLE)


@pytest.fixture
def striker(monkeypatch: pytest.MonkeyPatch) -> Striker:
    return Striker(monkeypatch)


def id_of(note: Upload) -> str:
    return hashlib.sha256(note.data).hexdigest()[:32]


def ends(events: Iterator[AddEvent]) -> dict[str, AddEvent]:
    """How each source ended; none ends twice."""
    found: dict[str, AddEvent] = {}
    for event in events:
        if event.stage in ("ready", "failed", "cancelled", "waiting"):
            assert event.source not in found
            found[event.source] = event
    return found


def assert_one_failed(told: dict[str, AddEvent], name: str) -> None:
    assert len(told) == COUNT
    failed = [event for event in told.values() if event.stage == "failed"]
    assert [event.source for event in failed] == [name], [str(event.error) for event in failed]
    assert "InjectedFault" in str(failed[0].error)
    assert failed[0].error.help  # type: ignore[union-attr]


def assert_all_found(library: Library, notes: list[Upload]) -> None:
    assert {document.state for document in library.documents()} == {"ready"}
    assert len(library.documents()) == COUNT
    (hit,) = library.search(notes[STRUCK].data.decode(), k=1)
    assert hit.document.id == id_of(notes[STRUCK])
    library.storage.settle()
    assert library.maintenance.verify(deep=True).findings == ()


def test_every_stage_has_its_test() -> None:
    assert set(stages()) == {*ADDING, *OTHERS}


@pytest.mark.parametrize("stage", some(ADDING, 3))
def test_while_it_is_added(stage: str, library: Library, notes: list[Upload], striker: Striker, tally: Tally) -> None:
    tally.faults += 1
    struck = notes[STRUCK]
    striker.strike(stage, id_of(struck), struck.name)
    assert_one_failed(ends(library.add(notes)), struck.name)
    failed = [document for document in library.documents() if document.state == "failed"]
    assert len([document for document in library.documents() if document.state == "ready"]) == COUNT - 1
    assert library.search(notes[0].data.decode(), k=1)[0].document.id == id_of(notes[0])
    # The next one comes in, too.
    (last,) = ends(library.add([Upload("next.txt", b"The next note tells of beavers.")])).values()
    assert last.stage == "ready" and last.document is not None
    library.remove(last.document.id)
    striker.spare()
    again = library.retry(failed[0].id) if failed else library.add([struck])
    assert [event.stage for event in ends(again).values()] == ["ready"]
    assert_all_found(library, notes)


def test_while_a_process_reads_it(settings: Settings, notes: list[Upload], striker: Striker, tally: Tally) -> None:
    """Such a process has the environment that it began with."""
    tally.faults += 1
    striker.strike("reading process", id_of(notes[STRUCK]))
    with Library.open(settings) as library:
        assert_one_failed(ends(library.add(notes)), notes[STRUCK].name)
    striker.spare()
    with Library.open(settings) as library:
        list(library.retry(id_of(notes[STRUCK])))
        assert_all_found(library, notes)


@pytest.mark.parametrize("stage", some(IN_THE_LIBRARY, 1))
def test_while_accepted_documents_are_resumed(
    stage: str, library: Library, notes: list[Upload], striker: Striker, tally: Tally
) -> None:
    tally.faults += 1
    assert {event.stage for event in ends(library.accept(notes)).values()} == {"waiting"}
    striker.strike(stage, id_of(notes[STRUCK]))
    assert_one_failed(ends(library.resume()), notes[STRUCK].name)
    striker.spare()
    list(library.retry(id_of(notes[STRUCK])))
    assert_all_found(library, notes)


@pytest.mark.parametrize("stage", some(IN_THE_LIBRARY, 1))
def test_while_everything_is_chunked_anew(
    stage: str, library: Library, notes: list[Upload], striker: Striker, tally: Tally
) -> None:
    tally.faults += 1
    list(library.add(notes))
    library.storage.documents.chunkings.put("another")
    striker.strike(stage, id_of(notes[STRUCK]))
    last = list(library.maintenance.rechunk())[-1]
    assert (last.stage, last.note[:2]) == ("done", "1 ")
    states = {document.id: document.state for document in library.documents()}
    assert states.pop(id_of(notes[STRUCK])) == "failed"
    assert set(states.values()) == {"ready"}
    striker.spare()
    list(library.retry(id_of(notes[STRUCK])))
    assert_all_found(library, notes)


def test_while_the_index_takes_it_that_answers_need(
    library: Library, notes: list[Upload], striker: Striker, tally: Tally
) -> None:
    tally.faults += 1
    struck = id_of(notes[STRUCK])
    striker.strike("indexing", f"dumps {struck}")
    assert_one_failed(ends(library.add(notes)), notes[STRUCK].name)
    assert library.document(struck).state == "stored"
    striker.spare()
    list(library.retry(struck))
    assert_all_found(library, notes)


@pytest.mark.parametrize("index", FOLLOWING)
def test_while_an_index_follows(
    index: str, library: Library, notes: list[Upload], striker: Striker, tally: Tally
) -> None:
    tally.faults += 1
    striker.strike("indexing", f"{index} {id_of(notes[STRUCK])}")
    assert {event.stage for event in ends(library.add(notes)).values()} == {"ready"}
    library.storage.settle()
    behind = library.storage.sync.waiting(index)
    assert behind.documents == 1
    assert "InjectedFault" in (behind.reason or "")
    striker.spare()
    assert_all_found(library, notes)
    assert library.storage.sync.waiting(index).documents == 0


def test_while_everything_is_embedded_anew(
    library: Library, notes: list[Upload], striker: Striker, tally: Tally
) -> None:
    tally.faults += 1
    list(library.add(notes))
    profile = library.storage.documents.profile()
    assert profile is not None
    other = EmbeddingSettings(precision="bf16" if profile.precision == "float32" else "float32")
    striker.strike("re-embedding", id_of(notes[STRUCK]))
    last = list(library.maintenance.reembed(other))[-1]
    assert (last.stage, last.note[:2]) == ("done", "1 ")
    states = {document.id: document.state for document in library.documents()}
    assert states.pop(id_of(notes[STRUCK])) == "failed"
    assert set(states.values()) == {"ready"}
    assert "InjectedFault" in (library.document(id_of(notes[STRUCK])).error or "")
    striker.spare()
    list(library.retry(id_of(notes[STRUCK])))
    assert_all_found(library, notes)


def test_while_it_is_clustered(library: Library, notes: list[Upload], striker: Striker, tally: Tally) -> None:
    tally.faults += 1
    list(library.add(notes))
    struck = id_of(notes[STRUCK])
    striker.strike("clustering", struck)
    last = list(library.clusters.update())[-1]
    assert (last.stage, last.note[:2]) == ("done", "1 ")
    assert library.clusters.tree().waiting == 0
    assert library.clusters.summary(struck) == ""
    assert all(library.clusters.summary(document.id) for document in library.documents() if document.id != struck)
    assert library.search(notes[STRUCK].data.decode(), mode="scaler", k=1)
    striker.spare()
    assert not list(library.clusters.update(anew=True))[-1].note
    assert library.clusters.summary(struck)


def test_while_a_page_is_recognised(library: Library, notes: list[Upload], striker: Striker, tally: Tally) -> None:
    tally.faults += 1
    scans = [
        Upload(f"{name}.png", image_bytes(sheet([f"A {name} flew away."]))) for name in ("heron", "raven", "stork")
    ]
    striker.strike("recognition", id_of(scans[1]))
    list(library.add([*notes[:2], *scans]))
    assert list(library.recognition.run())[-1].stage == "done"
    found = {document.sources[0]: document for document in library.documents()}
    assert {document.state for document in found.values()} == {"ready"}
    assert {name: document.chunk_count > 0 for name, document in found.items() if name.endswith("png")} == {
        "heron.png": True, "raven.png": False, "stork.png": True,
    }  # fmt: skip
    assert "InjectedFault" in (library.page(id_of(scans[1]), 1).error or "")
    striker.spare()
    list(library.retry(id_of(scans[1])))
    assert list(library.recognition.run())[-1].stage == "done"
    assert "raven" in library.page(id_of(scans[1]), 1).text
    assert library.page(id_of(scans[1]), 1).error is None


def test_while_a_folder_is_watched(settings: Settings, striker: Striker, tmp_path: Path, tally: Tally) -> None:
    tally.faults += 1
    folders = [tmp_path / name for name in ("struck", "spared")]
    for folder in folders:
        folder.mkdir()
        (folder / "note.txt").write_text(f"The {folder.name} folder has a note.")
        os.utime(folder / "note.txt", (time.time() - 100,) * 2)  # nobody writes it still
    striker.strike("watch", str(folders[0]))
    with Library.open(settings.changed("sources", watch_every_s=0.05)) as library:
        for folder in folders:
            library.sources.watch(folder)
        until(lambda: library.intake() == (1, 0))
        assert "spared" in library.pages(library.documents()[0].id)[0].text
        striker.spare()
        until(lambda: library.intake() == (2, 0))


def test_while_jobs_are_taken_up_again(library: Library, notes: list[Upload], striker: Striker, tally: Tally) -> None:
    tally.faults += 1
    list(library.accept(notes))
    kept = library.storage.jobs
    now = datetime.now(UTC)
    jobs = [Job(f"{n:032x}", "add", note.name, document_id=id_of(note), created_at=now) for n, note in enumerate(notes)]
    kept.put(jobs)
    striker.strike("job row", jobs[STRUCK].id)
    library.jobs.resume()
    until(lambda: not library.jobs.busy() and len(library.jobs.all("add")) == COUNT)
    striker.spare()
    assert_all_found(library, notes)
