"""What a word of a description chooses, and groups that come to most, asked through a library."""

from __future__ import annotations

import io
from itertools import product

import openpyxl
import pytest

from rag_core import Library, Upload
from tests.conftest import add_text
from tests.rag_core.answering.strategies.test_tabular import first

PAYEES = ("BOOTS PHARMACY 0231", "TESCO STORES 2210", "CITY WATER", "GREEN CROSS PHARMACY", "SHELL PETROL")
SPENT = [
    (f"{1 + row % 28:02}/{1 + row // 12:02}/2024", f"CARD PAYMENT {PAYEES[row * 3 % 5]}", 4 + row * 37 % 113, row % 90)
    for row in range(120)
]
CURRENT = "\n".join([
    "Date;Description;Amount;Balance",
    *(f"{day};{payee};-{whole},{cents:02};{2_000 - row},00" for row, (day, payee, whole, cents) in enumerate(SPENT)),
    "30/03/2024;REFUND GREEN CROSS PHARMACY;12,40;1.700,00", "31/03/2024;SALARY MARLOW;2.650,00;4.350,00",
])  # fmt: skip


def _spent(payee: str, month: str) -> str:
    """What went to a payee in a month, as the statement writes it."""
    cents = sum(100 * whole + part for day, name, whole, part in SPENT if payee in name and day[3:5] == month)
    return f"-{cents // 100},{cents % 100:02}"


def test_what_went_to_a_word_of_a_description_is_summed_up_in_its_month_and_in_others(library: Library) -> None:
    add_text(library, "statement.csv", CURRENT)
    answer = library.ask("How much went to the pharmacy in March?")
    assert _spent("PHARMACY", "03") in first(answer)
    assert answer.table is not None
    assert {row.cells[1] for row in answer.table.rows} == {f"CARD PAYMENT {PAYEES[0]}", f"CARD PAYMENT {PAYEES[3]}"}
    answer = library.ask("and in April?", conversation=answer.conversation)
    assert _spent("PHARMACY", "04") in first(answer)
    answer = library.ask("and to Tesco?", conversation=answer.conversation)
    assert _spent("TESCO", "04") in first(answer)
    assert library.ask("How much went to the dentist in March?").abstained


def test_what_one_table_has_in_its_cells_is_counted_in_no_other(library: Library) -> None:
    posts, towns = ("Nurse", "Clerk", "Doctor"), ("Thun", "Bern", "Basel")
    staff = [f"Employee {'ABCDEFGHIJKLMNOPQRST'[at]}y,{posts[at % 3]},{towns[at % 3]}" for at in range(20)]
    add_text(library, "staff.csv", "\n".join(["Name,Position,City", *staff]))
    orders = [f"SO-{100 + at},{towns[at % 2]},{10 + at}.50" for at in range(40)]
    add_text(library, "orders.csv", "\n".join(["Order,City,Amount", *orders]))
    library.storage.settle()
    nurses = library.ask("How many nurses work in Bern?")
    assert nurses.abstained or " 0 " in first(nurses)
    assert first(library.ask("How many orders came from Bern?")) == "20 orders came from Bern."


def test_figures_of_another_table_keep_no_row_from_being_told(library: Library) -> None:
    shifts = "\n".join(["Worker,Shift", *(f"Ada {'ABCDEFGHIJKLMNOPQRST'[at]}y,{1 + at % 3}" for at in range(20))])
    add_text(library, "shifts.csv", shifts)
    orders = [f"SO-{100 + at},{('Thun', 'Bern')[at % 2]},{10 + at}.50" for at in range(40)]
    add_text(library, "orders.csv", "\n".join(["Order,City,Amount", *orders]))
    library.storage.settle()
    assert first(library.ask("What is the amount of SO-110 %2?")) == "Amount: 20.50."


def test_a_statement_of_another_language_is_asked(library: Library) -> None:
    add_text(library, "konto.csv", GERMAN.replace("TESCO STORES", "ZAHNARZT WEBER"))
    dentist = library.ask("How much did we pay the dentist in April?")
    assert _spent("TESCO", "04") in first(dentist)
    assert library.ask("How much did we pay the hairdresser in April?").abstained


GERMAN = CURRENT.replace("Date;Description;Amount;Balance", "Buchungstag;Verwendungszweck;Betrag;Saldo").replace(
    "PHARMACY", "APOTHEKE"
)


@pytest.mark.parametrize(
    "question", ["Wie viel ging im März an die Apotheke?", "Wie viel habe ich im März in der Apotheke ausgegeben?"]
)
def test_what_went_to_a_word_of_a_description_is_summed_up_in_german(library: Library, question: str) -> None:
    add_text(library, "kontoauszug.csv", GERMAN)
    assert _spent("PHARMACY", "03") in first(library.ask(question))


