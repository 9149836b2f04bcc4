"""Rows as answers say them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_core.answering.encoding import Encoder
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.rows import other_cells, row_said, with_heads, years_told
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


def test_a_table_of_words_has_no_heads_of_another_table_s_figures() -> None:
    size = "| | Nimbus 3 | Nimbus 5 |\n|---|---|---|\n| Power | 280 W | 420 W |\n| Noise | 41 dB | 46 dB |"
    faults = (
        "| Code | Meaning | Remedy |\n|---|---|---|\n| F1 | Room too cold | Heat it |\n| F4 | Fan blocked | Clear it |"
    )
    evidence = gather("What does F4 mean?", [hit(f"## Size\n{size}\n\n## Faults\n{faults}")], ENCODER)
    assert evidence is not None
    said = [row_said(evidence, unit.quote).text for unit in evidence.units]
    assert "F4 Fan blocked, Remedy: Clear it" in said, said


def test_beside_a_cell_that_is_said_a_row_says_its_others() -> None:
    fares = hit("Fares\tAdult\tChild\nTolsund\t15.80\t7.90\nCastra\t12.40\t6.20")
    evidence = gather("What does a child pay to Tolsund?", [fares], ENCODER)
    assert evidence is not None
    row = next(unit.quote for unit in evidence.units if "Tolsund" in unit.quote.text)
    start = row.start + row.exact.index("7.90")
    cell = replace(row, text="7.90", start=start, end=start + 4)
    beside = other_cells(evidence, row, cell, "Tolsund, Child: 7.90")
    assert (beside.text, beside.start, beside.end) == ("Adult: 15.80", row.start, row.end)
    assert other_cells(evidence, row, cell, "Child: 7.90").text == "Tolsund, Adult: 15.80; Child: 7.90"
    bare = hit("Tolsund\t15.80\t7.90\nCastra\t12.40\t6.20")
    evidence = gather("What does a child pay to Tolsund?", [bare], ENCODER)
    assert evidence is not None
    row = next(unit.quote for unit in evidence.units if "Tolsund" in unit.quote.text)
    assert other_cells(evidence, row, replace(row, start=row.start + 8), "Tolsund: 15.80") == row_said(evidence, row)


def test_a_row_tells_the_years_that_stand_above_it() -> None:
    fees = hit("Item\t2023 2024\t2025\nBase fee\t2,150\t2,290\t2,380\nFee of 2019\t64\t66\t69")
    evidence = gather("What is the base fee?", [fees], ENCODER)
    assert evidence is not None
    quote = next(unit.quote for unit in evidence.units if "Base fee" in unit.quote.text)
    assert years_told(evidence, quote) == {"2023", "2024", "2025"}
