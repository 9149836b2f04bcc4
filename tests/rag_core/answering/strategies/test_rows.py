"""Rows as answers say them."""

from __future__ import annotations

from rag_core.answering.strategies.evidence import gather
from rag_core.answering.strategies.rows import row_said
from tests.rag_core.answering.parts import ENCODER, hit

GOALS = hit("No\tTeam\tGoals\n1\tHC Penmoor\t548\n2\tWexcombe Wolves\t521")


def test_a_row_behind_its_number_is_said_by_its_name() -> None:
    evidence = gather("How many goals have the Wexcombe Wolves?", [GOALS], ENCODER)
    assert evidence is not None
    said = [row_said(evidence, unit.quote).text for unit in evidence.units]
    assert "2 Wexcombe Wolves, Goals: 521" in said
