"""What a person, a file or a failing machine may do to a library: a clear message, and the rest goes on."""

from __future__ import annotations

import io
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from pypdf import PdfReader, PdfWriter

from rag_core import Cancellation, Library, Settings, Upload
from rag_core.domain import AddEvent
from rag_core.errors import (
    ConfigurationError,
    EncryptedDocument,
    InvalidQuestion,
    LecternError,
    ModelUnavailable,
    StoreUnavailable,
    UnreadableDocument,
    UnsupportedDocument,
)
from rag_core.storage.postgres.changes import Waiting
from tests.conftest import PROJECT, add_text
from tests.rag_core.reading.test_locked import a_letter, locked
from tests.rag_core.samples import TEXTS

CHESS = TEXTS["chess.txt"].encode()
LONG = "\n\n".join(f"Paragraph {n} tells of the number {n * 7} at some length, as texts do. " * 9 for n in range(70))


@pytest.fixture(scope="module")
def open_library(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], str]
) -> Iterator[Callable[[], Library]]:
    """Opens libraries that several tests share."""
    with ExitStack() as stack:

        def opened() -> Library:
            folder = tmp_path_factory.mktemp("shared")
            settings = Settings(_env_file=None, data_dir=folder, database_url=new_database())
            return stack.enter_context(Library.open(settings))

        yield opened


@pytest.fixture(scope="module")
def shelf(open_library: Callable[[], Library]) -> Library:
    """A library that gathers whatever files the tests add."""
    return open_library()


@pytest.fixture(scope="module")
def asked(open_library: Callable[[], Library]) -> Library:
    """A library of the small texts; tests ask it and leave its documents alone."""
    library = open_library()
    for name, text in TEXTS.items():
        add_text(library, name, text)
    return library


def ends(events: Iterable[AddEvent]) -> dict[str, AddEvent]:
    return {event.source: event for event in events if event.stage in ("ready", "failed", "cancelled")}


def together(*work: Callable[[], object]) -> None:
    """Run in threads; what one raises is raised here."""
    failures: list[BaseException] = []

    def guarded(part: Callable[[], object]) -> None:
        try:
            part()
        except BaseException as error:  # noqa: BLE001  raised again below
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(part,)) for part in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


# The same document from several sides at once


def test_one_of_two_equal_files_cancelled_leaves_the_other(library: Library) -> None:
    token = Cancellation()
    token.cancel("a.txt")
    told = ends(library.add([Upload("a.txt", CHESS), Upload("b.txt", CHESS)], cancellation=token))
    assert {name: event.stage for name, event in told.items()} == {"a.txt": "cancelled", "b.txt": "ready"}
    (document,) = library.documents()
    assert document.sources == ("b.txt",)


def test_a_file_cancelled_after_its_twin_came_does_not_take_the_twin_along(library: Library) -> None:
    token = Cancellation()
    told: dict[str, str] = {}
    for event in library.add([Upload("a.txt", LONG.encode()), Upload("b.txt", LONG.encode())], cancellation=token):
        if event.source == "a.txt" and event.stage == "embedding":
            token.cancel("a.txt")
        told[event.source] = event.stage
    assert told == {"a.txt": "cancelled", "b.txt": "ready"}
    assert library.search("number 420")


def test_a_twin_goes_its_own_way_when_the_first_run_is_left(library: Library) -> None:
    first = library.add([Upload("a.txt", LONG.encode())])
    next(first)
    second = library.add([Upload("b.txt", LONG.encode())])
    next(second)
    first.close()  # type: ignore[attr-defined]
    assert ends(second)["b.txt"].stage == "ready"


def test_twins_that_cannot_be_read_fail_for_the_same_reason(library: Library) -> None:
    data = encrypted("secret")
    told = ends(library.add([Upload("a.pdf", data), Upload("b.pdf", data)]))
    assert [type(event.error) for event in told.values()] == [EncryptedDocument] * 2


