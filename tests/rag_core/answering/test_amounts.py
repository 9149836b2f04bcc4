"""What figures are in where their document says so once, above several tables."""

from __future__ import annotations

import pytest

from rag_core import Library
from tests.conftest import add_text

REPORT = """# Veyra Ferries statement of income (in thousands, except per share data)

The company runs two ships between the islands of the sound, and has done so without a day's pause since 1921.

## Income

| | 2019 | 2018 |
|---|---|---|
| Ticket revenue | $ 4,120 | $ 3,980 |
| Earnings per share | $ 1.25 | $ 1.10 |

# Sound Islands statement of grants (in millions)

The council of the islands pays for the piers, the lighthouse and the winter crossings out of one fund.

## Grants

| | 2019 | 2018 |
|---|---|---|
| Pier grants | $ 17 | $ 12 |

# Prices at the kiosk

| | Price |
|---|---|
| Coffee | $ 3 |
| Sandwich | $ 6 |
"""


@pytest.fixture
def ferries(library: Library) -> Library:
    add_text(library, "ferries.md", REPORT)
    return library


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was the ticket revenue in 2019?", "Ticket revenue, 2019: $4,120 thousand"),
        ("What were the pier grants in 2018?", "Pier grants, 2018: $12 million"),
        ("What were the earnings per share in 2019?", "Earnings per share, 2019: $1.25"),
        ("What is the price of a sandwich?", "Sandwich, Price: $6"),
    ],
)
def test_each_figure_is_in_what_its_own_statement_says(ferries: Library, question: str, answer: str) -> None:
    first, *_ = ferries.ask(question).text.partition(" [")
    assert first == answer
