"""Figures in running text, and which of them are the same amount."""

from __future__ import annotations

import pytest

from rag_core.answering.claims.measures import mentions, rates_of, same_amount, same_currency


@pytest.mark.parametrize(
    ("said", "held", "same"),
    [
        ("15.8 billion", "15,794,341 thousand", True),
        ("15.9 billion", "15,794,341 thousand", False),
        ("90 minutes", "1.5 hours", True),
        ("90 minutes", "90 metres", False),
        ("12 percent", "12.0 %", True),
        ("12 percentage points", "12 %", False),
        ("nine weeks", "9 weeks", True),
        ("147,000", "147,012", True),
        ("2,430", "2,340", False),
        ("04:05", "05:04", False),
        ("2018", "2019", False),
    ],
)
def test_same_amount(said: str, held: str, same: bool) -> None:
    assert same_amount(mentions(said)[0], mentions(held)[0]) == same


def test_what_stands_with_a_figure() -> None:
    price, year, share = mentions("NT$0.75 in 2019, up 3 %")
    assert price.currency == "Taiwan dollar"
    assert year.is_year
    assert share.percent
    first, second = mentions("from 1348–50")
    assert (first.value, second.value) == (1348, 1350)
    (power,) = mentions("with 300 \nkilowatts")
    assert power.unit == ("power", "kilowatt")


def test_currencies_and_rates() -> None:
    assert same_currency("dollar", "Taiwan dollar")
    assert not same_currency("US dollar", "Taiwan dollar")
    assert rates_of("210 litres per hour at 14 metres per second") == {("time", "hour")}
