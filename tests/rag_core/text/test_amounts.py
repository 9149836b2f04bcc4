"""Notes that say what a document's amounts are in: where they stand, and how far they hold."""

from __future__ import annotations

import pytest

from rag_core.domain import AmountNote, Section
from rag_core.text.amounts import amount_notes

INCOME = "ACME PLC\nSTATEMENT OF INCOME\n(in thousands, except per share data)\nSales\t$ 1,200\t$ 900\n"


def test_a_statements_head_holds_until_the_next_one() -> None:
    pages = {3: INCOME, 7: "ACME PLC\nNOTES\nAmounts in millions of euros\nNote 1. Leases\n"}
    assert amount_notes(pages, ()) == [
        AmountNote("(in thousands, except per share data)", 3, INCOME.index("(in")),
        AmountNote("Amounts in millions of euros", 7, 15),
    ]
    first, second = amount_notes(pages, ())
    assert first.holds_at(3, 90) and first.holds_at(4, 0) and not first.holds_at(3, 0)
    assert second.holds_at(9, 1) and not second.holds_at(6, 500)


def test_a_note_further_down_holds_for_the_rest_of_its_page() -> None:
    text = f"{'Sales rose in all of our regions, as more shops were opened than in any year before it. ' * 3}\n"
    (note,) = amount_notes({2: f"{text}(in thousands)\nSales\t12\t14\n"}, ())
    assert note.until == (3, 0)


def test_in_a_document_with_headings_of_its_own_it_ends_with_its_section() -> None:
    text = "# Results (in millions)\n## Sales\n# Prices\nA ticket costs $ 12.\n"
    sections = [Section("Results (in millions)", 1, 1, 0), Section("Sales", 2, 1, 24), Section("Prices", 1, 1, 33)]
    (note,) = amount_notes({1: text}, sections, marked=True)
    assert note.until == (1, 33)


@pytest.mark.parametrize(
    "line",
    [
        "The following table shows net sales for 2020 and 2019 (in millions):",
        "Used in millions of homes since the year 1990 and loved there",
        "The plant cost 3 million dollars.",
    ],
)
def test_what_is_said_of_one_table_or_thing_holds_for_no_other(line: str) -> None:
    assert amount_notes({1: f"{line}\nSales\t12\t14\n"}, ()) == []
