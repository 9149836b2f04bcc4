"""What a whole table answered is kept with its rows, its plan can be changed and run, and all rows are CSV."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_core import Library, Settings
from rag_core.domain import Answer, TableAnswer, TableCondition, TablePlan
from rag_core.errors import InvalidQuestion
from tests.conftest import add_text

REMARKS = ("=1+A1", "=1+1", "＝A1", "+47 55 12", "-3", "@x")
ROWS = [
    (
        f"P-{100 + row}",
        ("Riga", "Turku", "Gdynia")[row % 3],
        f"{10 + row}.50",
        f"2023-0{1 + row % 9}-12",
        REMARKS[row % 6],
    )
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
        ("What is the average weight in Riga?", "54.00 = 1620.00 ÷ 30, the sum of Weight by its cells"),
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
    told = {"=1+A1": "'=1+A1", "+47 55 12": "+47 55 12"}
    assert rows == [[*row[:4], told[row[4]]] for row in ROWS if row[1] == "Riga"]
    every = b"".join(library.table_plans.csv(replace(table_of(counted).plan, conditions=())))
    remarks = [row[4] for row in csv.reader(io.StringIO(every.decode("utf-8-sig")))][1:7]
    assert remarks == ["'=1+A1", "'=1+1", "'＝A1", "+47 55 12", "-3", "'@x"]


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
        replace(plan, conditions=(replace(nowhere, column=2, comparison="over", values=("nan",)),)),
        replace(plan, conditions=(replace(nowhere, column=2, comparison="over", values=("1e999",)),)),
        replace(plan, conditions=(replace(nowhere, column=2, comparison="month", values=("March", "March")),)),
        replace(plan, conditions=(replace(nowhere, column=3, comparison="month", values=("Never", "Never")),)),
        replace(plan, conditions=(plan.conditions[0],) * 51),
        replace(plan, conditions=(replace(nowhere, values=("Riga",) * 2_001),)),
        replace(plan, target=999),
        replace(plan, by=-2),
    ):
        with pytest.raises(InvalidQuestion):
            library.table_plans.ask(wrong, "How many?")
    with pytest.raises(KeyError):
        library.table_plans.ask(TablePlan("none", 0, (), "count"), "How many?")


@pytest.mark.parametrize(
    ("column", "comparison", "values", "count"),
    [(3, "month", ("February", "March"), 20), (3, "month", ("September", "January"), 20), (1, "not", ("Riga",), 60)],
)
def test_months_and_what_is_not_meant_are_conditions(
    library: Library, counted: Answer, column: int, comparison: str, values: tuple[str, ...], count: int
) -> None:
    condition = TableCondition(column, "", comparison, values)  # type: ignore[arg-type]
    answer = library.table_plans.ask(replace(table_of(counted).plan, conditions=(condition,)), "How many?")
    assert table_of(answer).count == count
    assert table_of(answer).plan.conditions[0].values == values


def test_what_is_searched_for_later_is_no_longer_than_a_question(library: Library, counted: Answer) -> None:
    with pytest.raises(InvalidQuestion):
        library.table_plans.ask(table_of(counted).plan, "How many?", query="port " * 2_000)


def test_a_long_text_before_a_question_is_answered_in_time(library: Library) -> None:
    begun = time.monotonic()
    answers = [event.answer for event in library.reply("And in Turku?", history=[("parcels " * 100_000, "30")])]
    assert answers[-1] is not None
    assert time.monotonic() - begun < 20


def test_figures_too_large_to_be_added_are_not_said(library: Library) -> None:
    rows = "\n".join(f"S-{row},{('north', 'south')[row % 2]},{(2, '1.7e308')[row % 3 == 0]}" for row in range(40))
    add_text(library, "sales.csv", f"Sale,Region,Revenue\n{rows}")
    for question in ("What is the total revenue by region?", "What is the total revenue?", "What is the mean revenue?"):
        assert "inf" not in library.ask(question).text.split()


def test_answers_that_were_kept_without_a_table_open_as_before(library: Library) -> None:
    answer = library.ask("How many parcels are in the port Turku?", conversation="old")
    library.storage.database.execute(
        "UPDATE messages SET answer = answer - 'table' WHERE id = %s", (answer.message_id,)
    )
    (message,) = library.messages("old")
    assert message.answer is not None
    assert (message.answer.text, message.answer.table) == (answer.text, None)
