"""What a whole table answered is kept with its rows, its plan can be changed and run, and all rows are CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_core import Library, Settings
from rag_core.domain import Answer, TableAnswer, TableCondition, TablePlan
from rag_core.errors import InvalidQuestion
from tests.conftest import add_text

ROWS = [
    (f"P-{100 + row}", ("Riga", "Turku", "Gdynia")[row % 3], f"{10 + row}.50", f"2023-0{1 + row % 9}-12", "=1+A1")
    for row in range(90)
]
SHEET = "\n".join(["Parcel,Port,Weight,Sent,Remark", *(",".join(row) for row in ROWS)])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        add_text(opened, "parcels.csv", SHEET)
        opened.storage.settle()
        yield opened


@pytest.fixture(scope="module")
def counted(library: Library) -> Answer:
    return library.ask("How many parcels are in the port Riga?", conversation="parcels")


def table_of(answer: Answer) -> TableAnswer:
    assert answer.table is not None
    return answer.table


def test_rows_and_plan_are_told_and_kept_with_the_message(library: Library, counted: Answer) -> None:
    table = table_of(counted)
    assert (table.title, table.count, table.formula) == ("parcels", 30, "")
    assert table.heads == ("Parcel", "Port", "Weight", "Sent", "Remark")
    assert [row.cells[0] for row in table.rows] == [row[0] for row in ROWS if row[1] == "Riga"][:20]
    (condition,) = table.plan.conditions
    assert (condition.head, condition.comparison, condition.values) == ("Port", "is", ("Riga",))
    assert condition.words == "Port is “Riga”"
    first = table.rows[0]
    page = library.page(table.plan.document_id, first.page)
    assert page.text[first.start : first.end].split("\t") == list(first.cells)
    (message,) = library.messages("parcels")
    assert message.answer is not None
    assert message.answer.table == table


@pytest.mark.parametrize(
    ("question", "formula"),
    [
        ("What is the total weight of the port Riga?", "1620.00 = sum of 30 cells of Weight"),
        ("What is the average weight in Riga?", "54 = 1620.00 ÷ 30, the sum of Weight by its cells"),
    ],
)
def test_what_is_computed_has_its_formula(library: Library, question: str, formula: str) -> None:
    assert table_of(library.ask(question)).formula == formula


def test_what_is_most_frequent_has_how_often_each_stands_there(library: Library, counted: Answer) -> None:
    light = TableCondition(2, "", "under", ("20",))
    plan = replace(table_of(counted).plan, conditions=(light,), operation="commonest", target=1)
    answer = library.table_plans.ask(plan, "Which port is the most frequent?")
    table = table_of(answer)
    assert "Counted for each Port: 10 of 90 rows" in answer.text
    assert table.groups == (("Riga", 4), ("Turku", 3), ("Gdynia", 3))
    assert table.formula == "Riga: 4 of 10 rows"


def test_a_changed_plan_is_a_message_of_its_conversation(library: Library, counted: Answer) -> None:
    plan = table_of(counted).plan
    there = replace(plan.conditions[0], values=("Turku",))
    answer = library.table_plans.ask(
        replace(plan, conditions=(there,)),
        "How many parcels? · Port: Turku",
        conversation="parcels",
        query="How many parcels are in the port Turku?",
    )
    assert answer.sentences[0].text == "30 rows where Port is “Turku”."
    assert answer.citations[0].text.startswith("P-101\tTurku")
    *_, kept = library.messages("parcels")
    assert (kept.question, kept.id) == ("How many parcels? · Port: Turku", answer.message_id)
    assert kept.answer is not None
    assert kept.answer.table == answer.table
    later = library.ask("And in Gdynia?", conversation="parcels")
    assert [one.values for one in table_of(later).plan.conditions] == [("Gdynia",)]
    every = library.table_plans.ask(replace(plan, conditions=()), "How many parcels? · any Port")
    assert every.sentences[0].text == "90 rows."


@pytest.mark.parametrize(
    ("column", "comparison", "values", "count"),
    [
        (2, "over", ("60",), 40),
        (2, "under", ("10.6",), 1),
        (2, "equals", ("12.5",), 1),
        (3, "within", ("2023-01-01", "2023-01-31"), 10),
        (3, "over", ("2023-08-01", "2023-08-31"), 10),
        (3, "under", ("2023-02-01",), 10),
        (1, "is", ("Riga", "Turku"), 60),
    ],
)
def test_figures_and_days_are_held_against_cells(
    library: Library, counted: Answer, column: int, comparison: str, values: tuple[str, ...], count: int
) -> None:
    condition = TableCondition(column, "", comparison, values)  # type: ignore[arg-type]
    answer = library.table_plans.ask(replace(table_of(counted).plan, conditions=(condition,)), "How many?")
    assert table_of(answer).count == count
    (kept,) = table_of(answer).plan.conditions
    assert (kept.column, kept.comparison, set(kept.values) >= set(values)) == (column, comparison, True)


def test_all_rows_are_csv_in_which_nothing_is_a_formula(library: Library, counted: Answer) -> None:
    data = b"".join(library.table_plans.csv(table_of(counted).plan))
    head, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig")))
    assert head == ["Parcel", "Port", "Weight", "Sent", "Remark"]
    assert rows == [[*row[:4], "'=1+A1"] for row in ROWS if row[1] == "Riga"]


def test_the_values_of_a_column_can_be_chosen_from(library: Library, counted: Answer) -> None:
    assert library.table_plans.choices(table_of(counted).plan, 1) == ["Riga", "Turku", "Gdynia"]


def test_what_does_not_fit_the_table_is_said(library: Library, counted: Answer) -> None:
    plan = table_of(counted).plan
    nowhere = replace(plan.conditions[0], values=("Narvik",))
    for wrong in (
        replace(plan, conditions=(nowhere,)),
        replace(plan, conditions=(replace(nowhere, column=9),)),
        replace(plan, table=7),
        replace(plan, operation="drop"),
        replace(plan, operation="sum"),
        replace(plan, conditions=(replace(nowhere, column=2, comparison="over"),)),
        replace(plan, conditions=(replace(nowhere, column=2, comparison="over", values=("x",)),)),
    ):
        with pytest.raises(InvalidQuestion):
            library.table_plans.ask(wrong, "How many?")
    with pytest.raises(KeyError):
        library.table_plans.ask(TablePlan("none", 0, (), "count"), "How many?")


def test_answers_that_were_kept_without_a_table_open_as_before(library: Library) -> None:
    answer = library.ask("How many parcels are in the port Turku?", conversation="old")
    library.storage.database.execute(
        "UPDATE messages SET answer = answer - 'table' WHERE id = %s", (answer.message_id,)
    )
    (message,) = library.messages("old")
    assert message.answer is not None
    assert (message.answer.text, message.answer.table) == (answer.text, None)
