"""Which questions can be asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.answering.question import check_question
from rag_core.errors import InvalidQuestion


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", "empty"),
        (" \t\n\u00a0", "empty"),
        ("\x00\x01\x1b", "no letter"),
        ("\u200b\u2060", "no letter"),
        ("???", "no letter"),
        ("\ud800", "no letter"),
        ("x" * 20_000, "20,000 characters"),
    ],
)
def test_refused_with_help(question: str, words: str) -> None:
    with pytest.raises(InvalidQuestion, match=words) as caught:
        check_question(question, 4000)
    assert caught.value.help


@pytest.mark.parametrize(
    ("question", "wanted"),
    [(" What\x00 is\n this? ", "What is this?"), ("什么?", "什么?"), ("2018?", "2018?"), ("x" * 4000, "x" * 4000)],
)
def test_taken_and_cleaned(question: str, wanted: str) -> None:
    assert check_question(question, 4000) == wanted


@given(st.text(max_size=200))
def test_never_anything_but_text_or_invalid(question: str) -> None:
    try:
        checked = check_question(question, 100)
    except InvalidQuestion:
        return
    checked.encode("utf-8")
    assert "\x00" not in checked
