"""A library from afar does as one that is open here; the command line speaks to the server that runs."""

from __future__ import annotations

import inspect
import json
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_core import Library, Upload, cli, server_file
from rag_core.domain import Configuration, DocumentFilter, Gold, Question, Report, Scope
from rag_core.errors import (
    ConfigurationError,
    InvalidQuestion,
    LecternError,
    ModelUnavailable,
    StoreUnavailable,
    UnreadableDocument,
    UnsupportedDocument,
)
from rag_core.remote.calls import Call
from rag_core.remote.library import RemoteLibrary
from tests.conftest import PROJECT, add_text
from tests.rag_core.api.conftest import Served
from tests.until import until

ASKED = "How many days of annual leave do employees have?"


@pytest.fixture(params=["here", "afar"])
def any_library(request: pytest.FixtureRequest, served: Served) -> Library | RemoteLibrary:
    return served.library if request.param == "here" else Library.connect(served.url)


def test_a_document_from_adding_to_removal(any_library: Library, served: Served, tmp_path: Path) -> None:
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
    # What came as bytes has no place where it would be looked for again.
    assert not [event for event in any_library.sources.update() if event.source == "letter.txt"]
    document = ends["lamp.txt"].document
    assert document in any_library.documents()
    any_library.catalogue.tag([document.id], add=["light"])
    any_library.catalogue.rename(document.id, "The lamp")
    one = any_library.document(document.id)
    assert (one.title, one.tags, one.sources) == ("The lamp", ("light",), ("lamp.txt",))
    assert ("light", 1) in any_library.catalogue.tags()
    assert any_library.page(document.id, 1).text == any_library.pages(document.id)[0].text
    assert any_library.chunks(document.id)[0].text == "The lamp on the landing is green."
    light = DocumentFilter(tags=("LIGHT",), words=("lamp",), state="ready")
    assert any_library.catalogue.documents(light, limit=1) == ([one], 1)
    assert any_library.catalogue.documents(DocumentFilter(words=("nothing",))) == ([], 0)
    hits = any_library.search("What colour is the lamp?", k=1, scope=any_library.scope_of(["The lamp"]))
    assert (hits[0].document.id, hits[0].document.title) == (document.id, "The lamp")
    for added in (document, ends["letter.txt"].document):
        any_library.remove(added.id)
        with pytest.raises(KeyError):
            any_library.document(added.id)
    served.library.storage.settle()  # no word is put right while a change waits for the index of words


def test_collections(any_library: Library) -> None:
    made = any_library.collections.make("Travel", instructions="Short.", settings={"retrieval.k": 3})
    assert made in any_library.collections.all()
    any_library.collections.change(made.id, name="Journeys")
    assert any_library.collections.get(made.id).name == "Journeys"
    with pytest.raises((ValueError, LecternError), match="name"):
        any_library.collections.make("journeys")
    any_library.collections.remove(made.id)
    any_library.collections.take_back(made.id)
    any_library.collections.remove(made.id)
    assert made.id not in {one.id for one in any_library.collections.all()}


def test_questions_and_conversations(any_library: Library) -> None:
    work = Scope(tags=("work",))
    events = [*any_library.stream(ASKED, scope=work)]
    answer = events[-1].answer
    assert "".join(event.text for event in events) == answer.text
    assert answer.citations[0].title == "handbook"
    assert answer.trace.latency_ms
    (message,) = any_library.messages(answer.conversation)
    assert message.answer.text == answer.text
    any_library.history.rate(message.id, -1, "Half of it.")
    assert any_library.messages(answer.conversation)[0].rating == -1
    with pytest.raises(ValueError):
        any_library.history.rate(message.id, 2)
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


def test_tables_and_chunks_by_hand(any_library: Library) -> None:
    halls = add_text(any_library, "halls.txt", "Name\tSeats\nBlue hall\t12\n\nThe canteen opens at half past ten.").id
    (table,) = any_library.tables(halls)
    assert table.rows == (("Name", "Seats"), ("Blue hall", "12"))
    edits = any_library.chunk_edits
    edits.correct(f"{halls}:0", "The blue hall has 13 seats.")
    (edit,) = edits.of(halls)
    assert (edit.corrected, edit.text) == (True, "The blue hall has 13 seats.")
    edits.leave_out(f"{halls}:0")
    assert any_library.chunks(halls) == []
    for left in (1, 0):
        edits.undo(halls, edit.page, edit.start, edit.end)
        assert len(edits.of(halls)) == left
    with pytest.raises(KeyError):
        edits.correct(f"{halls}:7", "x")
    with pytest.raises(ValueError):
        edits.correct(f"{halls}:0", " ")
    any_library.remove(halls)
    assert any_library.tables(halls) == any_library.pages(halls) == any_library.chunks(halls) == edits.of(halls) == []