def test_a_document_removed_while_it_is_embedded_stays_removed(library: Library) -> None:
    last = None
    for event in library.add([Upload("long.txt", LONG.encode())]):
        if event.stage == "embedding" and library.documents():
            library.remove(library.documents()[0].id)
        last = event
    assert last is not None
    assert last.stage == "cancelled"
    assert library.documents() == []
    assert library.search("number 420") == []
    assert add_text(library, "long.txt", LONG).state == "ready"


def test_a_document_removed_while_it_is_read_is_not_kept_as_failed(library: Library) -> None:
    many = "\f".join(f"Page {n} has words." for n in range(3000))
    for event in library.add([Upload("many.txt", many.encode())]):
        if event.stage == "reading" and event.total and library.documents():
            library.remove(library.documents()[0].id)
    assert library.documents() == []


@pytest.mark.parametrize("stage", ["reading", "embedding", "storing"])
def test_cancelling_at_any_stage_leaves_a_whole_document_or_none(library: Library, stage: str) -> None:
    token = Cancellation()
    last = None
    for event in library.add([Upload("a.txt", LONG.encode())], cancellation=token):
        if event.stage == stage:
            token.cancel()
        last = event
    assert last is not None
    assert last.stage in ("cancelled", "ready")
    assert len(library.documents()) == len(library.search("number 420", k=1)) == (last.stage == "ready")


def test_adding_removing_and_searching_at_once(library: Library) -> None:
    add_text(library, "glacier.txt", TEXTS["glacier.txt"])

    def add_and_remove() -> None:
        for _ in range(6):
            told = ends(library.add([Upload("chess.txt", CHESS), Upload("again.txt", CHESS)]))
            assert all(event.stage in ("ready", "cancelled") for event in told.values()), told
            for document in library.documents():
                if document.title != "glacier":
                    library.remove(document.id)

    def search() -> None:
        for engine in ["dumps", "pgvector"] * 15:
            assert "glacier" in library.search("How much did the glacier lose?", index=engine)[0].text

    together(add_and_remove, add_and_remove, search, search)
    assert [document.title for document in library.documents()] == ["glacier"]
    assert {hit.document.title for hit in library.search("bishop")} == {"glacier"}


def test_a_document_comes_back_while_chroma_has_yet_to_let_it_go(settings: Settings) -> None:
    away = settings.model_copy(update={"chroma_url": "http://127.0.0.1:9"})
    with Library.open(away) as library:
        document = add_text(library, "chess.txt", CHESS.decode())
        library.storage.settle()
        library.remove(document.id)
        library.storage.settle()
        assert add_text(library, "again.txt", CHESS.decode()).sources == ("again.txt",)
    with Library.open(settings) as library:
        with psycopg.connect(_url(settings), autocommit=True) as connection:
            connection.execute("UPDATE index_backlog SET next_attempt_at = now()")
        library.storage.settle()
        assert library.storage.sync.waiting("chroma") == Waiting()
        assert library.search("How does the bishop move?", index="chroma")[0].document.id == document.id


def test_retrying_what_did_not_fail_changes_nothing(library: Library) -> None:
    document = add_text(library, "chess.txt", CHESS.decode())
    *_, last = library.retry(document.id)
    assert (last.stage, last.note) == ("ready", "already in the library")
    assert len(library.search("bishop")) == 1


# Files


def encrypted(password: str, algorithm: str = "AES-256") -> bytes:
    (sample,) = (PROJECT / "data" / "samples").glob("*.pdf")
    writer = PdfWriter()
    writer.add_page(PdfReader(sample).pages[0])
    writer.encrypt(password, algorithm=algorithm)
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


