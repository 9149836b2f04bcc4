"""Rows as answers say them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.encoding import Encoder
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.rows import row_said, with_heads, years_told
from rag_core.answering.tables.matching_cells import CELL_FEATURES
from tests.rag_core.answering.parts import ENCODER, encode_tokens, hit

GOALS = hit("No\tTeam\tGoals\n1\tHC Penmoor\t548\n2\tWexcombe Wolves\t521")


def test_a_row_behind_its_number_is_said_by_its_name() -> None:
    evidence = gather("How many goals have the Wexcombe Wolves?", [GOALS], ENCODER)
    assert evidence is not None
    said = [row_said(evidence, unit.quote).text for unit in evidence.units]
    assert "2 Wexcombe Wolves, Goals: 521" in said


def test_a_row_is_read_with_its_heads_and_knows_where_its_cells_stand() -> None:
    evidence = gather("How many goals have the Wexcombe Wolves?", [GOALS], ENCODER)
    assert evidence is not None
    quote = next(unit.quote for unit in evidence.units if "Wolves" in unit.quote.text)
    said = with_heads(evidence, quote)
    ((first, last, start),) = said.cells
    assert (said.quote.text[first:last], GOALS.text[start - GOALS.start :]) == ("521", "521")


def test_the_cell_that_the_reader_takes_for_the_answer_is_known_as_such() -> None:
    def read(question: str, passages: Sequence[tuple[str, Sequence[str]]]) -> list[NDArray[np.float64]]:
        """Takes what a child pays for the answer in each row."""
        rows = [[re.search(r"[67]\.\d+", text) for text in texts] for _, texts in passages]
        return [np.array([(2, 2, *(row.span() if row else (0, 0))) for row in found], dtype=float) for found in rows]

    table = hit("Fares\tAdult\tChild\nTolsund\t15.80\t7.90\nCastra\t12.40\t6.20")
    evidence = gather("What does a child pay to Tolsund?", [table], Encoder(encode_tokens, read))
    assert evidence is not None
    assert evidence.asked is not None
    spanned = evidence.asked.features[:, CELL_FEATURES.index("spanned")]
    assert {cell.part.text for cell, is_it in zip(evidence.asked.cells, spanned, strict=True) if is_it} == {
        "7.90",
        "6.20",
    }


def test_a_row_tells_the_years_that_stand_above_it() -> None:
    fees = hit("Item\t2023 2024\t2025\nBase fee\t2,150\t2,290\t2,380\nFee of 2019\t64\t66\t69")
    evidence = gather("What is the base fee?", [fees], ENCODER)
    assert evidence is not None
    quote = next(unit.quote for unit in evidence.units if "Base fee" in unit.quote.text)
    assert years_told(evidence, quote) == {"2023", "2024", "2025"}
