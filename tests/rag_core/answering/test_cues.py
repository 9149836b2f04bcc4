"""What kind of answer a question asks for, and what holds one."""

from __future__ import annotations

import pytest

from rag_core.answering.cues import answer_type, asks_why, holds_answer


@pytest.mark.parametrize(
    ("question", "kind", "yes", "no"),
    [
        ("When was it built?", "date", "It was built in 1885.", "It was built of stone."),
        ("In what year did he die?", "date", "He died in May.", "He died at home."),
        ("How many plants are there?", "number", "There are twelve plants.", "There are plants."),
        ("Who leads the board?", "name", "The board is led by Anna Berger.", "the board is led well."),
        ("Where is the plant?", "place", "The plant is in Lyon.", "the plant is old."),
        ("Why did sales fall?", "reason", "They fell because of rain.", "They fell by ten."),
        ("How much money did it cost?", "money", "It cost $ 5.", "It cost much."),
        ("What percentage was lost?", "percent", "Some 5 % was lost.", "Some was lost."),
        ("What is photosynthesis?", "definition", "Photosynthesis is a process.", "Plants grow."),
    ],
)
def test_kinds_of_answer(question: str, kind: str, yes: str, no: str) -> None:
    assert answer_type(question) == kind
    assert holds_answer(answer_type(question), yes)
    assert not holds_answer(answer_type(question), no)


def test_other_questions_ask_for_anything() -> None:
    assert answer_type("Describe the process of making tea in detail") == "other"
    assert holds_answer("other", "")


@pytest.mark.parametrize("question", ["Why did it fall?", "what dragged sales down", "what's behind it", "how come?"])
def test_reasons_are_asked_for_in_several_ways(question: str) -> None:
    assert asks_why(question)
    assert answer_type(question) == "reason"


@pytest.mark.parametrize("question", ["What is made of oak?", "What was kept?", "What amount is due to affiliates?"])
def test_what_asks_for_no_reason(question: str) -> None:
    assert not asks_why(question)
