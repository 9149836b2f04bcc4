"""Whole tables out of pages, links from words to cells, and what plans find."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rag_core.domain import Document, Page
from rag_core.tables import plans as grammar
from rag_core.tables.answers import plan_of, table_answer
from rag_core.tables.asking import best_plans, scene_of
from rag_core.tables.links import Link, links_of
from rag_core.tables.plans import Plan, condition_sets, plans, rows_left, run
from rag_core.tables.scene import Scene
from rag_core.tables.table import WholeTable, table_of, whole_tables
from rag_core.tables.weights import weights
from rag_core.tables.wording import condition, derivation, finding, formula
from rag_core.tables.words import Words

HEADS = ("Berth", "Owner", "Fee", "Since", "Paid")
ROWS = (
    ("B-101", "Ida Lund", "120.50", "2019-04-01", "yes"),
    ("B-102", "Per Holm", "98.00", "2021-06-15", "no"),
    ("B-103", "Ida Lund", "310.00", "2020-01-20", "no"),
    ("B-104", "Ann Vik", "75.25", "2023-09-09", "yes"),
    ("Total", "", "603.75", "", ""),
)


@pytest.fixture
def berths() -> WholeTable:
    return table_of(HEADS, ROWS, [(1, 10 * row, 10 * row + 9) for row in range(len(ROWS))], "Berths")


def found(table: WholeTable, plan: Plan) -> tuple[Sequence[str], float | None]:
    result = run(plan, table, rows_left(table, plan.conditions))
    assert result is not None
    return result.texts, result.value


def link(table: WholeTable, question: str, column: int, comparison: str = "") -> Link:
    return next(one for one in links_of(Words(question), table) if (one.column, one.comparison) == (column, comparison))


def test_columns_know_what_they_hold(berths: WholeTable) -> None:
    assert [column.kind for column in berths.columns] == ["text", "text", "number", "date", "text"]
    assert berths.columns[0].is_key
    assert berths.totals.tolist() == [False] * 4 + [True]


def test_a_long_table_whose_head_is_said_again_is_one_with_the_place_of_each_row() -> None:
    first = "List\n\nName\tAge\nAnn\t12\nBob\t13\n\nName\tAge\nCem\t14"
    second = "Name\tAge\nDan\t15\nEva\t16\n\nTown\tSize\nOslo\t3\nBern\t4"
    people, towns = whole_tables([Page(1, first), Page(2, second)])
    assert [column.head for column in people.columns] == ["Name", "Age"]
    assert [people.text(row, 0) for row in range(5)] == ["Ann", "Bob", "Cem", "Dan", "Eva"]
    assert people.pages.tolist() == [1, 1, 1, 2, 2]
    assert first[people.starts[2] : people.ends[2]] == "Cem\t14"
    assert [column.head for column in towns.columns] == ["Town", "Size"]
    assert people.name == "List"


@pytest.mark.parametrize(
    ("question", "column", "texts"),
    [
        ("What is the fee of B-103?", 0, ["B-103"]),
        ("what is the fee of b 103", 0, ["B-103"]),
        ("What does Lund pay?", 1, ["Ida Lund"]),
        ("What does Ida Lund pay?", 1, ["Ida Lund"]),
        ("Which fee is 310?", 2, []),
    ],
)
def test_words_stand_for_cells(berths: WholeTable, question: str, column: int, texts: list[str]) -> None:
    found = [one for one in links_of(Words(question), berths) if one.column == column]
    listed = [berths.columns[column].texts[code] for one in found for code in one.codes]
    assert [text for text in dict.fromkeys(listed) if text != "310.00"] == texts


def test_conditions_hold_numbers_and_dates_against_cells(berths: WholeTable) -> None:
    over = link(berths, "Which fees are over 100?", 2, ">")
    assert rows_left(berths, [over]).tolist() == [True, False, True, False, False]
    year = link(berths, "Who came in 2021?", 3, "within")
    assert rows_left(berths, [year]).tolist() == [False, True, False, False, False]
    later = link(berths, "Who came after 2020?", 3, ">")
    assert rows_left(berths, [later]).tolist() == [False, True, False, True, False]
    month = link(berths, "Who came in June 2021?", 3, "within")
    assert rows_left(berths, [month]).tolist() == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("question", "berths_left"),
    [
        ("How much was paid in April?", {"B-101"}),
        ("Wie viel im Juni?", {"B-102"}),
        ("How many between April and September?", {"B-101", "B-102", "B-104"}),
        ("How many from September to January?", {"B-103", "B-104"}),
        ("How many in April and in June?", {"B-101", "B-102"}),
        ("How many in April of 2019?", {"B-101"}),
        ("How many in April of 2021?", set()),
        ("How much was paid on 1 April?", {"B-101"}),
        ("How much was paid on April 2nd?", set()),
        ("How many between 2 April and 20 January?", {"B-102", "B-103", "B-104"}),
        ("How many between January 2020 and June 2021?", {"B-102", "B-103"}),
        ("How many between March and June 2021?", {"B-102"}),
        ("How many from 2019 to 2021?", {"B-101", "B-102", "B-103"}),
        ("How many came in the first quarter of 2020?", {"B-103"}),
        ("How many came in Q2 2021?", {"B-102"}),
        ("Wie viele kamen im 3. Quartal 2023?", {"B-104"}),
        ("Wie viele zwischen Mai und September 2023?", {"B-104"}),
    ],
)
def test_a_month_without_a_year_is_that_of_any(berths: WholeTable, question: str, berths_left: set[str]) -> None:
    conditions = [one for one in links_of(Words(question), berths) if one.comparison in ("month", "within")]
    conditions = [one for one in conditions if one.column == 3]
    left = np.flatnonzero(rows_left(berths, conditions))
    assert {berths.text(int(row), 0) for row in left} == berths_left


@pytest.mark.parametrize(
    ("question", "column", "berths_left"),
    [
        ("Which are not of Ida Lund?", 1, {"B-102", "B-104"}),
        ("How many aren't Ida Lund's?", 1, {"B-102", "B-104"}),
        ("All except Per Holm", 1, {"B-101", "B-103", "B-104"}),
        ("Wie viele sind nicht von Ann Vik?", 1, {"B-101", "B-102", "B-103"}),
        ("Which are of Ida Lund and not paid?", 1, {"B-101", "B-103"}),
    ],
)
def test_what_stands_behind_a_not_is_left_out(
    berths: WholeTable, question: str, column: int, berths_left: set[str]
) -> None:
    conditions = [one for one in links_of(Words(question), berths) if one.column == column and one.exact]
    left = np.flatnonzero(rows_left(berths, conditions))
    assert {berths.text(int(row), 0) for row in left} == berths_left


def test_a_day_of_a_month_is_no_number_of_a_cell() -> None:
    courses = table_of(("Course", "Taken"), (("Spanish", "14"), ("Yoga", "9")), [(1, 0, 9), (1, 10, 19)], "Courses")
    assert links_of(Words("Who chaired the meeting on 14 May?"), courses) == []
    assert links_of(Words("Which course has 14 taken?"), courses) != []


@pytest.mark.parametrize(
    ("question", "berths_left"),
    [
        ("How many are paid?", {"B-101", "B-104"}),
        ("How many are not paid?", {"B-102", "B-103"}),
        ("How many are unpaid?", {"B-102", "B-103"}),
    ],
)
def test_a_column_of_yes_and_no_is_spoken_of_by_its_head(
    berths: WholeTable, question: str, berths_left: set[str]
) -> None:
    conditions = [one for one in links_of(Words(question), berths) if one.column == 4]
    left = np.flatnonzero(rows_left(berths, conditions))
    assert {berths.text(int(row), 0) for row in left} == berths_left


@pytest.mark.parametrize(
    ("question", "column", "sign", "said"),
    [
        ("Which fees are at least 110.00?", 2, ">=", "Fee is at least 110"),
        ("Which fees are no more than 110?", 2, "<=", "Fee is at most 110"),
        ("Wer zahlt mindestens 110 Euro?", 2, ">=", "Fee is at least 110"),
        ("Qui paie au plus 110 euros ?", 2, "<=", "Fee is at most 110"),
        ("Which fees are 110 or more?", 2, ">=", "Fee is at least 110"),
        ("Which fees are 110 crowns or less?", 2, "<=", "Fee is at most 110"),
        ("Which fees are between 100 and 130?", 2, "within", "Fee is from 100 to 130"),
        ("Who has been here since 2 April 2021?", 3, ">=", "Since is from 2021-04-02 on"),
        ("Who came until March 2021?", 3, "<=", "Since is until 2021-03-31"),
    ],
)
def test_a_bound_belongs_to_what_it_leaves(
    berths: WholeTable, question: str, column: int, sign: str, said: str
) -> None:
    (only,) = [one for one in links_of(Words(question), berths) if one.column == column]
    assert only.comparison == sign
    assert condition(only, berths) == said
    plan = Plan((only,), grammar.LOOK_UP, 0)
    result = run(plan, berths, rows_left(berths, (only,)))
    assert result is not None
    kept = table_answer(plan, result, berths, Document("d", "Berths", "text/csv", 1, "ready"), 0).plan
    assert rows_left(berths, plan_of(kept, berths).conditions).tolist() == rows_left(berths, (only,)).tolist()


@pytest.mark.parametrize("question", ["How many are from 2021?", "How does that compare to 2021?"])
def test_a_year_that_may_be_meant_alone_is_no_bound(berths: WholeTable, question: str) -> None:
    assert [one.comparison for one in links_of(Words(question), berths) if one.column == 3] == ["within", ">", "<"]


def test_an_opposite_is_what_other_cells_say() -> None:
    rows = [("A", "paid"), ("B", "open"), ("C", "overdue"), ("D", "paid")]
    bills = table_of(("Bill", "Status"), rows, [(1, 10 * row, 10 * row + 9) for row in range(4)], "Bills")
    for question in ("Which bills are unpaid?", "Which bills are not paid?"):
        (only,) = [one for one in links_of(Words(question), bills) if one.column == 1]
        assert rows_left(bills, [only]).tolist() == [False, True, True, False]
        assert condition(only, bills) == "Status is not “paid”"


def test_no_plan_passes_over_a_not(berths: WholeTable) -> None:
    known = weights()
    for question in ("How many have not signed anything?", "Who has not moved?"):
        assert best_plans(scene_of(question, berths, lambda texts: np.zeros((len(texts), 2), np.float32)), known) == []


def test_what_is_first_and_last_goes_by_the_dates() -> None:
    rows = (("A", "9 May 2024", "3"), ("B", "2 May 2024", "4"), ("C", "1 April 2024", "5"), ("D", "7 May 2024", "6"))
    orders = table_of(("Order", "Date", "Pieces"), rows, [(1, 20 * row, 20 * row + 19) for row in range(4)], "Orders")
    may = link(orders, "the first in May", 1, "month")
    assert found(orders, Plan((may,), grammar.FIRST, 0)) == (("B",), None)
    assert found(orders, Plan((may,), grammar.LAST, 0)) == (("A",), None)
    last = Plan((), grammar.FIRST, 0)
    result = run(last, orders, rows_left(orders, ()))
    assert result is not None
    assert result.texts == ("C",)
    assert derivation(last, result, orders, "Orders") == "The first by Date: all 4 rows of “Orders”."


def test_the_median_is_the_middle(berths: WholeTable) -> None:
    plan = Plan((), grammar.MEDIAN, 2)
    result = run(plan, berths, rows_left(berths, ()))
    assert result is not None
    assert finding(plan, result, berths) == "Median Fee: 109.25."
    assert formula(plan, result, berths) == "109.25 = the middle of 4 cells of Fee, in order"


@pytest.mark.parametrize("question", ["May I see all of them?", "What may it cost?", "What was paid since April?"])
def test_other_words_are_no_months(berths: WholeTable, question: str) -> None:
    assert not [one for one in links_of(Words(question), berths) if one.comparison == "month"]


def test_a_month_is_kept_and_said(berths: WholeTable) -> None:
    plan = Plan((link(berths, "How much in April?", 3, "month"),), grammar.SUM, 2)
    result = run(plan, berths, rows_left(berths, plan.conditions))
    assert result is not None
    assert derivation(plan, result, berths, "Berths") == "Added up: 1 of 4 rows of “Berths” where Since is in April."
    document = Document("d", "Berths", "text/csv", 1, "ready")
    kept = table_answer(plan, result, berths, document, 0).plan
    assert kept.conditions[0].values == ("April", "April")
    again = plan_of(kept, berths)
    assert rows_left(berths, again.conditions).tolist() == rows_left(berths, plan.conditions).tolist()


def test_rows_without_a_figure_are_not_said_to_be_averaged() -> None:
    table = table_of(("Town", "Size"), [("Oslo", "3"), ("Bern", ""), ("Graz", "5")], [(1, 0, 1)] * 3)
    plan = Plan((), grammar.MEAN, 1)
    result = run(plan, table, rows_left(table, ()))
    assert result is not None
    assert derivation(plan, result, table, "Towns") == "Averaged: all 3 rows of “Towns”, 1 of them without a figure."


def test_plans_find_what_they_say_without_the_total(berths: WholeTable) -> None:
    lund = (link(berths, "Lund", 1),)
    assert found(berths, Plan(lund, grammar.COUNT)) == ((), 2.0)
    assert found(berths, Plan(lund, grammar.SUM, 2)) == ((), 430.5)
    assert found(berths, Plan((), grammar.SUM, 2)) == ((), 603.75)
    assert found(berths, Plan((), grammar.MEAN, 2)) == ((), 150.9375)
    assert found(berths, Plan((), grammar.LARGEST, 2)) == (("310.00",), None)
    assert found(berths, Plan((), grammar.ROW_SMALLEST, 1, 2)) == (("Ann Vik",), None)
    assert found(berths, Plan((), grammar.ROW_LARGEST, 0, 3)) == (("B-104",), None)
    assert found(berths, Plan((), grammar.COMMONEST, 1)) == (("Ida Lund",), None)
    assert found(berths, Plan((), grammar.DIFFERENT, 1)) == ((), 3.0)
    assert found(berths, Plan(lund, grammar.LOOK_UP, 0)) == (("B-101", "B-103"), None)
    holm = (link(berths, "Holm", 1),)
    assert found(berths, Plan(holm, grammar.BEHIND, 1)) == (("Ida Lund",), None)


def test_conditions_on_one_column_are_alternatives_and_bounds_a_range(berths: WholeTable) -> None:
    links = links_of(Words("Ida Lund or Per Holm"), berths)
    assert rows_left(berths, links).sum() == 3
    bounds = [one for one in links_of(Words("over 80 and under 200"), berths) if one.column == 2]
    over = next(one for one in bounds if one.comparison == ">" and one.value == 80)
    under = next(one for one in bounds if one.comparison == "<" and one.value == 200)
    assert rows_left(berths, [over, under]).tolist() == [True, True, False, False, False]


def test_one_row_is_looked_up_and_a_key_is_not_counted(berths: WholeTable) -> None:
    key = (link(berths, "B-102", 0),)
    assert {plan.operation for plan in plans(berths, key, 1)} == {grammar.LOOK_UP, grammar.BEHIND, grammar.BEFORE}
    assert () in condition_sets(list(key), berths)


def test_what_was_found_is_said_with_how(berths: WholeTable) -> None:
    lund = (link(berths, "Lund", 1),)
    plan = Plan(lund, grammar.SUM, 2)
    result = run(plan, berths, rows_left(berths, lund))
    assert result is not None
    assert finding(plan, result, berths) == "Sum of Fee where Owner is “Ida Lund”: 430.50."
    assert (
        derivation(plan, result, berths, "Harbour")
        == "Added up: 2 of 4 rows of “Harbour”, Berths where Owner is “Ida Lund”."
    )


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("How many berths belong to Ida Lund?", "2 berths belong to Ida Lund."),
        ("How many berths are there of the owner Ida Lund?", "There are 2 berths of the owner Ida Lund."),
        ("How many berths were there of Lund?", "There were 2 berths of Lund."),
        ("How many berths does Ida Lund have?", "2 rows where Owner is “Ida Lund”."),
        ("How many berths have the Lund?", "2 rows where Owner is “Ida Lund”."),
        ("How many broken berths belong to Ida Lund?", "2 rows where Owner is “Ida Lund”."),
        ("How many berths of Lund are broken?", "2 rows where Owner is “Ida Lund”."),
        ("How many berths of Lund over 50?", "2 rows where Owner is “Ida Lund”."),
        ("Wie viele Plätze hat Ida Lund?", "2 rows where Owner is “Ida Lund”."),
    ],
)
def test_a_count_is_said_as_it_was_asked_where_that_says_no_more_than_was_counted(
    berths: WholeTable, question: str, statement: str
) -> None:
    plan = Plan((link(berths, question, 1),), grammar.COUNT)
    result = run(plan, berths, rows_left(berths, plan.conditions))
    assert result is not None
    assert finding(plan, result, berths, Words(question)) == statement


def test_a_count_has_no_other_figure_and_one_row_is_one(berths: WholeTable) -> None:
    key = (link(berths, "B-102", 0),)
    for conditions, said in ((key, "1 row."), ((), "4 rows.")):
        result = run(Plan(conditions, grammar.COUNT), berths, rows_left(berths, conditions))
        assert result is not None
        assert finding(Plan(conditions, grammar.COUNT), result, berths) == said


@pytest.mark.parametrize(
    ("plan", "groups", "said"),
    [
        (
            Plan((), grammar.COUNT_BY, -1, 1), [("Ida Lund", 2), ("Per Holm", 1), ("Ann Vik", 1)],
            "Rows by Owner: Ida Lund 2, Per Holm 1 and Ann Vik 1.",
        ),
        (
            Plan((), grammar.SUM_BY, 2, 1), [("Ida Lund", 430.5), ("Per Holm", 98), ("Ann Vik", 75.25)],
            "Sum of Fee by Owner: Ida Lund 430.50, Per Holm 98.00 and Ann Vik 75.25.",
        ),
        (
            Plan((), grammar.MEAN_BY, 2, 4), [("no", 204), ("yes", 97.875)],
            "Mean Fee by Paid: no 204.00 and yes 97.88.",
        ),
        (
            Plan((), grammar.LARGEST_BY, 2, 1), [("Ida Lund", 310), ("Per Holm", 98), ("Ann Vik", 75.25)],
            "Largest Fee by Owner: Ida Lund 310.00, Per Holm 98.00 and Ann Vik 75.25.",
        ),
        (
            Plan((), grammar.SMALLEST_BY, 2, 4), [("no", 98), ("yes", 75.25)],
            "Smallest Fee by Paid: no 98.00 and yes 75.25.",
        ),
    ],
)  # fmt: skip
def test_rows_are_grouped_by_a_column(berths: WholeTable, plan: Plan, groups: list[object], said: str) -> None:
    result = run(plan, berths, rows_left(berths, ()))
    assert result is not None
    assert list(result.groups) == groups
    assert finding(plan, result, berths) == said


def test_the_group_that_comes_to_most_is_named(berths: WholeTable) -> None:
    plan = Plan((), grammar.GROUP_LARGEST, 2, 1)
    result = run(plan, berths, rows_left(berths, ()))
    assert result is not None
    assert (result.texts, result.rows.tolist()) == (("Ida Lund",), [0, 2])
    assert finding(plan, result, berths) == "Owner: Ida Lund (sum of Fee: 430.50)."
    assert derivation(plan, result, berths, "berths") == "Added up for each Owner: all 4 rows of “berths”, Berths."


@pytest.mark.parametrize(
    ("operation", "size", "texts", "said"),
    [
        (grammar.GROUP_LARGEST, 2, ("Ida Lund", "Per Holm"), "by sum of Fee: Ida Lund (430.50) and Per Holm (98.00)."),
        (grammar.GROUP_SMALLEST, 1, ("Ann Vik",), ": Ann Vik (sum of Fee: 75.25)."),
        (grammar.GROUP_HIGH, 1, ("Ida Lund",), ": Ida Lund (mean Fee: 215.25)."),
        (grammar.GROUP_LOW, 2, ("Ann Vik", "Per Holm"), "by mean Fee: Ann Vik (75.25) and Per Holm (98.00)."),
    ],
)
def test_groups_are_ordered_by_what_their_rows_come_to(
    berths: WholeTable, operation: str, size: int, texts: tuple[str, ...], said: str
) -> None:
    plan = Plan((), operation, 2, 1, size)
    result = run(plan, berths, rows_left(berths, ()))
    assert result is not None
    assert result.texts == texts
    assert {berths.text(row, 1) for row in result.rows.tolist()} == {*texts}
    assert finding(plan, result, berths) == f"Owner{'' if said.startswith(':') else ' '}{said}"


def test_the_cells_of_fewest_rows_are_found(berths: WholeTable) -> None:
    plan = Plan((), grammar.RAREST, 1)
    assert found(berths, plan) == (("Per Holm", "Ann Vik"), None)


def test_a_share_is_of_the_rows_that_the_other_conditions_leave(berths: WholeTable) -> None:
    paid = link(berths, "Who has paid yes?", 4)
    plan = Plan((paid,), grammar.SHARE, by=4)
    assert found(berths, plan) == ((), 50)
    result = run(plan, berths, rows_left(berths, [paid]))
    assert result is not None
    assert finding(plan, result, berths) == "50 % of the rows."
    assert formula(plan, result, berths) == "50 % = 2 ÷ 4"
    owner = link(berths, "What does Ida Lund pay?", 1)
    assert found(berths, Plan((owner, paid), grammar.SHARE, by=4)) == ((), 50)
    assert found(berths, Plan((owner, paid), grammar.SHARE, by=1)) == ((), 50)


def test_as_many_of_the_furthest_as_are_asked_for_come_in_order(berths: WholeTable) -> None:
    plan = Plan((), grammar.ROW_LARGEST, 0, 2, 3)
    result = run(plan, berths, rows_left(berths, ()))
    assert result is not None
    assert result.texts == ("B-103", "B-101", "B-102")
    assert finding(plan, result, berths) == "Berth: B-103 (310.00), B-101 (120.50) and B-102 (98.00)."
    assert derivation(plan, result, berths, "Berths") == "By the 3 largest Fee: all 4 rows of “Berths”."
    assert found(berths, Plan((), grammar.ROW_SMALLEST, 0, 3, 2)) == (("B-101", "B-103"), None)
    assert found(berths, Plan((), grammar.COMMONEST, 1, size=2))[0][0] == "Ida Lund"
    asked = Scene(Words("Which three berths have the highest fee?"), berths, np.zeros(5, np.float32))
    assert {one.size for one in asked.plans((), 4)} == {3}  # one berth is no answer


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("34", "35", "38"), "35.7"), (("399", "649", "899", "354"), "575.25"), (("1", "1", "2"), "1.33"),
        (("41", "43"), "42"), (("5.1", "6.4", "7.2"), "6.23"),
        (("10.50", "10.10", "10.55"), "10.38"), (("0.125", "0.130", "0.126"), "0.127"),
        (("1,204.00", "980.00"), "1,092.00"), (("12,5", "13,25"), "12,88"),
    ],
)  # fmt: skip
def test_a_mean_has_about_as_many_decimals_as_its_column(cells: Sequence[str], said: str) -> None:
    table = table_of(("Day", "Level"), [(f"D{at}", cell) for at, cell in enumerate(cells)], [(1, 0, 1)] * len(cells))
    plan = Plan((), grammar.MEAN, 1)
    result = run(plan, table, rows_left(table, ()))
    assert result is not None
    assert finding(plan, result, table) == f"Mean Level: {said}."


def test_function_words_of_other_languages_say_nothing() -> None:
    asked = {
        "Wie viel ging im März an die Stern Apotheke?": ["ging", "marz", "stern", "apotheke"],
        "¿Cuántos pedidos hay de Porto?": ["pedidos", "porto"],
        "Who lives in Die?": ["lives", "die"],
    }
    for question, telling in asked.items():
        words = Words(question)
        assert [words.plain[place] for place in words.telling] == telling


@pytest.mark.parametrize(
    ("heads", "question", "operation", "text"),
    [
        ("Platz Inhaber Gebühr", "Wie viele hat Ida Lund?", grammar.COUNT, "8 rows where Inhaber is “Ida Lund”."),
        ("Platz Inhaber Gebühr", "Wie hoch ist die höchste Gebühr?", grammar.LARGEST, "Largest Gebühr: 310.00."),
        ("Puesto Dueño Importe", "¿Cuántos puestos tiene Ida Lund?", grammar.COUNT,
         "8 rows where Dueño is “Ida Lund”."),
        ("Puesto Dueño Importe", "¿Cuál es el importe promedio?", grammar.MEAN, "Mean Importe: 150.94."),
        ("Place Titulaire Montant", "Combien de places a Ida Lund ?", grammar.COUNT,
         "8 rows where Titulaire is “Ida Lund”."),
        ("Place Titulaire Montant", "Quel est le total des montants d'Ida Lund ?", grammar.SUM,
         "Sum of Montant where Titulaire is “Ida Lund”: 1722.00."),
        ("Place Titulaire Montant", "Quel est le plus petit montant ?", grammar.SMALLEST, "Smallest Montant: 75.25."),
        ("Platz Inhaber Betrag", "What is the largest amount?", grammar.LARGEST, "Largest Betrag: 310.00."),
        ("Order Customer Amount", "Wie hoch ist der größte Betrag?", grammar.LARGEST, "Largest Amount: 310.00."),
        ("Berth Owner Fee", "Who has the highest fee?", grammar.ROW_LARGEST, "Owner: Ida Lund (Fee: 310.00)."),
    ],
)  # fmt: skip
def test_a_table_is_asked_in_its_own_language(heads: str, question: str, operation: str, text: str) -> None:
    rows = [(f"B-{number}", *ROWS[number % 4][1:3]) for number in range(16)]
    table = table_of(heads.split(), rows, [(1, 10 * row, 10 * row + 9) for row in range(16)], "Berths")
    words, nearness = Words(question), np.array([0.2, 0.2, 0.6], np.float32)
    best, *_ = best_plans(Scene(words, table, nearness), weights())
    assert (best.plan.operation, finding(best.plan, best.result, table, words)) == (operation, text)


def test_words_of_a_question_are_said_in_english_where_they_stand() -> None:
    assert Words("Wie viele sind am häufigsten da?").english == [
        ["how", "many"], [], ["are"], ["most", "often"], [], ["da"],
    ]  # fmt: skip
    assert Words("¿Cuál es el más alto?").english == [["what"], ["is"], ["the"], ["highest"], []]
    assert Words("Which is the biggest?").english == [["which"], ["is"], ["the"], ["largest"]]
