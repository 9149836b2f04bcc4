"""A library from afar does as one that is open here; the command line speaks to the server that runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import Library, Upload, cli, serving
from rag_core.domain import Scope
from rag_core.errors import (
    ConfigurationError,
    InvalidQuestion,
    LecternError,
    ModelUnavailable,
    StoreUnavailable,
    UnreadableDocument,
)
from rag_core.remote.library import RemoteLibrary
from tests.conftest import PROJECT
from tests.rag_core.api.conftest import Served

ASKED = "How many days of annual leave do employees have?"


@pytest.fixture(params=["here", "afar"])
def any_library(request: pytest.FixtureRequest, served: Served) -> Library | RemoteLibrary:
    return served.library if request.param == "here" else Library.connect(served.url)


def test_a_document_from_adding_to_removal(any_library: Library, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "lamp.txt").write_text("The lamp on the landing is green.")
    upload = Upload("letter.txt", b"The letter was sent in May.")
    events = [*any_library.add([tmp_path / "folder", upload, "http://127.0.0.1:9/", str(tmp_path / "none.txt")])]
    ends = {event.source: event for event in events if event.stage in ("ready", "failed")}
    assert {source: event.stage for source, event in ends.items()} == {
        "lamp.txt": "ready", "letter.txt": "ready", "http://127.0.0.1:9/": "failed", "none.txt": "failed",
    }  # fmt: skip
    assert isinstance(ends["none.txt"].error, UnreadableDocument)
    assert ends["none.txt"].error.help
    document = ends["lamp.txt"].document
    assert document in any_library.documents()
    any_library.catalogue.tag([document.id], add=["light"])
    any_library.catalogue.rename(document.id, "The lamp")
    one = any_library.document(document.id)
    assert (one.title, one.tags, one.sources) == ("The lamp", ("light",), ("lamp.txt",))
    assert ("light", 1) in any_library.catalogue.tags()
    assert any_library.page(document.id, 1).text == any_library.pages(document.id)[0].text
    assert any_library.chunks(document.id)[0].text == "The lamp on the landing is green."
    hits = any_library.search("What colour is the lamp?", k=1, scope=any_library.scope_of(["The lamp"]))
    assert (hits[0].document.id, hits[0].document.title) == (document.id, "The lamp")
    for added in (document, ends["letter.txt"].document):
        any_library.remove(added.id)
        with pytest.raises(KeyError):
            any_library.document(added.id)


def test_questions_and_conversations(any_library: Library) -> None:
    work = Scope(tags=("work",))
    pieces = [*any_library.stream(ASKED, scope=work)]
    answer = pieces[-1].answer
    assert "".join(piece.text for piece in pieces) == answer.text
    assert answer.citations[0].title == "handbook"
    assert answer.trace.latency_ms
    (message,) = any_library.messages(answer.conversation)
    assert message.answer.text == answer.text
    assert answer.conversation in {one.id for one in any_library.conversations()}
    *_, last = any_library.reply(ASKED.replace("annual", "anual"), conversation=answer.conversation, agent=True)
    trace = last.answer.trace
    assert (trace.restated, trace.query, trace.searched.scope) == (True, ASKED, work)
    assert trace.steps
    assert len(any_library.messages(answer.conversation)) == 1
    any_library.history.rename(answer.conversation, "Leave")
    any_library.history.pin(answer.conversation, True)
    assert (any_library.conversations()[0].title, any_library.conversations()[0].pinned) == ("Leave", True)
    any_library.history.delete(answer.conversation)
    assert any_library.messages(answer.conversation) == []
    known = any_library.conversations()
    *_, last = any_library.reply("And when they are ill?", history=[(ASKED, answer.text)], scope=work)
    assert (last.answer.conversation, any_library.conversations()) == ("", known)
    found = any_library.retrieve(ASKED, k=2, mode="lexical", scope=work)
    assert {hit.document.title for hit in found.hits} == {"handbook"}
    assert found.trace.searched.candidates
    with pytest.raises(InvalidQuestion):
        any_library.ask("  ")
    with pytest.raises(ModelUnavailable):
        any_library.ask(ASKED, model="gguf:none")
    with pytest.raises(KeyError):
        any_library.scope_of(["nothing of that name"])


def test_the_state(any_library: Library) -> None:
    assert any_library.maintenance.status().documents >= 2
    assert any_library.maintenance.verify().findings == ()


def test_models(any_library: Library, served: Served) -> None:
    models = any_library.language_models
    assert "extractive" in {model.id for model in models.statuses()}
    assert models.files() == served.library.language_models.files()
    with pytest.raises(ModelUnavailable):
        models.remove("gguf:none")
    with pytest.raises(LecternError, match="no name"):
        list(models.download("no name"))


def test_what_cannot_be_done_from_afar(served: Served) -> None:
    with pytest.raises(LecternError, match="clusters"):
        Library.connect(served.url).clusters.tree()
    with pytest.raises(LecternError, match="reembed"):
        Library.connect(served.url).maintenance.reembed()
    with pytest.raises(ConfigurationError):
        Library.connect("lectern")
    with pytest.raises(StoreUnavailable):
        Library.connect("http://127.0.0.1:9").documents()


@pytest.fixture
def note(served: Served) -> Iterator[list[str]]:
    """The note of a running server; gives the arguments that name its library."""
    with serving.told(served.library.folder, served.url, served.doors.key):
        yield ["--data-dir", str(served.library.folder)]


def test_folders_are_followed_by_the_server_that_runs(
    note: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "well.txt").write_text("The well is behind the barn.")
    assert cli.main(["watch", "notes", "--tag", "water", *note]) == 0
    assert cli.main(["watch", *note]) == 0
    (tmp_path / "notes" / "well.txt").unlink()
    assert cli.main(["update", "notes", *note]) == 0
    assert cli.main(["watch", "notes", "--stop", *note]) == 0
    assert cli.main(["watch", "notes", "--stop", *note]) == 2
    assert cli.main(["watch", "none", *note]) == 1
    assert cli.main(["watch", "notes", "--tag", "#", *note]) == 1
    told = capsys.readouterr()
    assert "well.txt: ready" in told.out
    assert f"1 documents  {tmp_path / 'notes'}  #water" in told.out
    assert "well.txt: removed, as its file is gone" in told.out
    assert "There is no folder" in told.err


def test_commands_use_the_server_that_runs(
    note: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], served: Served
) -> None:
    (tmp_path / "shed.txt").write_text("The shed is behind the house.")
    assert cli.main(["add", str(tmp_path / "shed.txt"), *note]) == 0
    assert cli.main(["search", "Where is the shed?", "-k", "1", "--explain", *note]) == 0
    assert cli.main(["documents", "--tag", "work", "--json", *note]) == 0
    assert cli.main(["remove", "shed.txt", *note]) == 0
    assert cli.main(["models", *note]) == 0
    assert cli.main(["reembed", *note]) == 1
    assert cli.main(["keys", "--create", "shell", "--role", "write", *note]) == 0
    told = capsys.readouterr()
    assert "behind the house" in told.out
    assert "close the application" in told.err.lower()
    assert "shell" in {key.name for key in served.library.access.all()}


def test_a_question_is_asked_of_the_server_at_once(note: list[str]) -> None:
    """None of the library's code is imported for it, nor what draws tables."""
    code = (
        "import sys; from rag_core.cli import main; code = main();"
        "print(code, [name for name in ('pydantic', 'rag_core.domain', 'rich', 'asyncio') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "ask", ASKED, "--json", *note], cwd=PROJECT, capture_output=True, text=True
    )
    answer, last = done.stdout.splitlines()
    assert "27" in json.loads(answer)["text"]
    assert last == "0 []"
    shown = subprocess.run(
        [sys.executable, "-m", "rag_core", "ask", "--agent", ASKED, *note], cwd=PROJECT, capture_output=True, text=True
    )
    assert shown.stdout.startswith("  Planned: ")
    assert "[1] handbook, page 1:" in shown.stdout
