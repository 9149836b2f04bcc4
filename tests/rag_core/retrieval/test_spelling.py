"""Misspelt words are put right by the library's own; words of the language are left alone."""

from __future__ import annotations

import time

import pytest

from rag_core.retrieval.spelling import corrected

TEXTS = [
    "Bicycle: the harbour of Aldhavenness. The museum's ferry to Veyra. Its fee for students is 130 crowns.",
    "The being had an ultimate prosecution. Strike a match, and the match burns.",
]


def put_right(question: str, language: str = "en") -> str:
    known = ("the", "fee", "for")
    return corrected(question, lambda term: False, lambda term: TEXTS, lambda word: word in known, language)


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("the fee for studnets", "the fee for students"),
        ("the Musuem", "the Museum"),
        ("how mutch", "how much"),  # rather than "match": any question may have a function word
        ("the beeping", "the beeping"),  # a word that no document has, as a dictionary knows
        ("the Veira and the Veyraen", "the Veyra and the Veyraen"),  # two letters off a name is another name
        ("a bycicle", "a bicycle"),  # begins a line, but is a word of the language
        ("the Aldhvnness", "the Aldhavenness"),  # of a long one it hardly is
        ("the VeyRa", "the VeyRa"),  # no edit at all
        ("prosecco and uptime", "prosecco and uptime"),  # in no dictionary, and longer than what they resemble
    ],
)
def test_misspelt_words_alone_are_put_right(question: str, understood: str) -> None:
    assert put_right(question) == understood


def test_by_the_words_of_the_questions_language() -> None:
    assert put_right("Museeum", "de") == "Museum"
    assert put_right("wandern", "de") == "wandern"


def test_a_word_however_long_costs_little() -> None:
    began = time.perf_counter()
    assert put_right("Unput" + "downable" * 30) == "Unput" + "downable" * 30
    assert time.perf_counter() - began < 1
