"""Rows said as sentences."""

from __future__ import annotations

import pytest

from rag_core.answering.encoding import EncodeTokens
from rag_core.answering.strategies.cells import cell_line
from rag_core.answering.strategies.evidence import gather
from tests.rag_core.answering.parts import hit
from tests.rag_core.answering.strategies.test_units import TABLE

LAKES = """| Source | Height above the sea | In use since |
|---|---|---|
| Upper spring | 118 m | 1926 |
| Lake Ormen | 61 m | 1978 |
"""


def line(question: str, text: str, row: str, real_tokens: EncodeTokens) -> str:
    evidence = gather(question, [hit(text)], real_tokens)
    assert evidence is not None
    return cell_line(evidence, [unit.quote.text for unit in evidence.units].index(row))


def test_the_year_asked_for_tells_the_column(real_tokens: EncodeTokens) -> None:
    row = "Operating income $ 15,261 $ 16,232 $ 19,742"
    question = "What was the operating income in Greater China in 2019?"
    assert line(question, TABLE, row, real_tokens) == "Greater China, Operating income, 2019: $ 16,232"


@pytest.mark.parametrize("question", ["Operating income in Greater China?", "Operating income in 2018 and 2019?"])
def test_no_column_or_two_are_not_guessed(question: str, real_tokens: EncodeTokens) -> None:
    assert line(question, TABLE, "Operating income $ 15,261 $ 16,232 $ 19,742", real_tokens) == ""


def test_cells_between_marks(real_tokens: EncodeTokens) -> None:
    row = "Lake Ormen | 61 m | 1978"
    assert line("At what height is Lake Ormen?", LAKES, row, real_tokens) == "Lake Ormen, Height above the sea: 61 m"
    assert line("What is Lake Ormen?", LAKES, row, real_tokens) == ""


def test_a_sentence_speaks_for_itself(real_tokens: EncodeTokens) -> None:
    assert line("Offices in 2019?", TABLE, "It owns most of them.", real_tokens) == ""


def test_other_counts_of_columns_are_left_alone(real_tokens: EncodeTokens) -> None:
    text = "2020 2019 Change\nNet sales 10 8 25 %"
    assert line("Net sales in 2019?", text, "Net sales 10 8 25 %", real_tokens) == ""
