"""The board of questions and the library on its way up: what every session sees while threads work."""

from __future__ import annotations

import threading

import pytest

from pages.parts.opening import Opening
from pages.parts.running_answers import KEPT, RunningAnswers
from pages.parts.suggesting import SuggestionBoard
from pages.parts.thumbnails import Thumbnails
from rag_core.domain import Scope, Step, StreamEvent
from rag_core.errors import (
    LibraryInUse,
    ModelUnavailable,
)
from tests.pages.conftest import FakeLibrary, an_answer
from tests.until import until


@pytest.fixture
def questions(library: FakeLibrary) -> RunningAnswers:
    return RunningAnswers(lambda: library)  # type: ignore[arg-type,return-value]


def test_an_answer_grows_and_ends(questions: RunningAnswers, library: FakeLibrary) -> None:
    step = Step(1, "search", "Searched for “bridges”: 6 passages")
    library.events = [
        StreamEvent(stage=step.text, step=step), StreamEvent(stage="answering"), StreamEvent("Bridges "),
        StreamEvent("are"), StreamEvent(answer=an_answer()),
    ]  # fmt: skip
    questions.ask("c", "Why?", "extractive", agent=True)
    until(lambda: (asking := questions.of("c")) and asking.finished)
    asking = questions.of("c")
    assert asking is not None
    assert (asking.text, asking.stage, asking.answer) == ("Bridges are", "answering", an_answer())
    assert asking.steps == (step.text,)
    questions.dismiss("c")
    assert questions.of("c") is None


def test_an_error_keeps_the_question(questions: RunningAnswers, library: FakeLibrary) -> None:
    library.events = [StreamEvent("Bri"), ModelUnavailable("No key.")]
    questions.ask("c", "Why?", None)
    until(lambda: (asking := questions.of("c")) and asking.finished)
    asking = questions.of("c")
    assert asking is not None
    assert (asking.question, asking.text, str(asking.error)) == ("Why?", "Bri", "No key.")


def test_one_question_at_a_time_in_a_conversation(questions: RunningAnswers, library: FakeLibrary) -> None:
    library.gate.clear()
    library.events = [StreamEvent(answer=an_answer())]
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


def test_suggestions_that_fail_for_a_reason_nobody_foresaw_are_none(
    library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> list[str]:
        raise ZeroDivisionError("nobody foresaw this")

    monkeypatch.setattr(library, "suggestions", fail)
    board = SuggestionBoard(lambda: library)  # type: ignore[arg-type,return-value]
    until(lambda: board.of([], Scope(), []) is not None)
    assert board.of([], Scope(), []) == []
    board.close()


def test_answers_that_nobody_came_back_to_are_forgotten_the_oldest_first(
    questions: RunningAnswers, library: FakeLibrary
) -> None:
    library.events = [StreamEvent("Bridges"), StreamEvent(answer=an_answer())]
    for number in range(KEPT + 5):
        questions.ask(f"c{number}", "Why?", None)
        until(lambda number=number: (asking := questions.of(f"c{number}")) and asking.finished)  # type: ignore[misc]
    assert [number for number in range(KEPT + 5) if questions.of(f"c{number}") is None] == list(range(4))
    questions.ask("c6", "Once more?", None)
    until(lambda: (asking := questions.of("c6")) and asking.finished)
    questions.ask("another", "Why?", None)
    assert questions.of("c6") is not None
    assert questions.of("c4") is None


def test_what_works_in_the_background_has_the_library_of_whoever_asked(library: FakeLibrary) -> None:
    asked_in: list[bool] = []

    def of_whoever_asks() -> object:
        asked_in.append(threading.current_thread() is threading.main_thread())
        return library

    library.events = [StreamEvent(answer=an_answer())]
    questions = RunningAnswers(of_whoever_asks)  # type: ignore[arg-type]
    questions.ask("c", "Why?", None)
    until(lambda: (asking := questions.of("c")) and asking.finished)
    board, pictures = SuggestionBoard(of_whoever_asks), Thumbnails(of_whoever_asks)  # type: ignore[arg-type]
    until(lambda: board.of([], Scope(), []) is not None)
    pictures.ask([("d", 1)])
    until(lambda: not pictures.missing([("d", 1)]))
    board.close()
    pictures.close()
    assert len(asked_in) >= 3
    assert all(asked_in)


def test_what_is_in_the_background_is_shown_to_whoever_asked_alone(library: FakeLibrary) -> None:
    looking = ["ada"]
    library.events = [StreamEvent(answer=an_answer())]
    library.gate.clear()
    questions = RunningAnswers(lambda: library, lambda: looking[0])  # type: ignore[arg-type,return-value]
    pictures = Thumbnails(lambda: library, lambda: looking[0])  # type: ignore[arg-type,return-value]
    board = SuggestionBoard(lambda: library, lambda: looking[0])  # type: ignore[arg-type,return-value]
    adas = questions.ask("c", "Why?", None)
    pictures.ask([("d", 1)])
    until(lambda: not pictures.missing([("d", 1)]))
    until(lambda: board.of([], Scope(), []) is not None)
    looking[0] = "bob"
    assert questions.of("c") is None
    questions.stop("c")
    questions.dismiss("c")
    assert pictures.missing([("d", 1)]) == [("d", 1)]
    assert pictures.get(("d", 1)) is None
    assert board.of([], Scope(), []) is None
    assert questions.ask("c", "And?", None).id != adas.id
    looking[0] = "ada"
    assert (asking := questions.of("c")) is not None
    assert asking.id == adas.id
    library.gate.set()
    until(lambda: (asking := questions.of("c")) and asking.finished)
    board.close()
    pictures.close()
