"""What the words of a question mean before a table, and which plans are sound there."""

from __future__ import annotations

import numpy as np

from rag_core.tables import plans as grammar
from rag_core.tables.asking import Ranked, is_of_other
from rag_core.tables.balances import row_names
from rag_core.tables.following import shown_otherwise
from rag_core.tables.joins import joined_tables
from rag_core.tables.links import Words, links_of
from rag_core.tables.plans import Plan, Result
from rag_core.tables.scene import Scene, columns_of
from rag_core.tables.scoring import meant
from rag_core.tables.table import WholeTable, table_of


def table(heads: str, *lines: str) -> WholeTable:
    rows = [line.split(",") for line in lines]
    return table_of(heads.split(","), rows, [(1, row, row) for row in range(len(rows))])


def scene(question: str, of: WholeTable) -> Scene:
    return Scene(Words(question), of, np.zeros(len(of.columns), np.float32))


def plans(question: str, of: WholeTable) -> list[Plan]:
    return list(scene(question, of).plans((), len(of)))


STAFF = table(
    "Staff no.,Name,Salary",
    *(f"{1001 + 4 * row},Name {'ABCDEFGHIJ'[row]}x,{3000 + 97 * row % 400}" for row in range(9)),
)
GAUGE = table("Day,Level,Built", *(f"2024-03-0{row},{300 + 7 * row % 5},{1990 + row}" for row in range(1, 9)))


def test_all_the_words_of_a_description_count() -> None:
    trips = table("Note,Cost", "taxi to the airport,30", "taxi to the fair,12", "bus to the airport,4")
    (taxi, airport) = links_of(Words("What did the taxi cost that went to the airport?"), trips)
    assert {taxi.codes, airport.codes} == {(0,)}
    either = links_of(Words("What did a bus cost, and the fair?"), trips)  # no cell has both
    assert {one.codes for one in either} == {(1,), (2,)}


def test_a_number_that_names_rows_is_no_size() -> None:
    assert row_names(STAFF) == {0}
    by = {one.by for one in plans("Who are the three best paid people?", STAFF) if one.operation == grammar.ROW_LARGEST}
    assert by == {2}
    named = plans("Who has the highest staff no.?", STAFF)
    assert 0 in {one.by for one in named if one.operation == grammar.ROW_LARGEST}
    assert row_names(GAUGE) == set()  # years, and figures in no order


def test_a_figure_that_can_be_no_year_does_not_say_when() -> None:
    found = {one.target for one in plans("When was it highest?", GAUGE) if one.operation == grammar.LARGEST}
    assert found == {0, 2}


def test_several_that_are_asked_for_are_not_one() -> None:
    orders = table("Customer,Amount", *(f"{'ABC'[row % 3]},{row}" for row in range(9)))
    assert {one.size for one in plans("top 2 customers by amount", orders)} == {2}
    assert {one.size for one in plans("How many 2 customers have?", orders)} >= {1}


def test_what_was_said_is_no_answer() -> None:
    claims = table("Person,Kind,Cost", "Ann,Hotel,90", "Bo,Hotel,120", "Ann,Taxi,8", "Bo,Meal,9")
    asked = scene("Who spent the most on hotels?", claims)
    (hotel,) = [one for one in asked.links if one.exact]
    assert 1 not in {one.target for one in asked.plans((hotel,), 2)}


def test_the_date_of_the_last_and_the_key_of_what_is_counted_are_gone_by() -> None:
    members = table("Name,Joined,Club", *(f"N{row}x,2024-01-1{row},{'ab'[row % 2]}" for row in range(9)))
    asked = scene("Who joined last?", members)
    assert columns_of(asked, Plan((), grammar.LAST, 0)) == [0, 1]
    assert columns_of(asked, Plan((), grammar.COMMONEST, 2)) == [2, 0]


def test_what_one_row_of_another_table_says_is_not_added_up_for_each() -> None:
    days = table("Name,Days", *(f"Name {'ABCA'[row]}x,{row}" for row in range(4)))
    (joined,) = [one for one in joined_tables([days, STAFF]) if one.by == 0 and len(one) == 4]
    salary = [column.head for column in joined.columns].index("Salary")
    done = {one.operation for one in plans("What is the total salary?", joined) if one.target == salary}
    assert grammar.SUM not in done and grammar.LARGEST in done


def test_the_largest_payment_is_the_furthest_below_zero() -> None:
    account = table("Payee,Amount", *(f"Green Shop {row},-{row}.50" for row in range(1, 9)))
    asked = scene("What was the largest payment?", account)
    assert meant(asked, Plan((), grammar.SMALLEST, 1)) == grammar.LARGEST
    assert asked.is_description(0)  # whom a payment went to says what it was


def test_which_order_sorts_none() -> None:
    orders = table("Order,Amount", *(f"K-{row},{row * 7 % 11}" for row in range(9)))
    last = Plan((), grammar.COUNT)
    assert shown_otherwise(Words("Which order has the largest amount?"), last, orders) is None
    in_order = shown_otherwise(Words("order them by amount"), last, orders)
    assert in_order is not None and (in_order.operation, in_order.by) == (grammar.ROW_SMALLEST, 1)


def test_something_else_of_what_a_column_says_is_no_answer() -> None:
    def answered(question: str) -> Ranked:
        (one, *_) = [plan for plan in plans(question, water) if (plan.operation, plan.target) == (grammar.LOOK_UP, 1)]
        return Ranked(one, 0.0, 1.0, Result(("7",), None, np.array([0]), 1), (0.0, 0.0, 0.0))

    water = table("Station,Water temperature", "North,7", "South,9", "West,8")
    for question, is_other in (("What is the pH of the water?", True), ("the temperature of the water", False)):
        assert is_of_other(scene(question, water), answered(question)) is is_other


def test_who_is_no_figure_no_day_and_no_yes() -> None:
    members = table("Name,Joined,Paid,Fee", *(f"Nora {'ABCDEF'[row]}x,2024-01-1{row},{'yes' if row % 2 else 'no'},{row}"
                                              for row in range(6)))  # fmt: skip
    cells = {one.target for one in plans("Who joined last?", members) if one.operation == grammar.LAST}
    assert cells == {0}


def test_the_middle_is_asked_for_by_name() -> None:
    assert grammar.MEDIAN not in {one.operation for one in plans("How much is it?", STAFF)}
    assert grammar.MEDIAN in {one.operation for one in plans("What is the median salary?", STAFF)}
