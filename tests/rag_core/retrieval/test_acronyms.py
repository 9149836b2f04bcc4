"""Acronyms of questions are written out as near texts write them, and left alone where nothing says what they are."""

from __future__ import annotations

import pytest

from rag_core.answering.matching import content_words
from rag_core.retrieval.acronyms import written_out

_TEXTS = [
    "Reed Hastings is President, Chief Executive Officer and Director.",
    "The chief executive officer earned more on research and development.",
    "Certain equity obligations (DEQ) and income taxes; income taxes rose.",
    "They have dividend equivalent rights (DER).",
    "Sales in the United States grew, in the United\nStates and elsewhere.",
]


def asked(question: str, cosine: float = 0.6) -> str:
    return written_out(question, lambda text: _TEXTS, lambda one, other: cosine)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Who is the CEO?", "Who is the chief executive officer (CEO)?"),
        ("R&D in 2020", "research and development (R&D) in 2020"),
        ("what is a DER", "what is a dividend equivalent rights (DER)"),
        ("sales in the US", "sales in the United States (US)"),
        ("Who is the chief executive officer (CEO)?", "Who is the chief executive officer (CEO)?"),
        ("What is an IPO?", "What is an IPO?"),
    ],
)
def test_acronyms_are_written_out(question: str, wanted: str) -> None:
    assert asked(question) == wanted


def test_words_that_mean_something_else_are_not_taken() -> None:
    assert asked("Who does IT?", cosine=0.1) == "Who does IT?"
    assert asked("Who does R&D?", cosine=0.1) == "Who does research and development (R&D)?"


def test_nothing_is_looked_for_without_an_acronym() -> None:
    def fails(question: str) -> list[str]:
        raise AssertionError(question)

    assert written_out("Who runs the ferry?", fails, lambda one, other: 0.0) == "Who runs the ferry?"


def test_an_acronym_that_was_written_out_is_no_word_to_be_matched() -> None:
    words = [word.text for word in content_words("the chief executive officer (CEO) of Netflix")]
    assert words == ["chief", "executive", "officer", "Netflix"]
