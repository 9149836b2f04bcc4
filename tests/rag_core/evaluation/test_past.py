"""Rated questions as questions of a set."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rag_core.domain import Answer, Citation, Gold, Message, Trace
from rag_core.evaluation.past import question_of


def citation(text: str, number: int = 1, page: int = 2) -> Citation:
    return Citation(number, "d:0", "d" * 32, "Report", page, "2", "", text, 0, len(text), (), 0.5)


def answer(text: str = "It costs 4.20 euros. [1]", **values: Any) -> Answer:
    made: dict[str, Any] = {
        "question": "What does it cost?", "text": text, "sentences": (), "citations": (citation("It costs 4.20."),),
        "hits": (), "confidence": 0.5, "abstained": False, "model": "extractive",
    }  # fmt: skip
    return Answer(**(made | values))


def message(rating: int | None, given: Answer | None, question: str = "What does it cost?") -> Message:
    return Message("m1", question, datetime.now(UTC), given, None, rating)


def test_a_good_answer_is_the_reference_and_its_passages_are_gold() -> None:
    both = (citation("It costs 4.20."), citation("So it says.", 2, 3), citation("It costs 4.20.", 3))
    question = question_of(message(1, answer("It costs 4.20. [1][3]\n\nSo it says. [2]", citations=both)))
    assert question.references == ("It costs 4.20.\n\nSo it says.",)
    assert question.gold == (Gold("d" * 32, 2, "It costs 4.20."), Gold("d" * 32, 3, "So it says."))
    assert (question.id, question.text, question.origin, question.answerable) == (
        "m1", "What does it cost?", "asked", True,
    )  # fmt: skip


def test_a_bad_answer_is_neither_reference_nor_gold() -> None:
    for given in (answer(), answer(abstained=True), None):
        question = question_of(message(-1, given))
        assert (question.references, question.gold, question.answerable) == ((), (), True)
        assert "bad" in question.note


def test_a_good_not_found_is_a_question_without_an_answer() -> None:
    question = question_of(message(1, answer("Not found in these documents.", abstained=True, citations=())))
    assert (question.references, question.gold, question.answerable) == ((), (), False)


def test_a_follow_up_is_the_question_that_was_searched_for() -> None:
    given = answer(trace=Trace(query="What did sales do in 2017?"))
    assert question_of(message(1, given, "And the year before?")).text == "What did sales do in 2017?"
    assert question_of(message(-1, given, "And the year before?")).text == "What did sales do in 2017?"
    assert question_of(message(1, answer())).text == "What does it cost?"
