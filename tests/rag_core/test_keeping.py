"""What is kept of conversations: found again, pinned, marked with a reason, asked again in the place of what was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Upload
from rag_core.domain import Question
from rag_core.errors import LecternError
from tests.conftest import add_text
from tests.rag_core.samples import TEXTS

PRICE = "What does a loaf of rye bread cost?"


@pytest.fixture
def filled(library: Library) -> Iterator[Library]:
    for event in library.add([Upload(name, text.encode()) for name, text in TEXTS.items()]):
        assert event.error is None
    yield library


def questions(library: Library, conversation: str) -> list[str]:
    return [message.question for message in library.messages(conversation)]


def test_a_question_asked_in_the_place_of_another_sets_it_aside_until_it_is_brought_back(filled: Library) -> None:
    first = filled.ask("How many squares has a chess board?")
    talk = first.conversation
    filled.ask(PRICE, conversation=talk)
    filled.ask("And of wheat bread?", conversation=talk)
    second = filled.messages(talk)[1]
    pieces = list(filled.stream("When does the bakery open?", conversation=talk, replaces=second.id))
    edited = pieces[-1].answer
    assert edited is not None
    assert questions(filled, talk) == [first.question, "When does the bakery open?"]
    assert [message.replaced for message in filled.messages(talk)] == [0, 2]
    filled.history.bring_back(edited.message_id)
    assert questions(filled, talk) == [first.question, PRICE, "And of wheat bread?"]
    assert [message.replaced for message in filled.messages(talk)] == [0, 1, 0]
    filled.history.bring_back(second.id)
    assert questions(filled, talk) == [first.question, "When does the bakery open?"]
    filled.history.bring_back("no such message")
    filled.history.delete(talk)
    assert not filled.messages(talk)


def test_what_follows_an_edited_question_is_not_its_past(filled: Library) -> None:
    talk = filled.ask("How many squares has a chess board?").conversation
    first = filled.messages(talk)[0]
    assert [one.listed for one in filled.conversations()] == [False], "it was asked by itself"
    filled.ask(PRICE, conversation=talk)
    assert [one.listed for one in filled.conversations()] == [True]
    *_, last = filled.stream("And of wheat bread?", conversation=talk, replaces=first.id)
    assert last.answer is not None
    assert "rye" not in last.answer.trace.query, "nothing was said before it"


def test_conversations_are_found_by_title_question_and_answer(filled: Library) -> None:
    bread = filled.ask(PRICE).conversation
    chess = filled.ask("How many squares has a chess board?").conversation
    filled.history.rename(chess, "100 % board_games")
    for words, found in {
        "RYE bread": {bread}, "4.20": {bread}, "board_games": {chess}, "100 %": {chess}, "o%s": set(),
        "chess rye": set(), "  ": {bread, chess}, "\x00'": set(),
    }.items():  # fmt: skip
        assert {one.id for one in filled.conversations(words)} == found, words


def test_a_pinned_conversation_stands_first(filled: Library) -> None:
    first, second = filled.ask(PRICE).conversation, filled.ask(PRICE).conversation
    assert [one.id for one in filled.conversations()] == [second, first]
    filled.history.pin(first, True)
    shown = [(one.id, one.pinned, one.listed) for one in filled.conversations()]
    assert shown == [(first, True, True), (second, False, False)]
    assert [one.id for one in filled.conversations("bread")] == [first, second]
    filled.history.pin(first, False)
    assert [one.id for one in filled.conversations()] == [second, first]


def test_a_mark_is_kept_with_its_reason(filled: Library) -> None:
    answer = filled.ask(PRICE)
    filled.history.rate(answer.message_id, -1, " The price is of\x00 2019. ")
    (message,) = filled.messages(answer.conversation)
    assert (message.rating, message.reason) == (-1, "The price is of\ufffd 2019.")
    filled.history.rate(answer.message_id, 1)
    (message,) = filled.messages(answer.conversation)
    assert (message.rating, message.reason) == (1, "")
    assert message.answer is not None
    assert {"search", "total"} <= set(message.answer.trace.latency_ms), "stages are kept with the question"


def test_a_conversation_is_exported_from_the_library(filled: Library) -> None:
    talk = filled.ask(PRICE).conversation
    assert "[The bakery, Prices, p. 1]" in filled.history.export(talk, "markdown").decode()
    assert "title = {{The bakery}}" in filled.history.export(talk, "bibtex").decode()
    filled.remove(next(one.id for one in filled.documents() if one.title == "The bakery"))
    assert "No longer in the library" in filled.history.export(talk, "bibtex").decode()
    with pytest.raises(KeyError):
        filled.history.export("no such conversation", "pdf")


def test_only_questions_that_are_answered_right_are_suggested(filled: Library) -> None:
    price = Question("price", PRICE, ("4.20",))
    wrong = Question("wrong", PRICE, ("5.10",))
    nothing = Question("nothing", "Who won the football world cup in Brazil?", ("nobody",))
    assert filled.suggestions([wrong, nothing, price], limit=1) == [PRICE]
    asked: list[str] = []
    filled.asking.quoted = lambda question, scope: asked.append(question)  # type: ignore[method-assign, assignment]
    assert filled.suggestions([wrong, nothing, price], limit=1) == [PRICE]
    assert not asked, "what was found is kept for as long as the library is the same"


def test_an_empty_library_suggests_nothing(library: Library) -> None:
    assert library.suggestions() == []
    assert library.intake() == (0, 0)


def test_a_rating_is_one_of_three(filled: Library) -> None:
    with pytest.raises((ValueError, LecternError)):
        filled.history.rate(filled.ask(PRICE).message_id, 2)


def test_what_was_just_answered_is_not_answered_again(library: Library) -> None:
    text = (
        "# Staff handbook\n\n## Leave\n\nEmployees may take 25 days of leave in a year. Unused days lapse in March.\n\n"
        "## Notice\n\nThe notice period is three months to the end of a quarter."
        " It is one month in the first half year.\n"
    )
    add_text(library, "handbook.md", text)
    first = library.ask("How many days of leave may employees take?")
    assert first.text.startswith("Employees may take 25 days")
    second = library.ask("And how long is the notice period?", conversation=first.conversation)
    assert second.text.startswith("The notice period is three months")
    third = library.ask("And in the first half year?", conversation=first.conversation)
    assert third.text.startswith("It is one month in the first half year")