def test_pages_as_images(any_library: Library, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "tower.pdf"), pagesize=(300, 200))
    canvas.drawString(30, 100, "The tower has nine floors.")
    canvas.save()
    *_, last = any_library.add([tmp_path / "tower.pdf"])
    image = any_library.page_image(last.document.id, 1, span=(4, 9), width_px=600)
    assert (image.width_px, image.height_px, image.png[:4]) == (600, 400, b"\x89PNG")
    (box,) = image.boxes
    assert 0.1 < box.left < box.right < 0.5
    assert any_library.page_image(last.document.id, 1).boxes == ()
    any_library.remove(last.document.id)
    (text,) = any_library.scope_of(["handbook"]).documents
    with pytest.raises(UnsupportedDocument):
        any_library.page_image(text, 1)


def test_vectors(any_library: Library, served: Served) -> None:
    vectors = any_library.embed(["one", "two"])
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, served.library.embed(["one", "two"]))


def test_clusters_and_insights(any_library: Library, served: Served) -> None:
    for _ in served.library.clusters.update():
        pass
    handbook, *_ = any_library.scope_of(["handbook"]).documents
    tree = any_library.clusters.tree()
    assert handbook in {one for cluster in tree.clusters for one in cluster.documents}
    assert sum(len(cluster.chunks) for cluster in any_library.clusters.of_document(handbook)) == 1
    assert any_library.clusters.summary(handbook)
    assert (any_library.clusters.of_document("none"), any_library.clusters.summary("none")) == ((), "")
    any_library.ask("Who painted the ceiling of the chapel?")
    insights = any_library.insights.of(7)
    assert (insights.days, insights.step, len(insights.asked)) == (7, "day", 7)
    assert "chapel" in " ".join(one.question for one in insights.not_found)
    work = Scope(tags=("work",))
    assert any_library.insights.of(scope=work).scope == work
    assert [place.document_id for place in any_library.insights.corpus_map(work).places] == [handbook]


def test_jobs(any_library: Library) -> None:
    jobs = any_library.jobs
    job = jobs.submit("verify", "Is all well?", deep=True)
    until(lambda: jobs.get(job.id).finished)
    job = jobs.get(job.id)
    assert (job.name, job.state, job.params, job.left_s) == ("Is all well?", "done", {"deep": True}, None)
    assert isinstance(job.result, Report)
    assert (jobs.last("verify"), jobs.busy("verify"), jobs.all("rechunk")) == (job, False, ())
    jobs.cancel(job.id)
    jobs.retry(job.id)
    until(lambda: jobs.get(job.id).finished)
    assert jobs.past(1)[0].id == job.id
    jobs.dismiss(job.id)
    with pytest.raises(KeyError):
        jobs.get(job.id)


def test_question_sets(any_library: Library) -> None:
    evaluation = any_library.evaluation
    report = evaluation.read("leave.csv", f"id,question,document\na,{ASKED},handbook\nb,Where?,gone.pdf\n".encode())
    assert [(one.row, one.kept) for one in report.problems] == [(3, True)]
    leave = evaluation.create("Leave", report.questions)
    evaluation.rename(leave.id, "Days of leave")
    evaluation.put(leave.id, [Question("c", "Who pays?", references=("The office.",), gold=(Gold("travel"),))])
    assert [one.row for one in evaluation.check(evaluation.questions(leave.id))] == [2]
    evaluation.drop(leave.id, {"b"})
    assert [one.id for one in evaluation.questions(leave.id)] == ["a", "c"]
    assert (evaluation.set(leave.id).name, evaluation.set(leave.id).size) == ("Days of leave", 2)
    assert evaluation.set(leave.id) in evaluation.sets()
    assert b"Who pays?" in evaluation.export_questions(leave.id, "csv")
    with pytest.raises(LecternError, match="has no text"):
        evaluation.put(leave.id, [Question("d", " ")])
    evaluation.delete(leave.id)
    assert evaluation.questions(leave.id) == []
    with pytest.raises(KeyError):
        evaluation.set(leave.id)