def test_what_came_in_is_summed_up_of_the_amounts_and_not_of_the_balance(library: Library) -> None:
    lines, left = ["Buchungsdatum;Buchungstext;Umsatz;Kontostand"], 900
    for row in range(90):
        amount = 2840 if row % 9 == 0 else -(3 + row * 37 % 140)
        left += amount
        text = "LOHN WERFT HANSEN KG" if amount > 0 else f"KARTENZAHLUNG {PAYEES[row % 5]}"
        lines.append(f"{1 + row % 28:02}.{1 + row // 9:02}.2023;{text};{amount},00;{left},00")
    add_text(library, "umsatzliste.csv", "\n".join(lines))
    assert "28400,00" in first(library.ask("Wie viel Lohn ist insgesamt eingegangen?"))
    wage = library.ask("Wie viel ist der Lohn insgesamt?")
    assert wage.abstained or "28400,00" in first(wage)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who are the top three customers by amount?", ["Elm Ltd", "Birch Ltd", "Acorn Ltd"]),
        ("Which customer has the lowest total amount?", ["Cedar Ltd"]),
        ("Which two customers have the highest average amount?", ["Cedar Ltd", "Elm Ltd"]),
        ("What are the top three orders by amount?", ["R-101", "R-102", "R-103"]),
        ("Which customer has the order with the largest amount?", ["Cedar Ltd"]),
    ],
)
def test_what_is_named_is_a_group_where_it_repeats_over_rows(library: Library, question: str, names: list[str]) -> None:
    large = ("Cedar Ltd", "Dune Ltd", "Acorn Ltd")
    rows = [f"R-{101 + at},{name},Oslo,{900 - at}.00" for at, name in enumerate(large)]
    often = [("Elm Ltd", 12, 300), ("Birch Ltd", 10, 250), ("Acorn Ltd", 9, 120), ("Dune Ltd", 4, 99)]
    more = [(name, figure) for name, count, figure in often for _ in range(count)]
    rows += [f"R-{201 + at},{name},Bern,{figure}.00" for at, (name, figure) in enumerate(more)]
    add_text(library, "orders.csv", "\n".join(["Order,Customer,City,Amount", *rows]))
    answer = library.ask(question)
    said = first(answer)
    assert [name for name in sorted(names, key=said.find) if name in said] == names


def _workbook() -> bytes:
    """A list of staff and their hours, each with a title above and a row of the total below."""
    book = openpyxl.Workbook()
    staff = book.active
    assert staff is not None
    staff.title = "Personnel"
    units, posts = ("Surgery", "Pharmacy", "Reception"), ("nurse", "clerk")
    people = [
        (f"H-{201 + at}", f"{given} {name}", units[at * 5 % 3], posts[at % 2], 27_000 + 450 * (at * 7 % 20))
        for at, (given, name) in enumerate(product(("Mara", "Tom", "Ilse", "Gil"), ("Quist", "Holt", "Baran")))
    ]
    hours = book.create_sheet("Overtime")
    for sheet, head, rows in (
        (staff, ("ID", "Employee", "Unit", "Post", "Annual pay"), people),
        (hours, ("Employee", "Month", "Hours"), [(people[at % 7][1], "March", 1 + at % 9) for at in range(40)]),
    ):
        for row in ((f"Harbour Clinic: {sheet.title}",), (), head, *rows):
            sheet.append(row)
        sheet.append(("Total", *[""] * (len(head) - 2), sum(int(row[-1]) for row in rows)))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_workbook_with_titles_and_totals_answers_from_the_sheet_that_says_it(library: Library) -> None:
    assert not any(event.error for event in library.add([Upload("personnel.xlsx", _workbook())]))
    library.storage.settle()
    assert first(library.ask("How many people work in Surgery?")).startswith("4 ")
    nurses = sum(27_000 + 450 * (at * 7 % 20) for at in range(0, 12, 2))
    assert str(nurses) in first(library.ask("What is the total annual pay of the nurses?"))


OIL = """Heating season,Oil used litres,Price per litre EUR,Delivery date,Supplier
2019-20,2310,0.71,14 October 2019,Marlpit Fuels
2020-21,2485,0.58,2 November 2020,Marlpit Fuels
2021-22,2260,0.86,21 October 2021,Dunnock Oil
2022-23,1980,1.34,6 September 2022,Dunnock Oil
"""
SATURDAY = """Saturday,Trip 1,Trip 2,Trip 3
Hafenmarkt,07:10,09:10,11:10
Hauptbahnhof,07:18,09:18,11:18
Klinikum,07:26,09:26,11:26
"""


@pytest.mark.parametrize(
    "question", ["How much did marmalade weigh in 2022?", "first saturday departure of the 47 from the main station"]
)
def test_where_prose_was_found_a_plan_has_most_words_of_the_question(library: Library, question: str) -> None:
    add_text(library, "oil.csv", OIL)
    add_text(library, "bus line 47.csv", SATURDAY)
    add_text(library, "marrow.md", "# Show\n\nThe marrow was shown in 2022 at the main station. Line 47 leaves there.")
    assert library.ask(question).table is None
    assert library.ask("What was the price per litre on 6 September 2022?").table is not None
