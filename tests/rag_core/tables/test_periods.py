"""Tables with a column for each month or year: the same with a row for each, and what is asked of it."""

from __future__ import annotations

import pytest

from rag_core import Library
from rag_core.tables.periods import period_tables
from rag_core.tables.table import WholeTable, table_of
from tests.conftest import add_text

HEADS = ("Category", "March 2024", "April 2024", "May 2024", "June 2024")
ROWS = (("Rent", "900", "900", "900", "900"), ("Food", "310", "95", "240", ""), ("Gifts", "20", "75", "5", "400"))


def table(heads: tuple[str, ...] = HEADS) -> WholeTable:
    return table_of(heads, ROWS, [(1, 10 * row, 10 * row + 9) for row in range(len(ROWS))], "Budget")


def test_each_month_of_a_row_is_a_row() -> None:
    (long,) = period_tables([table()])
    assert [(column.head, column.kind) for column in long.columns] == [
        ("Category", "text"), ("Month", "date"), ("Value", "number"),
    ]  # fmt: skip
    assert len(long) == 12
    assert [long.text(6, column) for column in range(3)] == ["Food", "May 2024", "240"]
    assert [long.place_of(6, column) for column in (-1, 0, 1, 2)] == [(1, 3), (1, 0), (1, 3), (1, 3)]
    assert (long.text(7, 2), int(long.starts[7])) == ("", 10)


@pytest.mark.parametrize(
    ("heads", "kind"),
    [
        (("Team", "2020", "2021", "2022", "2023"), "number"),
        (("Room", "Jan", "Feb", "Mar", "Apr"), "text"),
        (("Item", "2024-01", "2024-02", "2024-03", "2024-04"), "date"),
    ],
)
def test_periods_are_years_months_or_months_of_a_year(heads: tuple[str, ...], kind: str) -> None:
    (long,) = period_tables([table(heads)])
    assert long.columns[1].kind == kind


def test_two_months_or_other_heads_are_no_periods() -> None:
    assert period_tables([table(("Name", "Pay", "Bonus", "May 2024", "June 2024"))]) == []
    assert period_tables([table(("2020", "2021", "2022", "2023", "2024"))]) == []  # words below a year


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much did we spend on food in all of 2024?", "645"),
        ("In which month did we spend the most on gifts?", "June 2024"),
        ("How much did everything cost in April 2024?", "1070"),
        ("How much was spent on gifts from March to May 2024?", "100"),
        ("How much was food in May 2024?", "240"),
    ],
)
def test_months_beside_each_other_are_asked_over_all(library: Library, question: str, said: str) -> None:
    text = "\n".join(",".join(row) for row in (HEADS, *ROWS))
    document = add_text(library, "household budget.csv", text)
    answer = library.ask(question)
    assert f" {said}" in answer.sentences[0].text, answer.text
    citation = answer.citations[0]
    page = library.page(document.id, citation.page)
    assert page.text[citation.start : citation.end] == citation.text  # a cell of the file as it stands


def test_what_months_were_not_spent_on_is_not_found(library: Library) -> None:
    add_text(library, "household budget.csv", "\n".join(",".join(row) for row in (HEADS, *ROWS)))
    assert library.ask("How much did we spend on the dog in May 2024?").abstained