def test_runs(any_library: Library) -> None:
    evaluation = any_library.evaluation
    leave = evaluation.create("Leave", [Question("a", ASKED, gold=(Gold("handbook"),)), Question("b", "Where?")])
    tried = [Configuration("As it is"), Configuration("One", {"retrieval.k": 1})]
    begun = evaluation.begin(leave.id, tried, seed=3)
    assert [run.state for run in begun] == ["waiting", "waiting"]
    ids = [run.id for run in begun]
    assert {step.note for step in evaluation.carry_out(ids)} == {*ids}
    run = evaluation.run(ids[0])
    assert (run.state, run.done, run.seed, run.metrics["hit_rate"].mean) == ("done", 2, 3, 1)
    assert run in evaluation.runs(leave.id)
    (result,) = evaluation.results(ids[1], ["a"])
    assert result.found[0].text
    assert result.found[0].relevant
    assert [one.found[0].text for one in evaluation.results(ids[1], passages=False)] == ["", ""]
    assert {one.metric for one in evaluation.compare(*ids)} <= {*evaluation.metrics()}
    assert evaluation.calibration(ids[0]).count == 0
    assert b"As it is" in evaluation.export(ids, "html")
    assert "retrieval.k" in {one.key for one in evaluation.fields()}
    evaluation.cancel(ids[0])
    for run_id in ids:
        evaluation.delete_run(run_id)
    evaluation.delete(leave.id)
    with pytest.raises(KeyError):
        evaluation.run(ids[0])
    with pytest.raises(ConfigurationError):
        evaluation.apply(Configuration("x", {"retrieval.none": 1}))


def test_keys(any_library: Library) -> None:
    key, text = any_library.access.create("afar", tags=["work"])
    assert (key.role, key.tags, text.startswith("lectern_")) == ("read", ("work",), True)
    assert key in any_library.access.all()
    any_library.access.revoke(key.id)
    with pytest.raises(KeyError):
        any_library.access.revoke(key.id)
    assert len(any_library.access.audit(1)) <= 1


def test_an_answer_that_is_whole_is_not_gone_on_with(any_library: Library) -> None:
    answer = any_library.ask("How many parcels were there?")
    assert not answer.cut
    with pytest.raises(InvalidQuestion, match="whole"):
        [*any_library.history.go_on(answer.conversation, answer.message_id)]
    with pytest.raises(KeyError):
        [*any_library.history.go_on(answer.conversation, "none")]


def test_a_whole_table_is_asked_and_its_plan_changed(any_library: Library, served: Served) -> None:
    rows = [f"P-{100 + row},{('Riga', 'Turku')[row % 2]},{row}" for row in range(40)]
    document = add_text(served.library, "parcels.csv", "\n".join(["Parcel,Port,Weight", *rows]))
    served.library.storage.settle()
    table = any_library.ask("How many parcels are in the port Riga?", scope=Scope(documents=(document.id,))).table
    assert table is not None
    assert (table.count, len(table.rows), table.plan.document_id) == (20, 20, document.id)
    plans, conversation = any_library.table_plans, uuid.uuid4().hex
    assert plans.choices(table.plan, 1, 10) == ["Riga", "Turku"]
    every = replace(table.plan, conditions=())
    answer = plans.ask(every, "How many parcels?", conversation=conversation)
    assert answer.text.startswith("40 rows.")
    assert [one.answer and one.answer.table for one in any_library.messages(conversation)] == [answer.table]
    assert len(b"".join(plans.csv(every)).splitlines()) == 41
    with pytest.raises(InvalidQuestion):
        plans.ask(replace(every, operation="none"), "How many?")
    any_library.remove(document.id)
    for asked in (lambda: plans.ask(every, "How many?"), lambda: [*plans.csv(every)], lambda: plans.choices(every, 1)):
        with pytest.raises(KeyError):
            asked()


def test_what_is_one_request_takes_what_an_open_library_takes(served: Served) -> None:
    afar = Library.connect(served.url)
    parts = {name: part for name, part in vars(afar).items() if not name.startswith("_")}
    pairs = [(afar, served.library), *((part, getattr(served.library, name)) for name, part in parts.items())]
    calls = [(name, one, here) for part, here in pairs for name, one in vars(type(part)).items() if type(one) is Call]
    assert len(calls) > 40
    for name, call, here in calls:
        taken = inspect.signature(getattr(here, name)).parameters
        of_its_key = ("owner", "viewer")  # whose it is, and who looks, is what the key says
        offered = [one for one in taken if one not in ("private", "cancellation", *of_its_key)]
        assert [*call.signature.parameters] == offered, name


def test_models(any_library: Library, served: Served) -> None:
    models = any_library.language_models
    assert "extractive" in {model.id for model in models.statuses()}
    assert models.files() == served.library.language_models.files()
    with pytest.raises(ModelUnavailable):
        models.remove("gguf:none")
    with pytest.raises(LecternError, match="no name"):
        list(models.download("no name"))