@pytest.mark.parametrize("algorithm", ["AES-256", "RC4-128"])
def test_an_encrypted_pdf_asks_for_its_password_and_opens_with_it(library: Library, algorithm: str) -> None:
    data = encrypted("geheim", algorithm)
    *_, last = library.add([Upload("a.pdf", data)])
    assert isinstance(last.error, EncryptedDocument)
    assert not last.error.wrong_password
    assert last.document is not None
    for wrong in ("falsch", "a\0b", "\ud800"):
        *_, last = library.retry(last.document.id, password=wrong)
        assert isinstance(last.error, EncryptedDocument), wrong
        assert last.error.wrong_password
        assert last.document is not None
    *_, last = library.retry(last.document.id, password="geheim")
    assert last.stage == "ready"
    assert last.document is not None
    assert library.page_image(last.document.id, 1).png


def test_an_office_file_opens_with_its_password_and_again(library: Library, tmp_path: Path) -> None:
    path = locked(tmp_path / "a.docx", a_letter, "geheim")
    *_, last = library.add([Upload("a.docx", path.read_bytes())])
    assert isinstance(last.error, EncryptedDocument)
    assert last.document is not None
    *_, last = library.retry(last.document.id, password="falsch")
    assert isinstance(last.error, EncryptedDocument)
    assert last.error.wrong_password
    *_, last = library.retry(last.document.id, password="geheim")
    assert last.stage == "ready"
    (again,) = library.documents()
    *_, last = library.retry(again.id)  # read anew: its password was kept
    assert last.stage == "ready", last.error


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("empty.txt", b"", UnreadableDocument),
        ("blank.txt", b" \n\t\r\n" * 100, UnreadableDocument),
        ("nul.txt", bytes(1000), UnsupportedDocument),
        ("binary.txt", bytes(range(256)) * 100, UnsupportedDocument),
        ("mark.txt", b"\xff\xfe", UnreadableDocument),
        ("page.pdf", b"<html><body>no PDF</body></html>", UnsupportedDocument),
        ("none.pdf", b"%PDF-1.7\n%%EOF", UnreadableDocument),
        ("u16.txt", "Grüße aus Köln und mehr".encode("utf-16-le"), None),
        ("surrogate.txt", "lone \ud800 surrogate".encode("utf-8", "surrogatepass"), None),
        ("right to left.txt", "שלום עולם مرحبا بالعالم".encode(), None),
        ("marks.txt", ("e" + "\u0301" * 5000).encode(), None),
        ("emoji.txt", "👩‍👩‍👧‍👦🏳️‍🌈".encode() * 500, None),
        ("line.txt", b"word " * 20_000, None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_odd_files_are_read_or_refused_with_a_reason(
    shelf: Library, name: str, data: bytes, error: type[LecternError] | None
) -> None:
    *_, last = shelf.add([Upload(name, data)])
    if error is None:
        assert last.stage == "ready", last.error
        assert last.document is not None
        assert shelf.chunks(last.document.id)
    else:
        assert type(last.error) is error
        assert last.error.help


def test_a_language_that_is_none_spoils_no_search(shelf: Library) -> None:
    page = "<html lang='enÿ'><head><title>Cranes</title></head><body><p>Nine cranes lift stone.</p></body></html>"
    *_, last = shelf.add([Upload("cranes.html", page.encode())])
    assert last.stage == "ready", last.error
    assert "Nine cranes" in shelf.search("How many cranes lift stone?", k=1)[0].text


def test_names_that_no_file_has_fail_and_the_rest_goes_on(library: Library, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "chess.txt").write_bytes(CHESS)
    bad = ["nul\0.txt", "n" * 5000, "\ud800.txt", "", "/dev/zero", str(tmp_path / "pipe.txt")]
    told = list(ends(library.add([*bad, tmp_path / "chess.txt"])).values())
    assert [event.stage for event in told] == ["failed"] * len(bad) + ["ready"]
    assert all(event.error and event.error.help for event in told[:-1])


def test_a_folder_with_pipes_and_bytes_for_names_is_walked(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    (folder / "round.txt").symlink_to(folder / "round.txt")
    (folder / ".#lock.txt").symlink_to("somebody@somewhere")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_bytes(CHESS)
    told = ends(library.add([folder]))
    for name in ("pipe.txt", "gone.txt", "round.txt"):
        assert f"{name} is no ordinary file, or a link that leads nowhere" in str(told.pop(name).error)
    assert "loop/. One named by itself is tried." in told.pop(str(folder)).note
    (event,) = told.values()
    assert event.stage == "ready"
    assert event.document is not None
    assert event.document.sources == ("\ufffd\ufffd.txt",)


def test_a_folder_that_is_empty_or_changes_while_it_is_read(library: Library, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (event,) = ends(library.add([tmp_path / "empty"])).values()
    assert isinstance(event.error, UnsupportedDocument)
    assert event.error.help
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number:03}.txt").write_text(f"Note number {number} tells of the harbour.")
    told: dict[str, AddEvent] = {}
    for event in library.add([folder]):
        (folder / "199.txt").unlink(missing_ok=True)
        told[event.source] = event
    assert "1 that cannot be read (199.txt)" in told.pop(str(folder)).note
    assert [name for name, event in told.items() if event.stage != "ready"] == ["199.txt"]
    assert isinstance(told["199.txt"].error, UnreadableDocument)


@pytest.mark.slow
def test_ten_thousand_files_of_which_some_are_bad(library: Library, tmp_path: Path) -> None:
    for number in range(10_000):
        path = tmp_path / "folder" / str(number % 100) / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(99) if number % 1000 == 7 else f"Note {number} of the harbour.".encode())
    told = ends(library.add([tmp_path / "folder"]))
    assert "7/7.txt" in told.pop(str(tmp_path / "folder")).note
    assert len(told) == 10_000
    assert {name for name, event in told.items() if event.error} == {
        f"7/{number}.txt" for number in range(7, 10_000, 1000)
    }
    assert "Note 4242 of" in library.search("note 4242", k=1)[0].text


def test_a_name_longer_than_an_index_takes_is_kept_by_its_end(library: Library) -> None:
    document = add_text(library, "🗿" * 5000 + "end.txt", CHESS.decode())
    assert document.sources[0].endswith("end.txt")
    assert len(library.documents()) == 1


# Ids and numbers


@pytest.mark.parametrize("odd", ["", "none", "a\0b", "\ud800", "x" * 10_000, "'; DROP TABLE documents; --", "../.."])
def test_ids_that_name_nothing(asked: Library, odd: str) -> None:
    library, before = asked, asked.documents()
    for call in (
        lambda: library.document(odd),
        lambda: library.page(odd, 1),
        lambda: library.page_image(odd, 1),
        lambda: list(library.retry(odd)),
    ):
        with pytest.raises(KeyError):
            call()
    assert library.chunks(odd) == library.pages(odd) == library.messages(odd) == []
    library.remove(odd)
    library.history.rename(odd, "a title")
    library.history.delete(odd)
    library.preferences.set(odd, odd)
    assert library.preferences.get(odd) is not None
    assert library.documents() == before


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", "x" * 10_000, "'; DROP TABLE messages; --", "🗿"])
def test_a_conversation_of_any_name_goes_on(asked: Library, odd: str) -> None:
    first = asked.ask("Is there anything?", conversation=odd)
    asked.ask("And here?", conversation=odd)
    assert first.conversation in {conversation.id for conversation in asked.conversations()}
    assert len(asked.messages(odd)) == len(asked.messages(first.conversation)) == 2


@pytest.mark.parametrize("far", [-(10**12), -1, 0, 10**12])
def test_numbers_out_of_range(asked: Library, far: int) -> None:
    library, document = asked, asked.documents()[0]
    with pytest.raises(KeyError):
        library.page(document.id, far)
    assert len(library.chunks(document.id, first=far)) == (far <= 0)
    assert len(library.chunks(document.id, limit=far)) == (far > 0)


@pytest.mark.parametrize("k", [0, -1, 10**9])
def test_a_number_of_hits_out_of_bounds_is_refused(asked: Library, k: int) -> None:
    with pytest.raises(ConfigurationError, match="k"):
        asked.search("anything", k=k)


# Questions


@pytest.mark.parametrize(
    "question",
    [
        "'; DROP TABLE documents; --", "(((a+)+)+)+$ .* [", "<script>alert(1)</script> {question} %s",
        "w" * 4000, "rye bread " * 399, "Was kostet ein Roggenbrot?", "ライ麦パンはいくらですか", "كم سعر الخبز؟",
        "e" + "\u0301" * 3000, "🍞" * 3990 + " bread", "rye\ud800bread", "{{7*7}} ${jndi:x}", "\u202ebread\u202c",
    ],
    ids=lambda question: ascii(question[:12]),
)  # fmt: skip
def test_odd_questions_have_an_answer(asked: Library, question: str) -> None:
    answer = asked.ask(question)
    assert answer.text
    assert answer.abstained or answer.citations
    assert len(asked.search(question)) == len(TEXTS)
    (message,) = asked.messages(answer.conversation)
    assert message.answer is not None


@pytest.mark.parametrize(
    "question",
    ["\u200b\u200b", "🍞" * 10_000, "🍞" * 10, "?!.,;:-()", "\ud800"],
    ids=["invisible", "long", "emoji", "marks", "surrogate"],
)
def test_questions_without_words_are_refused_and_not_kept(asked: Library, question: str) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        asked.ask(question, conversation=f"asking {question[:2]!a}")
    assert refused.value.help
    assert asked.messages(f"asking {question[:2]!a}") == []


@pytest.mark.parametrize(
    "model",
    ["gguf:../../etc/passwd", "gguf:/etc/passwd", "gguf:", "gguf:a\0.gguf", "gguf:\ud800.gguf", "gemini", "x" * 5000,
     "gguf:garbage.gguf", "gguf:folder.gguf", "gguf:link.gguf"],
    ids=lambda model: ascii(model[:20]),
)  # fmt: skip
def test_models_that_are_none_say_why_and_the_question_is_kept(asked: Library, tmp_path: Path, model: str) -> None:
    outside = tmp_path / "outside.gguf"
    outside.write_bytes(b"GGUF" + bytes(100))
    models = tmp_path / "models"
    (models / "folder.gguf").mkdir(parents=True)
    (models / "garbage.gguf").write_bytes(os.urandom(5000))
    (models / "link.gguf").symlink_to(outside)
    before = asked.settings
    asked.preferences.settings = before.model_copy(update={"models_dir": models})
    try:
        with pytest.raises(ModelUnavailable) as refused:
            asked.ask("What does rye bread cost?", model=model, conversation=f"about {model}")
        statuses = {status.id: status for status in asked.language_models.statuses()}
    finally:
        asked.preferences.settings = before
    assert refused.value.help or str(refused.value)
    (message,) = asked.messages(f"about {model}")
    assert message.error
    assert not any(status.ready for name, status in statuses.items() if name.startswith("gguf"))
    assert "gguf:folder.gguf" not in statuses


# Stores


def _url(settings: Settings) -> str:
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


@pytest.mark.parametrize("name", ["files", "dumps"])
def test_a_file_in_place_of_a_folder_is_said(settings: Settings, name: str) -> None:
    settings.data_dir.mkdir()
    (settings.data_dir / name).write_text("in the way")
    for _ in range(2):  # the second time shows that the first let go of folder and database
        with pytest.raises(ConfigurationError, match=name) as refused:
            Library.open(settings)
        assert refused.value.help
    (settings.data_dir / name).unlink()
    Library.open(settings).close()


def test_a_database_that_may_not_hold_a_library_is_said_and_let_go(settings: Settings) -> None:
    name = settings.data_dir.parent.name.replace("-", "_")[:40] + "_guest"
    with psycopg.connect(_url(settings), autocommit=True) as connection:
        connection.execute(f'CREATE ROLE "{name}" LOGIN'.encode())
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    guest = settings.model_copy(
        update={"database_url": type(settings.database_url)(_url(settings).replace("postgres:", f"{name}:", 1))}
    )
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="cannot hold a library") as refused:
            Library.open(guest)
        assert "pgvector" in refused.value.help
    Library.open(settings).close()


