from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rag_core import Cancellation, Library, Settings, Upload, server_file
from rag_core.errors import (
    AddressRefused,
    ConfigurationError,
    InvalidQuestion,
    LibraryInUse,
    StoreUnavailable,
    UnreadableDocument,
    UnsupportedDocument,
)
from tests.conftest import PROJECT, add_text
from tests.rag_core.samples import TEXTS


@pytest.fixture
def filled(library: Library) -> Library:
    for event in library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]):
        assert event.error is None
    return library


def test_a_question_finds_its_passage_and_the_answer_cites_it(filled: Library) -> None:
    answer = filled.ask("What does a loaf of rye bread cost?")
    assert not answer.abstained
    assert "4.20" in answer.text
    first = answer.citations[0]
    assert (first.title, first.page) == ("The bakery", 1)
    page = filled.page(first.document_id, first.page)
    assert " ".join(page.text[first.start : first.end].split()) == " ".join(first.text.split())


def test_what_the_documents_do_not_hold_is_said(filled: Library) -> None:
    answer = filled.ask("Who won the football world cup in Brazil?")
    assert answer.abstained
    assert "Not found in these documents" in answer.text
    assert not answer.citations


def test_a_question_before_any_document_is_answered_with_not_found(library: Library) -> None:
    assert library.ask("Is there anything here?").abstained
    assert library.search("Is there anything here?") == []


@pytest.mark.parametrize(
    "question", ["", "   \n", "\x00\x07\x1b", "x" * 20_000], ids=["empty", "blank", "control", "long"]
)
def test_a_question_that_is_none_is_refused(filled: Library, question: str) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        filled.ask(question)
    assert refused.value.help
    with pytest.raises(InvalidQuestion):
        filled.search(question)


def test_events_tell_each_step(library: Library) -> None:
    events = list(library.add([Upload("chess.txt", TEXTS["chess.txt"].encode())]))
    assert list(dict.fromkeys(event.stage for event in events)) == ["reading", "embedding", "storing", "ready"]
    assert events[-1].document is not None
    assert events[-1].document.chunk_count == 1


def test_the_same_bytes_under_two_names_are_one_document(library: Library) -> None:
    data = TEXTS["glacier.txt"].encode()
    events = [e for e in library.add([Upload("a.txt", data), Upload("b.txt", data)]) if e.stage == "ready"]
    assert [(e.source, e.note) for e in events] == [("a.txt", ""), ("b.txt", "already in the library")]
    (document,) = library.documents()
    assert set(document.sources) == {"a.txt", "b.txt"}
    *_, again = library.add([Upload("c.txt", data)])
    assert again.note == "already in the library"


def test_the_same_name_with_other_bytes_is_another_document(library: Library) -> None:
    add_text(library, "a.txt", TEXTS["glacier.txt"])
    add_text(library, "a.txt", TEXTS["chess.txt"])
    assert len(library.documents()) == 2


