"""Folders: a second pass costs little, what changed takes the old one's place, watched ones follow their files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from rag_core import AddEvent, Library, Settings, Upload
from rag_core.errors import ConfigurationError, LecternError, LimitExceeded, SourceUnavailable, UnsupportedDocument
from rag_core.sources import Item, read_item
from tests.memory import remembered
from tests.rag_core.reading.test_locked import a_letter, locked
from tests.rag_core.samples import TEXTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of notes that nobody wrote to lately."""
    for name, text in TEXTS.items():
        write(tmp_path / "notes" / name, text)
    return tmp_path / "notes"


def write(path: Path, text: str, *, age_s: float = 100) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age_s,) * 2)


def ends(events: Iterable[AddEvent]) -> dict[str, tuple[str, str]]:
    return {e.source: (e.stage, e.note) for e in events if e.stage in ("ready", "failed", "cancelled")}


def names(library: Library) -> set[str]:
    return {name for document in library.documents() if document.state == "ready" for name in document.sources}


def soon(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)
    return holds()


def test_a_folder_that_holds_the_library_itself_offers_none_of_its_files(
    settings: Settings, library: Library, folder: Path
) -> None:
    assert settings.data_dir.parent == folder.parent
    list(library.add([folder]))  # so that its indexes have files
    assert any(settings.data_dir.rglob("*.json"))
    added = ends(library.add([folder.parent]))
    assert not any("owner.json" in name or "lexical" in name for name in (*added, *names(library)))
    assert len(library.documents()) == len(TEXTS)


def test_a_second_pass_reads_what_changed_alone(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ends(library.add([folder]))) == len(TEXTS)
    old = next(document for document in library.documents() if document.sources == ("bakery.md",))
    library.catalogue.tag([old.id], add=["bread"])
    write(folder / "bakery.md", TEXTS["bakery.md"].replace("4.20", "5.30"), age_s=50)
    read: list[str] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *how, **more: read.append(path.name) or real(path, *how, **more))
    again = ends(library.add([folder]))
    assert [name for name in read if name in TEXTS] == ["bakery.md"]
    assert again.pop("bakery.md") == ("ready", "")
    assert set(again.values()) == {("ready", "already in the library")}
    new = next(document for document in library.documents() if document.sources == ("bakery.md",))
    assert (len(library.documents()), new.tags) == (len(TEXTS), ("bread",))
    assert "5.30" in library.search("What does a loaf of rye bread cost?", k=1)[0].text
    with pytest.raises(KeyError):
        library.document(old.id)
    assert library.maintenance.verify(deep=True).findings == ()


def test_a_newer_version_waits_for_its_place(settings: Settings, folder: Path) -> None:
    with Library.open(settings) as library:
        list(library.add([folder / "bakery.md", Upload("kept.txt", TEXTS["chess.txt"].encode()), folder / "chess.txt"]))
        write(folder / "bakery.md", "The bakery burnt down, and nobody knows what bread costs now.")
        write(folder / "chess.txt", "Chess is played on sixty-four squares.")
        list(library.accept([folder / "bakery.md", folder / "chess.txt"]))
        assert "4.20" in library.search("What does a loaf of rye bread cost?", k=1)[0].text
    with Library.open(settings) as library:
        list(library.resume())
        assert "burnt" in library.search("What does a loaf of rye bread cost?", k=1)[0].text
        assert {document.sources for document in library.documents()} == {("bakery.md",), ("chess.txt",), ("kept.txt",)}


def test_what_of_a_folder_was_not_taken_is_said_in_the_last_event(settings: Settings, folder: Path) -> None:
    small = settings.changed("reading", max_file_bytes=90_000)
    write(folder / "empty.txt", "")
    write(folder / "long.txt", "x" * 100_000)
    locked(folder / "locked.docx", a_letter, "geheim")
    write(folder / "map.dwg", "x")
    with Library.open(small) as library:
        *_, last = list(library.add([folder]))
        assert (last.source, last.stage) == (str(folder), "cancelled")
        assert last.note == (
            "Not taken: 1 empty (empty.txt); 1 with a password (locked.docx); 1 too large (long.txt). Passed over, as"
            " kinds that are not taken from folders: map.dwg. One named by itself is tried."
        )
        for name in ("empty.txt", "long.txt", "locked.docx", "map.dwg"):
            (folder / name).unlink()
        assert str(folder) not in ends(library.add([folder]))  # all was taken