@pytest.mark.parametrize("address", ["garbage", "postgresql://u:secret@127.0.0.1:9/x", "mysql:u:secret@h/x"])
def test_an_address_that_is_no_database_is_said_without_its_password(tmp_path: Path, address: str) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        Library.open(Settings(_env_file=None, data_dir=tmp_path, database_url=address))
    assert "secret" not in str(refused.value)


def test_what_is_done_after_closing_says_so(settings: Settings) -> None:
    with Library.open(settings) as library:
        add_text(library, "chess.txt", CHESS.decode())
    for call in (
        library.documents,
        library.conversations,
        lambda: library.search("bishop"),
        library.maintenance.status,
    ):
        with pytest.raises(LecternError):
            call()
    library.close()


@pytest.mark.parametrize("damage", ["garbage", "gone", "file"])
def test_a_damaged_chroma_folder_keeps_nothing_back(settings: Settings, damage: str) -> None:
    with Library.open(settings) as library:
        add_text(library, "chess.txt", CHESS.decode())
        library.storage.settle()
    folder = settings.data_dir / "chroma"
    if damage == "garbage":
        for file in [path for path in folder.rglob("*") if path.is_file()]:
            file.write_bytes(os.urandom(5000))
    else:
        shutil.rmtree(folder)
    if damage == "file":
        folder.write_text("in the way")
    with Library.open(settings) as library:
        add_text(library, "glacier.txt", TEXTS["glacier.txt"])
        library.storage.settle()
        for engine in ("chroma", "dumps", "pgvector"):
            assert len(library.search("bishop", index=engine)) == 2, engine
        assert library.maintenance.status().indexes["chroma"]


