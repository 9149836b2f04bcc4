"""A long sentence as the part of it that answers."""

from __future__ import annotations

import pytest

from rag_core.answering.strategies.extractive import extract
from rag_core.answering.strategies.shortening import shortened
from rag_core.text.terms import terms
from tests.rag_core.answering.parts import ENCODER, hit

TEXT = "The ferry, which was built in Aldhaven, carries cars, carts and 280 people, but no dogs, to Tolsund every day."


@pytest.mark.parametrize(
    ("answer", "asked", "expected"),
    [
        ("Aldhaven", "", "The ferry, which was built in Aldhaven, carries cars …"),
        ("no dogs", "", "… carts and 280 people, but no dogs …"),
        ("280", "", "… carries cars, carts and 280 people, but no dogs …"),
        ("", "where to on which day", "… but no dogs, to Tolsund every day."),
    ],
)
def test_the_clauses_that_answer(answer: str, asked: str, expected: str) -> None:
    span = (TEXT.index(answer), TEXT.index(answer) + len(answer))
    assert shortened(TEXT, span, set(terms(asked)), 9) == expected
    assert shortened(TEXT, span, set(terms(asked)), 20) == TEXT


def test_a_long_clause_is_cut_between_words() -> None:
    text = " ".join(f"word{n}" for n in range(100))
    place = text.index("word50")
    cut = shortened(text, (place, place + 6), set(), 30)
    assert len(cut.split()) <= 32
    assert cut.strip("… ") in text
    assert "word50" in cut


def test_a_citation_opens_all_of_a_sentence_that_is_cut() -> None:
    text = f"The sluice was closed, {', '.join(f'{n} days after the flood of {n}' for n in range(14))}, by the miller."
    (quote,) = extract("Who closed the sluice?", [hit(text)], ENCODER).quotes
    assert quote.text.startswith("The sluice was closed, 0 days")
    assert quote.text.endswith(" …")
    assert quote.exact == text