def test_files_of_other_kinds_are_named_at_the_end(library: Library, folder: Path) -> None:
    for name in ("map.dwg", "old.wpd", ".hidden", "~$open.docx"):
        write(folder / name, "<map/>")
    told = ends(library.add([folder]))
    stage, note = told.pop(str(folder))
    assert (stage, list(told)) == ("cancelled", sorted(TEXTS))
    assert "map.dwg, old.wpd." in note and "hidden" not in note and "open" not in note
    watched = library.sources.watch(folder)
    assert "map.dwg, old.wpd." in ends(library.sources.update([watched.location]))[watched.location][1]
    assert "map.dwg, old.wpd." in library.sources.followed()[0].problem
    job = library.jobs.submit("visit", watched.location)
    assert soon(lambda: library.jobs.get(job.id).finished)
    assert "map.dwg, old.wpd." in " ".join(library.jobs.get(job.id).result.notes)
    for name in TEXTS:
        (folder / name).unlink()
    (event,) = (event for event in library.add([folder]) if event.stage == "failed")
    assert "map.dwg, old.wpd." in str(event.error)
    for number in range(30):
        write(folder / f"{number}.xyz", "x")
    write(folder / "one.txt", "One text of many files.")
    assert ends(library.add([folder]))[str(folder)][1].count(".xyz") < 30


def test_what_was_removed_stays_so_when_its_file_is_touched(library: Library, folder: Path) -> None:
    watched = library.sources.watch(folder)
    list(library.sources.update())
    chess = next(document for document in library.documents() if document.sources == ("chess.txt",))
    bakery = next(document for document in library.documents() if document.sources == ("bakery.md",))
    library.remove(chess.id)
    library.catalogue.set_aside([bakery.id], undo_s=0)
    for age_s in (50, 40):
        for name in ("chess.txt", "bakery.md"):
            write(folder / name, TEXTS[name], age_s=age_s)
        told = ends(library.sources.update([watched.location]))
        assert {name: stage for name, (stage, _) in told.items()} == {
            "bakery.md": "cancelled",
            "chess.txt": "cancelled",
        }
        assert not {"chess.txt", "bakery.md"} & names(library)
        assert not ends(library.sources.update([watched.location]))
    write(folder / "chess.txt", TEXTS["chess.txt"] + " Now it says more.", age_s=30)
    list(library.sources.update([watched.location]))
    assert "chess.txt" in names(library)
    list(library.add([folder / "bakery.md"]))  # who names it wants it
    assert "bakery.md" in names(library)


def test_a_file_that_was_renamed_is_followed_and_one_that_is_gone_is_told_of_once(
    library: Library, folder: Path
) -> None:
    list(library.add([folder / "bakery.md", folder / "chess.txt", folder / "glacier.txt", folder / "lighthouse.txt"]))
    ids = {document.sources[0]: document.id for document in library.documents()}
    (folder / "bakery.md").rename(folder / "bread.md")
    (folder / "chess.txt").unlink()
    (folder / "glacier.txt").rename(folder.parent / "ice.txt")
    list(library.add([folder.parent / "ice.txt"]))
    told = ends(library.sources.update())
    assert {name: stage for name, (stage, _) in told.items()} == {
        "bread.md": "ready", "chess.txt": "failed", "glacier.txt": "ready", "ice.txt": "ready",
        "lighthouse.txt": "ready",
    }  # fmt: skip
    assert set(ends(library.sources.update()).values()) == {("ready", "already in the library")}
    now = {document.sources: document.id for document in library.documents()}
    assert now == {
        ("bread.md",): ids["bakery.md"], ("chess.txt",): ids["chess.txt"],
        ("glacier.txt", "ice.txt"): ids["glacier.txt"], ("lighthouse.txt",): ids["lighthouse.txt"],
    }  # fmt: skip
    write(folder / "bread.md", "The bakery moved to Harbour Street.")
    assert ends(library.sources.update())["bread.md"] == ("ready", "")
    assert "Harbour" in library.search("Where did the bakery move?", k=1)[0].text
    folder.rename(folder.with_name("away"))  # a drive that may come back
    for _ in range(2):
        assert ends(library.sources.update())["bread.md"][0] == "failed"
    folder.with_name("away").rename(folder)
    assert ends(library.sources.update())["bread.md"][0] == "ready"
    assert library.maintenance.verify(deep=True).findings == ()


