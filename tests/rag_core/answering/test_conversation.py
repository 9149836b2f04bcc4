"""Follow-up questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rag_core.answering.conversation import Earlier, earlier_turns, is_follow_up, wordings
from rag_core.domain import Answer, Message, Trace
from tests.rag_core.answering.parts import encode


def message(question: str, answer: str = "It rose [1].", query: str = "") -> Message:
    made = Answer(question, answer, (), (), (), 0.5, False, "extractive", trace=Trace(query=query))
    return Message("m", question, datetime.now(UTC), made)


@pytest.mark.parametrize(
    ("before", "question", "wanted"),
    [
        ("What were sales in 2018?", "And the year before?", "What were sales in 2017?"),
        ("What were sales in 2018?", "And the previous year?", "What were sales in 2017?"),
        ("What were sales in 2018?", "and in 2016?", "What were sales in 2016?"),
        ("What were sales in 2018?", "What about the following year?", "What were sales in 2019?"),
        ("What were sales in 2018?", "And 2015?", "What were sales in 2015?"),
        ("What were the sales in France?", "And in Germany?", "What were the sales in Germany?"),
        ("Who leads Acme?", "What about Dell?", "Who leads Dell?"),
        ("What is the fare to Tolsund?", "And to Skarvey?", "What is the fare to Skarvey?"),
        ("Who leads the board?", "Since when?", "Who leads the board? Since when?"),
        ("Who leads the board?", "How old is she?", "Who leads the board? How old is she?"),
        ("How fast is the Petrel?", "What about its weight?", "What about the Petrel's weight?"),
        ("How fast is the Petrel?", "Which port is it kept in?", "Which port is the Petrel kept in?"),
        ("How much did Acme earn in 2020?", "What was it in 2021?", "How much did Acme earn in 2021?"),
        ("Who leads Acme and Dell?", "What are their sales?", "What are Acme and Dell's sales?"),
        ("What were sales in 2018?", "And profit?", "What were sales in 2018? And profit?"),
        ("What were sales in 2018?", "Why?", "What were sales in 2018? Why?"),
        (
            "Which two plants closed?",
            "When was the first one opened?",
            "Which two plants closed? When was the first one opened?",
        ),
        (
            "Which two plants closed?",
            "What happened to the second?",
            "Which two plants closed? What happened to the second?",
        ),
        ("Where is the depot?", "How many people work there?", "Where is the depot? How many people work there?"),
    ],
)
def test_follow_ups(before: str, question: str, wanted: str) -> None:
    assert wordings(question, [message(before)], encode)[0] == wanted


@pytest.mark.parametrize(
    "question",
    [
        "Who leads the board of Acme?",
        "What does the report say about staff turnover in 2018?",
        "Which rivers that cross Germany reach the North Sea?",
        "What is the notice period for employees?",
        "How many plants does the company operate?",
        "List the ships and their wind limits",
        "What is the average amount in the first quarter of 2024?",
        "When was the last invoice sent?",
        "What is the second largest plant?",
        "How many invoices of the harbour are there?",
        "Are there toilets on the island?",
    ],
)
def test_questions_that_stand_alone(question: str) -> None:
    assert not is_follow_up(question)
    assert wordings(question, [message("What were sales in 2018?")], encode) == (question,)


def test_without_history() -> None:
    assert wordings("And the year before?", [], encode) == ("And the year before?",)


def test_a_chain_keeps_its_subject() -> None:
    second = message("And the year before?", query="What were sales in 2017?")
    history = [message("What were sales in 2018?"), second]
    assert wordings("And the year before?", history, encode) == ("What were sales in 2016?",)


def test_a_phrase_is_put_where_it_fits_and_asked_otherwise_as_well() -> None:
    asked = "Who leads the company?"
    assert wordings("And the board?", [message(asked)], encode) == (
        "Who leads the board?", f"{asked} And the board?", "And the board?"
    )  # fmt: skip


def test_a_follow_up_without_a_word_of_its_own_is_not_asked_by_itself() -> None:
    asked = "When does the office open?"
    assert wordings("Why is that?", [message(asked)], encode) == (f"{asked} Why is that?",)


def test_earlier_turns_for_a_prompt() -> None:
    assert earlier_turns([], len, 100) == Earlier()
    unanswered = replace(message("Lost?"), answer=None)
    long = message("One?", "It fell [1]. Then it rose.")
    last = [message("Two?"), unanswered, message("Three?", "x" * 9000)]
    earlier = earlier_turns([message("Zero?"), long, *last], len, room=40)
    said = "Question: One?\nAnswer: It fell.\nQuestion: Two?\nAnswer: It rose.\nQuestion: Three?\n"
    assert said in earlier.text
    assert "Zero?" not in earlier.text
    assert len(earlier.text) < 2000
    assert earlier.note == "Earlier questions and answers in the prompt: 2 shortened, the first 1 left out."
    assert earlier_turns([long], len, room=0).note == ""
