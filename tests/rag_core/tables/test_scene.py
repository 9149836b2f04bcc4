"""What the words of a question mean before a table, and which plans are sound there."""

from __future__ import annotations

import numpy as np

from rag_core.tables import plans as grammar
from rag_core.tables.asking import Ranked, goes_by_other, is_of_other, unexplained
from rag_core.tables.balances import row_names
from rag_core.tables.following import shown_otherwise
from rag_core.tables.joins import joined_tables
from rag_core.tables.links import links_of
from rag_core.tables.plans import Plan, Result, Selection
from rag_core.tables.scene import Scene, columns_of
from rag_core.tables.scoring import meant
from rag_core.tables.table import WholeTable, table_of
from rag_core.tables.words import Words


def table(heads: str, *lines: str) -> WholeTable:
    rows = [line.split(",") for line in lines]
    return table_of(heads.split(","), rows, [(1, row, row) for row in range(len(rows))])


def scene(question: str, of: WholeTable) -> Scene:
    return Scene(Words(question), of, np.zeros(len(of.columns), np.float32))


def found(plan: Plan) -> Ranked:
    """A plan that found the first row."""
    return Ranked(plan, 0.0, 1.0, Result(("one",), None, np.array([0]), 1), (0.0, 0.0, 0.0))


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
    named = plans("Which is the largest staff?", STAFF)
    assert 0 not in {one.by for one in named} | {one.target for one in named if one.operation == grammar.LARGEST}
    assert row_names(GAUGE) == set()  # years, and figures in no order


def test_what_several_rows_have_is_no_mean_and_no_end_of_them() -> None:
    stays = table("Stay,Room,Price", "S1,Attic,70", "S2,Attic,90", "S3,Loft,120")
    for question in ("Average price of a stay in the Attic?", "What is the highest price in the Attic?"):
        before = scene(question, stays)
        attic = tuple(one for one in before.links if one.column == 1)
        assert grammar.LOOK_UP not in {one.operation for one in before.plans(attic, 2)}
    before = scene("What is the average price of S1?", stays)
    (one_stay,) = before.links
    assert Plan((one_stay,), grammar.LOOK_UP, 2) in list(before.plans((one_stay,), 1))


def test_figures_of_another_column_that_is_named_are_not_compared() -> None:
    stock = table("Thing,In stock,Change this month", "jug,4,-9", "lamp,30,2", "vase,12,-1")
    before = scene("Which thing lost the most stock this month?", stock)
    assert all(goes_by_other(before, found(Plan((), grammar.ROW_LARGEST, 0, by))) for by in (1, 2))
    assert not goes_by_other(
        scene("Which thing has the most in stock?", stock), found(Plan((), grammar.ROW_LARGEST, 0, 1))
    )


def test_the_phone_number_of_somebody_is_no_count_of_calls() -> None:
    bookings = table("Guest,Channel", "Ida Lund,Phone", "Ida Lund,Agency", "Per Holm,Phone")
    for question, is_count in (("What is the phone number of Ida Lund?", False), ("Number of phone bookings?", True)):
        before = scene(question, bookings)
        conditions = tuple(one for one in before.links if one.exact)
        assert (grammar.COUNT in {one.operation for one in before.plans(conditions, 1)}) == is_count


def test_how_much_is_told_by_figures() -> None:
    stays = table("Stay,Room,Price", "S1,Attic,70", "S2,Attic,90", "S3,Loft,120")
    for question, operations in (
        ("How much do stays in the Attic come to?", set()), ("How many stays are in the Attic?", {grammar.COUNT}),
        ("Wie viel bringt Attic ein?", set()), ("Combien de Attic ?", {grammar.COUNT}),
    ):  # fmt: skip
        before = scene(question, stays)
        left = list(before.plans(tuple(one for one in before.links if one.column == 1), 2))
        assert {one.operation for one in left if one.operation == grammar.COUNT} == operations
        assert not any(one.operation == grammar.LOOK_UP and one.target == 0 for one in left)
        assert grammar.LARGEST not in {one.operation for one in left}
    assert grammar.LARGEST in {one.operation for one in plans("How much is the highest price?", stays)}
    earned = {one.operation for one in plans("Which room earned the least?", stays)}
    assert grammar.RAREST not in earned
    assert not {grammar.FIRST, grammar.LAST} & earned
    assert grammar.RAREST in {one.operation for one in plans("Which room was booked least?", stays)}


def test_who_got_most_of_what_was_paid_is_no_most_frequent_one() -> None:
    account = table("Payee,Amount", "Kern,-950", "Weber,-20", "Weber,-30", "Muster,3120")
    got = scene("Which payee got the most?", account)
    assert (got.outflows, {one.comparison for one in got.of_outflows}) == ({1}, {"<"})
    assert grammar.COMMONEST not in {one.operation for one in got.plans(tuple(got.of_outflows), 3)}
    often = scene("Which payee was paid most often?", account)
    assert grammar.COMMONEST in {one.operation for one in often.plans(tuple(often.of_outflows), 3)}
    assert not scene("What did I get in all?", account).outflows


