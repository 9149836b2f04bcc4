"""Which of two answers is said, by what speaks for each."""

from __future__ import annotations

import pytest

from rag_core.answering.strategies.model_choice import SIGNS, choose

HELD = dict.fromkeys(SIGNS, 0.0) | {"right": 1.4, "answerable": 2.0, "line_worse": -3.0, "held": 2.5, "figures": 0.5}


@pytest.mark.parametrize(
    ("otherwise", "is_models"),
    [
        ({}, True),
        ({"held": 0.5}, False),
        ({"line_first": 1.0}, False),
        ({"figures": 0.0}, False),
        ({"unheld": 1.0}, False),
        ({"refused": 1.0}, False),
    ],
)
def test_what_another_line_surely_holds_outdoes_a_quote(otherwise: dict[str, float], is_models: bool) -> None:
    assert choose(HELD | otherwise, quotes=True).is_models is is_models
