"""Tables that have keys of others, and what is asked of both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rag_core.domain import Page
from rag_core.tables import plans as grammar
from rag_core.tables.joins import joined_tables
from rag_core.tables.links import Link
from rag_core.tables.plans import Plan, rows_left, run
from rag_core.tables.table import WholeTable, table_of, whole_tables

CREW = [("Ida Lund", "Oslo", "410"), ("Per Holm", "Bergen", "380"), ("Ann Vik", "Oslo", "520"), ("Total", "", "1310")]
BOATS = [("S-1", "Ann Vik"), ("S-2", "Ida Lund"), ("S-3", "Ann Vik"), ("S-4", "per holm"), ("S-5", "")]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> WholeTable:
    return table_of(heads, rows, [(1, 10 * row, 10 * row + 9) for row in range(len(rows))], name)


@pytest.fixture
def tables() -> list[WholeTable]:
    return [table(("Name", "City", "Pay"), CREW, "Crew"), table(("Boat", "Skipper"), BOATS, "Boats")]


def test_each_row_has_what_the_other_table_says_of_its_cell(tables: list[WholeTable]) -> None:
    (joined,) = joined_tables(tables)
    assert joined.name == "Boats with Crew by Skipper"
    assert [column.head for column in joined.columns] == ["Boat", "Skipper", "City", "Pay"]
    assert [joined.text(row, 3) for row in range(5)] == ["520", "410", "520", "380", ""]
    assert joined.matches.tolist() == [2, 0, 2, 1, -1]
    assert joined.columns[3].kind == "number"
    assert [joined.column_of_other(column) for column in (1, 2, 3)] == [-1, 1, 2]


def test_plans_go_over_both(tables: list[WholeTable]) -> None:
    (joined,) = joined_tables(tables)
    oslo = Link(0, 1, 2, tuple(np.flatnonzero([text == "Oslo" for text in joined.columns[2].texts]).tolist()))
    plan = Plan((oslo,), grammar.COUNT)
    result = run(plan, joined, rows_left(joined, plan.conditions))
    assert result is not None
    assert result.value == 3
    assert joined.is_needed_for([0, 3])
    assert not joined.is_needed_for([0, 1])
    assert not joined.is_needed_for([2, 3])
    assert not joined.is_needed_for([])


@pytest.mark.parametrize(
    "others",
    [
        [("S-1", "Jan Moe"), ("S-2", "Ida Lund"), ("S-3", "Eva Roth"), ("S-4", "Tom Berg")],
        [("S-1", "410"), ("S-2", "380"), ("S-3", "520"), ("S-4", "410")],
    ],
)
def test_tables_with_other_cells_or_figures_are_not_joined(
    tables: list[WholeTable], others: list[tuple[str, str]]
) -> None:
    assert joined_tables([tables[0], table(("Boat", "Skipper"), others, "Boats")]) == []


def test_a_head_that_both_have_says_whose_it_is(tables: list[WholeTable]) -> None:
    boats = table(("Boat", "Skipper", "City"), [(*row, "Bern") for row in BOATS], "Boats")
    (joined,) = joined_tables([tables[0], boats])
    assert [column.head for column in joined.columns] == ["Boat", "Skipper", "City", "City of Skipper", "Pay"]


def test_joined_tables_are_called_by_the_names_of_their_sheets() -> None:
    names = [f"{given} {name}" for given in ("Ida", "Per") for name in ("Lund", "Holm", "Vik")]
    vehicles = "\n".join(["Vehicle\tDriver", *(f"V-{100 + at}\t{name}" for at, name in enumerate(names))])
    staff = "\n".join(["Name\tSalary", *(f"{name}\t{41000 + 300 * at}" for at, name in enumerate(names))])
    pages = [Page(1, f"Vehicles\n\n{vehicles}"), Page(2, f"Staff\n\nStaff of the ferries, as of 1 March 2026\n{staff}")]
    assert [one.name for one in joined_tables(whole_tables(pages))][:1] == ["Vehicles with Staff by Driver"]