def test_files_that_were_added_by_their_paths_are_looked_at_when_asked(library: Library, folder: Path) -> None:
    list(library.add([folder / "bakery.md", folder / "chess.txt", folder / "glacier.txt"]))
    write(folder / "bakery.md", "The bakery moved to Harbour Street.")
    (folder / "chess.txt").unlink()
    told = ends(library.sources.update())
    assert {name: stage for name, (stage, _) in told.items()} == {
        "bakery.md": "ready", "chess.txt": "failed", "glacier.txt": "ready",
    }  # fmt: skip
    assert len(names(library)) == 3


def test_a_watched_folder_follows_its_files(library: Library, folder: Path) -> None:
    watched = library.sources.watch(folder, tags=["notes"])
    list(library.sources.update([watched.location]))
    assert {document.tags for document in library.documents()} == {("notes",)}
    list(library.sources.update([watched.location]))
    assert library.sources.changes == 1
    ids = {document.sources[0]: document.id for document in library.documents()}
    (folder / "glacier.txt").rename(folder / "ice.txt")
    (folder / "chess.txt").unlink()
    write(folder / "inside" / "new.txt", "A new note of the harbour and its cranes.")
    write(folder / "bakery.md", "The bakery moved to Harbour Street.")
    list(library.sources.update([watched.location]))
    assert library.sources.changes == 2
    now = {document.sources: document.id for document in library.documents()}
    assert set(now) == {("lighthouse.txt",), ("ice.txt",), ("inside/new.txt",), ("bakery.md",)}
    assert now[("ice.txt",)] == ids["glacier.txt"]
    assert now[("bakery.md",)] != ids["bakery.md"]
    library.remove(now[("ice.txt",)])
    list(library.sources.update([watched.location]))
    assert "ice.txt" not in names(library)
    write(folder / "ice.txt", "The ice is thinner than it was.")
    list(library.sources.update([watched.location]))
    assert "ice.txt" in names(library)
    assert library.sources.followed()[0].documents == 4
    assert library.maintenance.verify(deep=True).findings == ()


def test_a_watched_folder_gives_nothing_that_lies_outside(library: Library, folder: Path) -> None:
    write(folder.parent / "private.txt", "The safe opens with four nines.")
    write(folder.parent / "more" / "diary.txt", "Nobody has read this diary.")
    (folder / "link.txt").symlink_to(folder.parent / "private.txt")
    (folder / "all").symlink_to(folder.parent / "more")
    (folder / "again.md").symlink_to(folder / "bakery.md")
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    library.sources.watch(folder)
    found = ends(library.sources.update([str(folder)]))
    assert found.pop("link.txt") == found.pop("gone.txt") == ("failed", "")
    assert found.pop(str(folder))[0] == "cancelled"
    assert set(found) == {*TEXTS, "again.md"}
    (one,) = library.sources.followed()
    assert one.problem.startswith("Links that lead out of the folder are passed over: link.txt. Pipes, devices and ")
    assert "lead nowhere are passed over: gone.txt. Passed over, " in one.problem
    assert not {name for name in names(library) if name in ("private.txt", "link.txt", "diary.txt")}
    # A file that becomes a link keeps the document that it was, and one that leads elsewhere by then is not read.
    (folder / "chess.txt").unlink()
    (folder / "chess.txt").symlink_to(folder.parent / "private.txt")
    again = ends(library.sources.update([str(folder)]))
    assert again["chess.txt"][0] == "failed"
    assert "chess.txt" in names(library)
    for name in ("link.txt", "gone.txt", "all", "chess.txt"):
        (folder / name).unlink()
    assert ends(library.sources.update([str(folder)]))["chess.txt"][0] == "cancelled"
    assert library.sources.followed()[0].problem == ""
    assert ends(library.add([folder.parent / "more"]))["diary.txt"][0] == "ready", "whoever names a folder may read it"


def test_what_must_lie_within_a_folder_is_opened_without_following_a_link(folder: Path) -> None:
    write(folder.parent / "more" / "diary.txt", "Nobody has read this diary.")
    (folder / "all").symlink_to(folder.parent / "more")
    (folder / "again.md").symlink_to("bakery.md")
    for inside in ("bakery.md", "again.md"):
        data, visit = read_item(Item(inside, folder / inside, within=folder), 1000)
        assert (data, visit.size_bytes) == ((folder / "bakery.md").read_bytes(), len(data))
    for outside in ("all/diary.txt", "../more/diary.txt", "none.txt", "all", ""):
        with pytest.raises(LecternError):
            read_item(Item(outside, folder / outside, within=folder), 1000)
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(UnsupportedDocument):
        read_item(Item("pipe.txt", folder / "pipe.txt", within=folder), 1000)
    with pytest.raises(LimitExceeded):
        read_item(Item("bakery.md", folder / "bakery.md", within=folder), 3)