def test_the_largest_order_is_none_of_a_day() -> None:
    orders = table("Order,Ordered,Amount", "O-1,2024-03-01,12.50", "O-2,2024-01-09,99.00", "O-3,2024-02-02,40.10")
    by = {one.by for one in plans("What is the largest order?", orders) if one.operation == grammar.ROW_LARGEST}
    assert by == {2}
    by = {one.by for one in plans("What is the newest order?", orders) if one.operation == grammar.ROW_LARGEST}
    assert 1 in by


def test_a_row_of_the_total_is_no_name() -> None:
    lent = table("Item,Value", "Laptop,900", "Phone,300", "Laptop,400", "Total,1600")
    assert [one.column for one in scene("What is the total value of the laptops?", lent).links] == [0]


def test_who_paid_most_is_told_by_what_is_money() -> None:
    stays = table("Guest,Persons,Price (CHF)", "Ida,5,410", "Per,1,980", "Ida,4,300", "Per,1,90", "Ann,2,70")
    by = {one.target for one in plans("Which guest paid the most?", stays) if one.operation == grammar.GROUP_LARGEST}
    assert by == {2}
    by = {one.target for one in plans("Which guest has most persons?", stays) if one.operation == grammar.GROUP_LARGEST}
    assert by == {1, 2}


def test_what_a_question_says_besides_of_the_row_of_a_key_is_explained() -> None:
    stays = table("Stay,Guest,Left", "S-11,Bram de Wit,2024-01-04", "S-12,Ida Lund,2024-02-01")
    for name, left in (("Bram de Wit", []), ("Ida Lund", ["Ida", "Lund"])):
        before = scene(f"When was {name} with stay S-11 left?", stays)
        plan = Plan(tuple(one for one in before.links if one.column == 0), grammar.LOOK_UP, 2)
        assert unexplained(before, found(plan)) == left


def test_cells_and_heads_are_named_in_other_languages() -> None:
    account = table("Empfänger,Status,Betrag", "Sonnen-Apotheke,offen,12", "Zahnarzt Dr. Weber,bezahlt,95")
    for question, codes in (
        ("How much went to the pharmacy?", {(0,)}), ("Combien pour le dentiste ?", {(1,)}), ("Which are open?", {(0,)}),
        ("How much went to the hairdresser?", set()), ("¿Cuánto fue a la farmacia?", {(0,)}),
    ):  # fmt: skip
        assert {one.codes for one in links_of(Words(question), account) if one.codes} == codes
    assert scene("Which payee got the largest amount?", account).named == [[1], [], [5]]


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
    total, largest = (
        {one.operation for one in plans(question, joined) if one.target == salary}
        for question in ("What is the total salary?", "What is the largest salary?")
    )
    assert grammar.SUM not in total and grammar.LARGEST in largest


def test_no_end_of_some_rows_is_told_where_no_word_asks_for_one() -> None:
    ends = {grammar.FIRST, grammar.LAST, grammar.COMMONEST, grammar.ROW_LARGEST, grammar.LARGEST_BY}
    assert ends.isdisjoint(one.operation for one in plans("Who works in Oslo?", STAFF))


def test_of_several_cells_of_a_column_each_has_rows_left() -> None:
    menu = table("Item,Size,Price", "Coffee,small,2.5", "Coffee,large,3.2", "Brownie,piece,3.6", "Tea,small,2.2")
    asked = scene("How much is a small coffee and a brownie?", menu)
    assert not Selection(menu).has_each(asked.links)
    assert Selection(menu).has_each([one for one in asked.links if one.column == 0])


def test_of_ways_from_one_thing_to_another_the_asked_direction_is_meant() -> None:
    ways = table("Route,Fare", "Oslo – Bergen,40", "Bergen – Oslo,45", "Oslo – Voss,30")
    (to_oslo,) = scene("What is the fare to Oslo?", ways).links
    assert [ways.columns[0].texts[code] for code in to_oslo.codes] == ["Bergen – Oslo"]
    (from_oslo,) = scene("What is the fare from Oslo?", ways).links
    assert [ways.columns[0].texts[code] for code in from_oslo.codes] == ["Oslo – Bergen", "Oslo – Voss"]


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


def test_what_a_word_measures_is_gone_by_and_not_what_stands_first() -> None:
    towers = table("Tower,Floors,Height,Age", "Alp,9,40,12", "Bel,11,31,80", "Cor,4,52,7", "Dal,6,28,33")
    for question, measure in (("Which tower is the tallest?", 2), ("Which is the oldest tower?", 3)):
        by = {one.by for one in plans(question, towers) if one.operation == grammar.ROW_LARGEST}
        assert by == {measure}
    named = {one.by for one in plans("Which tower is the tallest by its floors?", towers) if one.by >= 0}
    assert 1 in named
    bel = scene("How tall is Bel?", towers)
    assert {one.target for one in bel.plans(tuple(bel.links), 1)} == {2}


def test_numbers_that_count_rows_are_no_size_and_ranks_are() -> None:
    plots = table("Plot,Size", *(f"{row},{70 + 7 * row % 11}" for row in range(1, 9)))
    found_by = {one.by for one in plans("Which plot is the largest?", plots) if one.operation == grammar.ROW_LARGEST}
    assert found_by == {1}
    ranks = table("Rank,Team,Points", *(f"{row},Team {'ABCDEFGH'[row]}x,{90 - row}" for row in range(1, 7)))
    named = plans("Which team has the highest rank?", ranks)
    assert 0 in {one.by for one in named if one.operation in grammar.FURTHEST_ROWS}