def test_the_same_bytes_twice_at_once_are_one_document(library: Library) -> None:
    data = TEXTS["lighthouse.txt"].encode()
    ends: list[str] = []

    def add(name: str) -> None:
        *_, last = library.add([Upload(name, data)])
        ends.append(last.stage)

    threads = [threading.Thread(target=add, args=(f"{n}.txt",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == ["ready"] * 6
    assert len(library.documents()) == 1


def test_a_removed_document_is_found_no_longer_and_can_come_back(filled: Library) -> None:
    (glacier,) = [d for d in filled.documents() if "glacier" in d.sources[0]]
    old = filled.ask("How much thickness did the Norden glacier lose?")
    filled.remove(glacier.id)
    assert all(hit.document.id != glacier.id for hit in filled.search("How much did the glacier lose?"))
    with pytest.raises(KeyError):
        filled.document(glacier.id)
    kept = filled.messages(old.conversation)[0].answer
    assert kept is not None
    assert "eleven metres" in kept.citations[0].text
    assert add_text(filled, "glacier.txt", TEXTS["glacier.txt"]).id == glacier.id
    assert filled.search("How much did the glacier lose?")[0].document.id == glacier.id


def test_everything_is_there_after_a_restart(settings: Settings) -> None:
    with Library.open(settings) as library:
        add_text(library, "chess.txt", TEXTS["chess.txt"])
        answer = library.ask("How does a bishop move in chess?")
        library.preferences.set("model", "extractive")
    with Library.open(settings) as library:
        assert [d.title for d in library.documents()] == ["chess"]
        assert library.search("How does the bishop move?")[0].text.startswith("In chess")
        (message,) = library.messages(answer.conversation)
        assert message.answer is not None
        assert message.answer.citations == answer.citations
        assert message.answer.sentences == answer.sentences
        assert library.preferences.get("model") == "extractive"


def test_a_cancelled_source_leaves_nothing_and_the_rest_goes_on(library: Library) -> None:
    token = Cancellation()
    token.cancel("chess.txt")
    ends = {
        event.source: event.stage
        for event in library.add([Upload(n, t.encode()) for n, t in TEXTS.items()], cancellation=token)
    }
    assert ends.pop("chess.txt") == "cancelled"
    assert set(ends.values()) == {"ready"}
    assert len(library.documents()) == len(TEXTS) - 1


def test_cancelling_amid_embedding_forgets_the_document(library: Library) -> None:
    token = Cancellation()
    long = "\n\n".join(
        f"Paragraph {n} tells of the number {n * 7} at some length, as texts do. " * 9 for n in range(400)
    )
    stages = []
    for event in library.add([Upload("long.txt", long.encode())], cancellation=token):
        stages.append(event.stage)
        if event.stage == "embedding":
            token.cancel("long.txt")
    assert stages[-1] == "cancelled"
    assert library.documents() == []


def test_documents_left_pending_are_resumed(settings: Settings) -> None:
    with Library.open(settings) as library:
        for event in library.add([Upload("chess.txt", TEXTS["chess.txt"].encode())]):
            if event.stage == "reading":
                break  # whoever stops listening leaves the rest pending
        assert [d.state for d in library.documents()] in ([], ["pending"], ["ready"])
    with Library.open(settings) as library:
        stages = [event.stage for event in library.resume()]
        if library.documents():
            assert [d.state for d in library.documents()] == ["ready"]
            assert not stages or stages[-1] == "ready"


def test_a_failing_source_does_not_keep_the_others(library: Library) -> None:
    sources = [
        Upload("empty.txt", b""),
        Upload("page.pdf", b"<!DOCTYPE html><html><body>no PDF</body></html>"),
        Upload("broken.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog"),
        "/no/such/file.txt",
        "https://127.0.0.1/page",
        Upload("chess.txt", TEXTS["chess.txt"].encode()),
    ]
    ends = {event.source: event for event in library.add(sources) if event.stage in ("ready", "failed")}
    assert ends.pop("chess.txt").stage == "ready"
    kinds = (UnreadableDocument, UnsupportedDocument, AddressRefused)
    for name, event in ends.items():
        assert isinstance(event.error, kinds), name
        assert event.error.help, name
    assert len(ends) == 5
    assert {d.state for d in library.documents()} == {"ready", "failed"}


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.txt", "a'\"b\\.txt", "🗿 ünïcode.txt", "n" * 300 + ".txt", "nul\x00name.txt", "/abs/path.txt"],
    ids=["dots", "quotes", "emoji", "long", "nul", "absolute"],
)
def test_odd_names_are_names_and_no_paths(library: Library, settings: Settings, name: str) -> None:
    document = add_text(library, name, TEXTS["chess.txt"])
    assert len(library.documents()) == 1
    assert library.search("How does the bishop move?")[0].document.id == document.id
    assert (settings.data_dir / "files" / document.id).is_file()


def test_folders_are_walked(library: Library, tmp_path: Path) -> None:
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "deep" / "chess.txt").write_text(TEXTS["chess.txt"])
    (tmp_path / "notes" / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "notes" / "~$open.docx").write_bytes(b"what Word keeps beside an open file")
    (tmp_path / "notes" / ".git").mkdir()
    (tmp_path / "notes" / ".git" / "hidden.txt").write_text("hidden")
    ends = [e.source for e in library.add([tmp_path / "notes"]) if e.stage == "ready"]
    assert ends == ["deep/chess.txt"]


def test_a_folder_has_one_owner(library: Library, settings: Settings) -> None:
    with (
        pytest.raises(LibraryInUse, match="process") as refused,
        server_file.told(library.folder, "http://[::1]:1", "key"),
    ):
        Library.open(settings)
    assert 'Library.connect("http://[::1]:1")' in refused.value.help
    assert "Its pages are at http://[::1]:1;" in refused.value.help


def test_a_database_has_one_owner(library: Library, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(LibraryInUse, match=f"database.*process {os.getpid()} on") as refused:
        Library.open(settings.model_copy(update={"data_dir": tmp_path / "other"}))
    assert "a database each" in refused.value.help


def test_a_folder_that_cannot_be_made_is_said(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError) as refused:
        Library.open(settings.model_copy(update={"data_dir": tmp_path / "file" / "library"}))
    assert "LECTERN_DATA_DIR" in refused.value.help


def test_a_database_that_does_not_answer_is_said(tmp_path: Path) -> None:
    url = "postgresql://someone:secret@127.0.0.1:9/nothing"
    with pytest.raises(StoreUnavailable) as refused:
        Library.open(Settings(_env_file=None, data_dir=tmp_path, database_url=url))
    assert "secret" not in str(refused.value)
    assert "DATABASE_URL" in refused.value.help
    assert not (tmp_path / "owner.lock").exists() or _can_be_locked(tmp_path)


def _can_be_locked(folder: Path) -> bool:
    from filelock import FileLock

    with FileLock(folder / "owner.lock", timeout=1):
        return True


def test_a_full_disk_refuses_new_documents_and_goes_on_searching(filled: Library) -> None:
    filled.preferences.settings = filled.settings.changed("storage", min_free_bytes=2**60)
    *_, last = filled.add([Upload("more.txt", b"One more text.")])
    assert last.stage == "failed"
    assert "disk" in str(last.error)
    assert filled.search("rye bread")


def test_conversations_are_kept_renamed_and_deleted(filled: Library) -> None:
    first = filled.ask("When was the lighthouse at Cape Varn lit for the first time?")
    second = filled.ask("Who was its last keeper?", conversation=first.conversation)
    assert second.conversation == first.conversation
    filled.ask("What does a cinnamon roll cost?")
    assert len(filled.conversations()) == 2
    assert [m.question for m in filled.messages(first.conversation)] == [first.question, second.question]
    filled.history.rename(first.conversation, "  Lighthouses  ")
    assert "Lighthouses" in {c.title for c in filled.conversations()}
    filled.history.delete(first.conversation)
    assert len(filled.conversations()) == 1
    assert filled.messages(first.conversation) == []
    assert filled.storage.database.row("SELECT count(*) FROM messages") == (1,)


def test_an_answer_whose_listener_leaves_is_kept_as_stopped(filled: Library) -> None:
    pieces = filled.stream("What does a loaf of rye bread cost?", conversation="abc")
    next(pieces)
    pieces.close()
    (message,) = filled.messages("abc")
    assert message.answer is not None
    assert message.answer.stopped


def test_pages_and_chunks(library: Library) -> None:
    text = "\n\n".join(f"Paragraph {n} is here to fill the page with words. " * 12 for n in range(8))
    document = add_text(library, "long.txt", text)
    chunks = library.chunks(document.id)
    assert len(chunks) == document.chunk_count > 3
    assert library.chunks(document.id, first=1, limit=2) == chunks[1:3]
    (page,) = library.pages(document.id)
    assert all(page.text[c.start : c.end] == c.text for c in chunks)


def test_a_pdf_page_is_drawn_with_the_boxes_of_a_passage(library: Library) -> None:
    (pdf,) = sorted((PROJECT / "data" / "samples").glob("*.pdf"))
    *_, last = library.add([pdf])
    assert last.document is not None
    hit = library.search("timetable")[0]
    picture = library.page_image(last.document.id, hit.page, span=(hit.start, hit.end))
    assert picture.png.startswith(b"\x89PNG")
    assert picture.boxes
    assert all(0 <= b.left < b.right <= 1 and 0 <= b.top < b.bottom <= 1 for b in picture.boxes)


def test_status_says_how_the_library_is(filled: Library) -> None:
    status = filled.maintenance.status()
    assert (status.documents, status.pending, status.failed) == (len(TEXTS), 0, 0)
    assert "MiniLM" in status.profile
    assert filled.embedding.get().how in status.profile
    assert "PostgreSQL" in status.postgresql
    assert status.models[0].ready
