"""Numbers in one spelling, in English and where the comma is the decimal mark."""

from __future__ import annotations

import pytest

from rag_core.text.numbers import normalise_number, numbers


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,200.50", "1200.5"),
        ("480", "480"),
        ("3,5", "3.5"),
        ("007", "7"),
        ("0", "0"),
        ("1,234,567", "1234567"),
        ("12.", "12"),
        ("1 577 000", "1577000"),
        ("1’577", "1577"),
        ("1.577", "1.577"),
        ("12.05.2021", "12.05.2021"),
    ],
)
def test_one_spelling_of_numbers(text: str, wanted: str) -> None:
    assert normalise_number(text) == wanted


@pytest.mark.parametrize(("text", "wanted"), [("1.577", "1577"), ("1.577,50", "1577.5"), ("3,5", "3.5"), ("3", "3")])
def test_a_point_between_thousands(text: str, wanted: str) -> None:
    assert normalise_number(text, "de") == wanted


def test_numbers_in_figures_and_words() -> None:
    assert numbers("Twelve of 1,200 in 2018, i.e. 1.0 %") == {"12", "1200", "2018", "1"}
    assert numbers("the 10-K of twenty-one") == {"10", "20", "1"}
    assert numbers("none") == set()