@pytest.mark.parametrize("address", ["http://", "http://host:nonsense", "http://host:99999", "ftp://host"])
def test_an_address_that_is_no_chroma_is_said_on_opening(settings: Settings, address: str) -> None:
    with pytest.raises(ConfigurationError, match="CHROMA_URL") as refused:
        Library.open(settings.model_copy(update={"chroma_url": address}))
    assert refused.value.help


def test_a_chroma_server_that_hangs_holds_nobody_up(settings: Settings) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with Library.open(settings.model_copy(update={"chroma_url": url})) as library:
            add_text(library, "chess.txt", CHESS.decode())
            assert library.search("bishop", index="chroma")
        assert time.monotonic() - began < 15


def test_bytes_that_are_gone_cost_the_picture_alone(library: Library, settings: Settings) -> None:
    (sample,) = (PROJECT / "data" / "samples").glob("*.pdf")
    *_, last = library.add([sample])
    assert last.document is not None
    (settings.data_dir / "files" / last.document.id).unlink()
    with pytest.raises(UnreadableDocument) as refused:
        library.page_image(last.document.id, 1)
    assert refused.value.help
    assert library.search("timetable")
    library.remove(last.document.id)
    assert library.documents() == []


def test_a_file_that_cannot_be_removed_is_an_error_of_the_house(library: Library, settings: Settings) -> None:
    document = add_text(library, "chess.txt", CHESS.decode())
    kept = settings.data_dir / "files" / document.id
    kept.unlink()
    kept.mkdir()
    with pytest.raises(StoreUnavailable):
        library.remove(document.id)
    assert library.documents() == []
    assert library.search("bishop") == []
    kept.rmdir()
    add_text(library, "chess.txt", CHESS.decode())