def test_how_much_of_a_watched_folder_is_read_and_why_not_the_rest(library: Library, folder: Path) -> None:
    write(folder / "empty.txt", "")
    write(folder / "map.xyz", "x")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    os.utime(folder / "broken.pdf", (time.time() - 100,) * 2)
    (folder / "pipe.txt").symlink_to(folder / "nowhere")
    place = library.sources.watch(folder).location
    list(library.sources.update([place]))
    (found,) = library.sources.coverage()
    assert (found.location, found.files, found.ready) == (place, len(TEXTS) + 4, len(TEXTS))
    why = {name: (reason, help_text) for name, reason, help_text in found.unread}
    assert why.keys() == {"empty.txt", "broken.pdf", "pipe.txt"}
    assert all(reason for reason, _ in why.values())
    assert "Download or copy" in why["broken.pdf"][1]
    assert found.passed_over == ("map.xyz",)
    write(folder / "empty.txt", "The harbour has two cranes.")
    for name in ("broken.pdf", "map.xyz", "pipe.txt"):
        (folder / name).unlink()
    list(library.sources.update([place]))
    (found,) = library.sources.coverage()
    assert (found.ready, found.files, found.unread) == (len(TEXTS) + 1, len(TEXTS) + 1, ())
    library.sources.unwatch(place)
    assert library.sources.coverage() == []


def test_a_folder_that_vanished_takes_nothing_with_it(library: Library, folder: Path) -> None:
    watched = library.sources.watch(folder)
    list(library.sources.update([watched.location]))
    folder.rename(folder.with_name("away"))
    (event,) = (event for event in library.sources.update([watched.location]) if event.error)
    assert isinstance(event.error, SourceUnavailable)
    assert "not there" in library.sources.followed()[0].problem
    folder.mkdir()  # what is left of a drive that is not mounted: an empty folder, on another device
    library.storage.database.execute("UPDATE followed_sources SET device = device + 1")
    assert "empty" in next(str(event.error) for event in library.sources.update([watched.location]) if event.error)
    assert len(names(library)) == len(TEXTS)
    folder.rmdir()
    folder.with_name("away").rename(folder)
    assert not [event for event in library.sources.update([watched.location]) if event.error]
    assert library.sources.followed()[0].problem == ""


def test_what_can_be_watched(library: Library, folder: Path) -> None:
    watched = library.sources.watch(folder)
    (folder / "inside").mkdir()
    with pytest.raises(ConfigurationError):
        library.sources.watch(folder / "inside")
    for nowhere in (folder / "nowhere", "~nobody-of-this-name/notes"):
        with pytest.raises(SourceUnavailable):
            library.sources.watch(nowhere)
        with pytest.raises(KeyError):
            library.sources.unwatch(str(nowhere))
    list(library.sources.update([watched.location]))
    library.sources.unwatch(str(folder))
    assert not library.sources.followed()
    assert len(names(library)) == len(TEXTS)
    list(library.sources.update([library.sources.watch(folder).location]))
    library.sources.unwatch(str(folder), remove=True)
    assert not names(library)


def test_a_folder_that_is_watched_no_longer_is_forgotten(library: Library, tmp_path: Path) -> None:
    before = remembered(library.sources)
    for number in range(10):
        place = tmp_path / f"notes {number}"
        write(place / "one.txt", f"Note number {number} is about the harbour.")
        list(library.sources.update([library.sources.watch(place).location]))
        library.sources.unwatch(str(place), remove=number % 2 == 0)
    assert remembered(library.sources) <= before + 1  # the last one's look may go on


@pytest.fixture
def quick(settings: Settings) -> Iterator[Settings]:
    yield settings.changed("sources", watch_every_s=0.05)


def test_folders_are_followed_by_themselves_also_after_a_restart(quick: Settings, folder: Path) -> None:
    with Library.open(quick) as library:
        library.sources.watch(folder)
        assert soon(lambda: len(names(library)) == len(TEXTS))
        write(folder / "more.txt", "The harbour has two cranes.", age_s=0)
        assert soon(lambda: "more.txt" in names(library))
        (folder / "chess.txt").unlink()
        assert soon(lambda: "chess.txt" not in names(library))
    write(folder / "later.txt", "Something came while nobody looked.")
    (folder / "more.txt").unlink()
    with Library.open(quick) as library:
        assert soon(lambda: "later.txt" in names(library) and "more.txt" not in names(library))
