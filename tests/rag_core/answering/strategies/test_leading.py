"""What is said before the first quote."""

from __future__ import annotations

from rag_core.answering.encoding import Encoder
from rag_core.answering.quoted import quoted
from rag_core.answering.strategies.extractive import extract
from tests.rag_core.answering.parts import hit

RULES = (
    "Dogs are not allowed in the garden. Bicycles may be kept in the cellar.\n\n"
    "The association, whose members meet each spring in the hall of the old school and choose its board for two years, "
    "has asked every household, whether it owns or lets its rooms, to pay a deposit of 240 crowns for the garden key."
)


def said(question: str, encoder: Encoder) -> str:
    return quoted(extract(question, [hit(RULES, document="house rules")], encoder))[0]


def test_the_words_of_a_long_sentence_that_answer_come_first(real_encoder: Encoder) -> None:
    first, quote, *_ = said("How much is the deposit for the garden key?", real_encoder).split("\n\n")
    assert "240 crowns" in first
    assert len(first.split()) < 20 < len(quote.split())
    assert (first[-3:], quote[-3:]) == ("[1]", "[1]")


def test_a_short_sentence_says_it_itself(real_encoder: Encoder) -> None:
    assert said("Where may bicycles be kept?", real_encoder).startswith("Bicycles may be kept in the cellar. [1]")
