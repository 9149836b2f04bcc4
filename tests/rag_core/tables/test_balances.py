"""Columns that run up another one."""

from __future__ import annotations

import pytest

from rag_core.tables.balances import balances, row_numbers
from rag_core.tables.table import WholeTable, table_of

PAID = (-20.5, -3.25, 1200.0, -410.0, -9.99, -61.4, -18.0, -7.75)


def _statement(amounts: list[list[str]], heads: list[str], *, is_newest_first: bool) -> WholeTable:
    rows, left = [], 800.0
    for at, cells in enumerate(amounts):
        left += PAID[at]
        rows.append([f"2024-03-{at + 1:02}", *cells, f"{left:.2f}"])
    rows = rows[::-1] if is_newest_first else rows
    return table_of(["Date", *heads, "Balance"], rows, [(1, row, row) for row in range(len(rows))])


@pytest.mark.parametrize("is_newest_first", [False, True], ids=["oldest first", "newest first"])
def test_a_balance_is_what_runs_up_the_amounts(is_newest_first: bool) -> None:
    table = _statement([[f"{one:.2f}"] for one in PAID], ["Amount"], is_newest_first=is_newest_first)
    assert balances(table) == {2}


def test_a_balance_runs_up_what_comes_in_and_goes_out() -> None:
    cells = [[f"{-one:.2f}" if one < 0 else "", f"{one:.2f}" if one > 0 else ""] for one in PAID]
    assert balances(_statement(cells, ["Paid out", "Paid in"], is_newest_first=False)) == {3}


def test_figures_beside_each_other_are_no_balance() -> None:
    rows = [[f"R{at}", str(at * 7 % 11), f"{at * 3.5:.2f}"] for at in range(12)]
    assert balances(table_of(["Order", "Pieces", "Price"], rows, [(1, row, row) for row in range(12)])) == set()


def test_what_numbers_the_rows_is_no_amount() -> None:
    rows = [[str(101 + at), str(2 + at % 3), f"{90 - at}.00"] for at in range(8)]
    assert row_numbers(table_of(["Room", "Beds", "Price"], rows, [(1, row, row) for row in range(8)])) == {0}
