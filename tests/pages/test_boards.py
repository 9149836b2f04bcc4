"""The boards of files and of questions: what every session sees while threads work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from pages.parts import adding, checking, renewal
from pages.parts.asking import AskingBoard
from pages.parts.jobs import Job, JobBoard
from pages.parts.opening import Opening
from pages.parts.tasks import Task, TaskBoard
from rag_core.domain import AddEvent, Piece, Progress, Step
from rag_core.errors import (
    EncryptedDocument,
    LecternError,
    LibraryInUse,
    ModelUnavailable,
    StoreUnavailable,
    UnreadableDocument,
)
from tests.pages.conftest import FakeLibrary, a_document, an_answer, upload


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


@pytest.fixture
def board(library: FakeLibrary) -> JobBoard:
    return JobBoard(lambda: library)  # type: ignore[arg-type,return-value]


def only(board: JobBoard) -> Job:
    (job,) = board.jobs()
    return job


def test_a_file_goes_through_its_stages(board: JobBoard, library: FakeLibrary) -> None:
    library.gate.clear()
    library.script["a.pdf"] = [AddEvent("a.pdf", "reading", 3, 8), AddEvent("a.pdf", "ready", document=a_document())]
    board.submit([upload("a.pdf")])
    assert board.busy
    assert only(board).stage == "waiting"
    library.gate.set()
    until(lambda: not board.busy)
    assert (only(board).stage, board.finished_count) == ("ready", 1)
    board.clear()
    assert board.jobs() == ()


def test_what_comes_is_kept_at_once_and_namesakes_go_apart(board: JobBoard, library: FakeLibrary) -> None:
    library.gate.clear()
    board.submit([upload("a"), upload("b"), upload("a")])
    until(
        lambda: [call for call in library.calls if call[0] == "accept"] == [("accept", ["a", "b"]), ("accept", ["a"])]
    )
    board.submit([upload("c")])
    until(lambda: ("accept", ["c"]) in library.calls)
    assert board.busy
    library.gate.set()
    until(lambda: not board.busy)
    assert [names for name, names in library.calls if name == "resume"] == [["a", "b"], ["a"], ["c"]]


def test_what_another_one_is_adding_goes_the_whole_way(board: JobBoard, library: FakeLibrary) -> None:
    library.elsewhere = {"b"}
    board.submit([upload("a"), upload("b")])
    until(lambda: not board.busy)
    assert library.calls == [("accept", ["a", "b"]), ("resume", ["a"]), ("add", ["b"])]


def test_cancelling_one_leaves_the_others(board: JobBoard, library: FakeLibrary) -> None:
    library.gate.clear()
    board.submit([upload("a"), upload("b")])
    until(lambda: ("resume", ["a", "b"]) in library.calls)
    board.cancel(board.jobs()[1].id)
    assert library.calls[-1] == ("remove", "b")
    library.gate.set()
    until(lambda: not board.busy)
    assert [job.stage for job in board.jobs()] == ["ready", "cancelled"]


def test_what_is_cancelled_on_its_way_to_the_library_does_not_stay_there(
    board: JobBoard, library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(sources: list[Any], **wanted: Any) -> Iterator[AddEvent]:
        library.calls.append(("accept", None))
        for source in sources:
            library.gate.wait(10)
            yield AddEvent(source.name, "waiting", document=library.accepted(source.name))

    library.gate.clear()
    monkeypatch.setattr(library, "accept", slowly)
    board.submit([upload("a"), upload("b"), upload("c")])
    until(lambda: library.calls)
    first, second, _ = board.jobs()
    for job in (first, second):
        board.cancel(job.id)
    board.dismiss(second.id)
    library.gate.set()
    until(lambda: not board.busy)
    assert sorted(call for call in library.calls if call[0] == "remove") == [("remove", "a"), ("remove", "b")]
    assert ("resume", ["c"]) in library.calls


def test_a_line_may_be_dismissed_while_others_are_added(board: JobBoard, library: FakeLibrary) -> None:
    library.script["b"] = [AddEvent("b", "reading", 1, 2), AddEvent("b", "ready")]
    played = library._play

    def watched(names: list[str], cancellation: Any) -> Iterator[AddEvent]:
        for event in played(names, cancellation):
            yield event
            board.clear()

    library._play = watched  # type: ignore[method-assign]
    board.submit([upload("a"), upload("b")])
    until(lambda: board.finished_count == 2)
    assert board.jobs() == ()


def test_a_password_is_tried_on_what_the_library_kept(board: JobBoard, library: FakeLibrary) -> None:
    locked = AddEvent("a", "failed", document=a_document("a", state="failed"), error=EncryptedDocument("locked"))
    library.script["a"] = [locked]
    board.submit([upload("a")])
    until(lambda: not board.busy)
    assert only(board).locked
    board.retry(only(board).id, "secret")
    until(lambda: not board.busy)
    assert library.calls[-1] == ("retry", ("a", "secret"))
    assert only(board).stage == "ready"


def test_a_file_the_library_never_took_is_added_anew(board: JobBoard, library: FakeLibrary) -> None:
    library.script["a"] = [AddEvent("a", "failed", error=UnreadableDocument("The file is empty."))]
    board.submit([upload("a")])
    until(lambda: not board.busy)
    library.script.clear()
    board.retry(only(board).id)
    until(lambda: not board.busy)
    assert [name for name, _ in library.calls] == ["accept", "accept", "resume"]


def test_an_error_of_the_whole_call_ends_every_file_of_it(board: JobBoard, library: FakeLibrary) -> None:
    def broken(*args: object, **named: object) -> None:
        raise ZeroDivisionError

    library.resume = broken  # type: ignore[assignment,method-assign]
    board.submit([upload("a"), upload("b")])
    until(lambda: not board.busy)
    assert all(isinstance(job.error, LecternError) for job in board.jobs())
    assert all("ZeroDivision" not in str(job.error) for job in board.jobs())


def test_what_an_earlier_run_left_is_resumed_once(board: JobBoard, library: FakeLibrary) -> None:
    library.held = [a_document("new"), a_document("late", state="pending"), a_document("early", state="stored")]
    library.script["late"] = [AddEvent("late", "failed", error=UnreadableDocument("It is empty."))]
    board.resume()
    board.resume()
    until(lambda: board.finished_count == 2)
    assert library.calls == [("resume", ["early", "late"])]
    assert [(job.name, job.resumed, job.stage) for job in board.jobs()] == [
        ("early", True, "ready"), ("late", True, "failed"),
    ]  # fmt: skip
    assert adding.resumed(board.jobs()) == "Lectern ended while 2 documents were being added. Resumed: 1 ready."
    assert adding.resumed([Job("1", "a", resumed=True)]).endswith(
        "1 document was being added. Resumed: 0 ready, 1 to go."
    )
    assert adding.resumed([Job("1", "a")]) == ""


def test_what_an_earlier_run_left_is_looked_for_again(board: JobBoard, library: FakeLibrary) -> None:
    def broken() -> None:
        raise StoreUnavailable("PostgreSQL is gone.")

    documents = library.documents
    library.documents = broken  # type: ignore[assignment,method-assign]
    board.resume()
    until(lambda: not board._resumed)
    library.documents = documents  # type: ignore[method-assign]
    library.held = [a_document("early", state="pending")]
    board.resume()
    until(lambda: board.finished_count == 1)


@pytest.fixture
def questions(library: FakeLibrary) -> AskingBoard:
    return AskingBoard(lambda: library)  # type: ignore[arg-type,return-value]


def test_an_answer_grows_and_ends(questions: AskingBoard, library: FakeLibrary) -> None:
    step = Step(1, "search", "Searched for “bridges”: 6 passages")
    library.pieces = [
        Piece(stage=step.text, step=step), Piece(stage="answering"), Piece("Bridges "), Piece("are"),
        Piece(answer=an_answer()),
    ]  # fmt: skip
    questions.ask("c", "Why?", "extractive", agent=True)
    until(lambda: (asking := questions.of("c")) and asking.finished)
    asking = questions.of("c")
    assert asking is not None
    assert (asking.text, asking.stage, asking.answer) == ("Bridges are", "answering", an_answer())
    assert asking.steps == (step.text,)
    questions.dismiss("c")
    assert questions.of("c") is None


def test_an_error_keeps_the_question(questions: AskingBoard, library: FakeLibrary) -> None:
    library.pieces = [Piece("Bri"), ModelUnavailable("No key.")]
    questions.ask("c", "Why?", None)
    until(lambda: (asking := questions.of("c")) and asking.finished)
    asking = questions.of("c")
    assert asking is not None
    assert (asking.question, asking.text, str(asking.error)) == ("Why?", "Bri", "No key.")


def test_one_question_at_a_time_in_a_conversation(questions: AskingBoard, library: FakeLibrary) -> None:
    library.gate.clear()
    library.pieces = [Piece(answer=an_answer())]
    first = questions.ask("c", "Why?", None)
    assert questions.ask("c", "And?", None).id == first.id
    questions.stop("c")
    asking = questions.of("c")
    assert asking is not None
    assert asking.stopping
    library.gate.set()
    until(lambda: (asking := questions.of("c")) and asking.finished)


def test_opening_fails_in_words_and_can_be_tried_again(library: FakeLibrary) -> None:
    answers: list[object] = [LibraryInUse("taken"), ZeroDivisionError(), library]

    def opener() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    opening = Opening(opener)  # type: ignore[arg-type]
    until(lambda: opening.state == "failed")
    assert str(opening.error) == "taken"
    opening.retry()
    until(lambda: opening.state == "failed" and len(answers) == 1)
    assert "ZeroDivision" not in str(opening.error)
    opening.retry()
    until(lambda: opening.state == "open")
    assert opening.library is library


@pytest.fixture
def tasks(library: FakeLibrary) -> TaskBoard[Any]:
    return TaskBoard(lambda: library, "The work")  # type: ignore[arg-type,return-value]


def test_a_check_goes_on_by_itself_and_one_runs_at_a_time(tasks: TaskBoard[Any], library: FakeLibrary) -> None:
    library.gate.clear()
    checking.begin(tasks, "deep")
    checking.begin(tasks, "repair")
    assert tasks.busy
    library.gate.set()
    until(lambda: not tasks.busy)
    assert library.calls == [("verify", True)]
    assert tasks.task
    assert tasks.task.result == library.report


def test_work_that_fails_says_so(tasks: TaskBoard[Any], library: FakeLibrary, caplog: pytest.LogCaptureFixture) -> None:
    for error, said in ((StoreUnavailable("PostgreSQL is gone."), "PostgreSQL is gone."), (OSError(), "unexpectedly")):
        library.report = error
        checking.begin(tasks, "verify")
        until(lambda: not tasks.busy)
        assert tasks.task
        assert said in str(tasks.task.error)
    assert "The work ended unexpectedly" in caplog.text


def test_embedding_anew_is_told_of_and_can_be_stopped(tasks: TaskBoard[Any], library: FakeLibrary) -> None:
    library.steps = [Progress("embedding", 256, 1000), Progress("done", 1000, 1000)]
    library.gate.clear()
    tasks.begin("reembed", renewal.embed_anew)
    until(lambda: tasks.task and tasks.task.progress)
    tasks.stop()
    assert tasks.task
    assert tasks.task.stopping
    assert renewal.measure(tasks.task)[1] == "Stopping"
    library.gate.set()
    until(lambda: not tasks.busy)
    assert tasks.task.result == Progress("cancelled", 256, 1000)


def test_how_far_embedding_anew_is() -> None:
    now = time.monotonic()
    task: Task[Progress] = Task("reembed", now - 60)
    assert renewal.measure(task) == (0.0, "Loading the model")
    task = replace(task, progress=Progress("embedding", 500, 1000), mark=(now - 50, 0))
    assert renewal.measure(task) == (0.45, "Embedding 500 of 1,000 chunks :gray[about 50 s left]")
    task = replace(task, mark=(now, 500))
    assert renewal.measure(task)[1] == "Embedding 500 of 1,000 chunks"
    task = replace(task, progress=Progress("writing", 1, 1))
    assert renewal.measure(task)[1] == "Writing 1 of 1 dump file"
    assert renewal.measure(replace(task, progress=Progress("switching")))[1] == "Switching"
