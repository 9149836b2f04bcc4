"""Misspelt words are put right by the library's own; words of the language are left alone."""

from __future__ import annotations

import pytest

from rag_core.retrieval.spelling import corrected

TEXTS = ["The museum's ferry to Veyra. Its fee for students is 130 crowns.", "The being had an ultimate prosecution."]


def put_right(question: str) -> str:
    return corrected(question, lambda term: False, lambda term: TEXTS, lambda word: word in ("the", "fee", "for"))


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("the fee for studnets", "the fee for students"),
        ("the Musuem", "the Museum"),
        ("the beeping", "the beeping"),  # a word that no document has, as a dictionary knows
        ("prosecco and uptime", "prosecco and uptime"),  # in no dictionary, and longer than what they resemble
    ],
)
def test_misspelt_words_alone_are_put_right(question: str, understood: str) -> None:
    assert put_right(question) == understood