def test_what_cannot_be_done_from_afar(served: Served) -> None:
    with pytest.raises(LecternError, match="update") as raised:
        Library.connect(served.url).clusters.update()
    assert raised.value.help in raised.value.__notes__
    with pytest.raises(LecternError, match="reembed"):
        Library.connect(served.url).maintenance.reembed()
    assert not hasattr(Library.connect(served.url), "preferences")
    assert not hasattr(Library.connect(served.url).evaluation, "draft")
    with pytest.raises(ConfigurationError):
        Library.connect("lectern")
    with pytest.raises(StoreUnavailable):
        Library.connect("http://127.0.0.1:9").documents()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("document", b""), ("document", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"),
        ("document", b"HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\n{"), ("ask", b""),
        ("ask", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\nevent: piece\ndata: {"),
    ],
    ids=["nothing", "half", "half a problem", "no event", "half an event"],
)  # fmt: skip
def test_a_server_that_ends_amid_its_answer_is_told_of(asked: str, answer: bytes) -> None:
    def end_early() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=end_early)
        server.start()
        afar = Library.connect(f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(StoreUnavailable, match="does not answer"):
            getattr(afar, asked)("x")
        server.join()


@pytest.fixture
def note(served: Served) -> Iterator[list[str]]:
    """The note of a running server; gives the arguments that name its library."""
    with server_file.told(served.library.folder, served.url, served.doors.key):
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
    assert cli.main(["watch", "notes", "--tag", "#", *note]) == 2
    told = capsys.readouterr()
    assert "well.txt: ready" in told.out
    assert f"1 document  {tmp_path / 'notes'}  #water" in told.out
    assert "well.txt: removed, as its file is gone" in told.out
    assert "There is no folder" in told.err


def test_commands_use_the_server_that_runs(
    note: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.execve", lambda *_: pytest.fail("a second server"))
    assert cli.main(["run", *note]) == 0
    assert cli.main(["add", str(tmp_path / "none.txt"), *note]) == 1
    (tmp_path / "shed.txt").write_text("The shed is behind the house.")
    assert cli.main(["add", str(tmp_path / "shed.txt"), *note]) == 0
    assert cli.main(["search", "Where is the shed?", "-k", "1", "--explain", *note]) == 0
    assert cli.main(["documents", "--tag", "work", "--json", *note]) == 0
    assert cli.main(["remove", "shed.txt", *note]) == 0
    assert cli.main(["models", *note]) == 0
    assert cli.main(["reembed", *note]) == 1
    (tmp_path / "leave.csv").write_text(f"question,document\n{ASKED},handbook\n")
    assert cli.main(["evaluate", str(tmp_path / "leave.csv"), "--fail-under", "hit_rate=1", *note]) == 0
    assert cli.main(["keys", "--create", "shell", "--role", "write", *note]) == 0
    assert cli.main(["keys", "--create", "hers", "--person", " Ada@Example.org", *note]) == 0
    assert cli.main(["keys", "--create", "hers", "--person", "ada", *note]) == 1
    told = capsys.readouterr()
    assert f"Lectern already runs on {served.url}\n" in told.out
    assert "Check its name" in told.out
    assert "behind the house" in told.out
    assert "close the application" in told.err.lower()
    made = {key.name: key.person for key in served.library.access.all()}
    assert (made["shell"], made["hers"]) == ("", "ada@example.org")


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
    assert "[1] handbook, p. 1:" in shown.stdout


def test_a_table_is_looked_at_and_how_it_is_read_set_right(any_library: Library, served: Served) -> None:
    rows = [f"{100 + row},{('Riga', 'Turku')[row % 2]},{row}" for row in range(40)]
    text = "\n".join(["Harbour,Ledger,Draft", "Parcel,Port,Weight", *rows])
    document, views = add_text(served.library, "parcels.csv", text).id, any_library.table_views
    assert views.names(document) == [""]
    assert [column.head for column in views.view(document, 0, first_column=1, columns=1).columns] == ["Ledger"]
    views.correct(document, 0, head=2, columns={0: "text"})
    assert [(column.head, column.kind) for column in views.view(document, 0).columns][:2] == [
        ("Parcel", "text"), ("Port", "text"),
    ]  # fmt: skip
    found = views.rows(document, 0, limit=2, by=2, descending=True, first_column=1)
    assert ([row.cells for row in found.rows], found.first_column) == ([("Turku", "39"), ("Riga", "38")], 1)
    assert [reading.head for reading in views.readings(document)] == [2]
    with pytest.raises((ValueError, LecternError)):
        views.correct(document, 0, head=99)
    views.undo(document, 0)
    assert views.view(document, 0).columns[0].head == "Harbour"
    any_library.remove(document)
    for asked in (lambda: views.view(document, 0), lambda: views.rows(document, 0), lambda: views.undo(document, 0)):
        with pytest.raises(KeyError):
            asked()
