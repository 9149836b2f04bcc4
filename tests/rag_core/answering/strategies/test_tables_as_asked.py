"""Who, how big, the cheapest, how many: what such words ask of a table, where some numbers only name its rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings
from rag_core.domain import Scope
from tests.conftest import add_text

GUESTS = ("Bram Vos", "Ines Falk", "Lena Marsh", "Ravi Patel")
BOOKINGS = "\n".join([
    "Booking,Guest,Channel,City,Arrival,Price",
    *(f"BK-{3000 + n},{GUESTS[n % 4]},{('web', 'phone')[n % 2]},{('Oslo', 'Bern', 'Bath')[n % 3]},"
      f"2024-{1 + n % 12:02}-05,{20 + n * 7 % 301}.50" for n in range(90)),
])  # fmt: skip
PLOTS = "\n".join(["Plot,Tenant,Size (m2)", *(f"{n},{GUESTS[n % 4]},{80 + 7 * n % 59}" for n in range(1, 61))])
ROOMS = "Room,Beds,Price\n101,4,88.00\n102,6,120.00\n103,2,210.00\n104,8,54.00\n"
ACCOUNT = (
    "Buchungstag;Empfänger;Verwendungszweck;Betrag (€)\n03.03.2025;Stadtwerke Köln;Abschlag März;-84,50\n"
    "07.03.2025;Bäckerei Öztürk;Kartenzahlung;-6,30\n15.03.2025;Musikschule Grün;Beitrag Q1;-1.234,00\n"
    "28.03.2025;Firma Krüger GmbH;Gehalt;3.456,78\n"
)
EXPENSES = (
    "Date,Who,Category,Amount,Note\n2025-03-02,Anna,Travel,84.20,Train to Cork\n2025-03-05,Ben,Meals,31.50,Lunch\n"
    "2025-03-09,Anna,Hotel,212.00,Two nights\n2025-04-01,Chloe,Travel,18.75,Taxi\n2025-04-11,Ben,Office,64.99,Headset\n"
    "2025-04-30,Anna,Meals,22.10,Dinner\n2025-05-06,Chloe,Hotel,148.00,One night\n2025-05-19,Ben,Travel,240.60,Flight\n"
)
STOCK = (
    "Item;Shelf;In stock;Reorder at;Price\nHex bolt M8;A1;420;200;0,12\nWood screw 4x40;A2;150;300;0,04\n"
    "Hinge 60 mm;B1;38;20;1,95\nPaint white 5 l;C3;6;8;34,90\nPaint green 5 l;C3;11;8;36,50\n"
)
PHONES = (
    "Model,Price,Weight (g),Storage (GB),Waterproof\nLuma 5,399,182,128,yes\nLuma 5 Pro,649,201,256,yes\n"
    "Aster X,899,214,512,yes\nAster Lite,279,176,64,no\nPebble 2,199,139,64,no\nPebble 2 Max,329,188,128,no\n"
    "Orbit Fold,1299,253,512,no\nOrbit Mini,549,141,128,yes\n"
)
STAFF = (
    "Name,Department,Office,Born,Salary,Joined\nAna Ruiz,Sales,Madrid,1988,41200,2015-03-01\n"
    "Ben Okoye,IT,Lagos,1991,52800,2018-09-15\nChloe Martin,Sales,Lyon,1979,60500,2009-01-12\n"
    "Dmitri Orlov,IT,Riga,1985,58100,2012-06-01\nEva Lindt,HR,Zurich,1994,47300,2021-02-01\n"
)
CREW = "Name,Rank,Age\nJan Dekker,mate,61\nMia Holm,deckhand,23\nOve Lind,master,47\nSara Moe,cook,38\n"
FILES = {
    "staff": STAFF,
    "crew": CREW,
    "phones": PHONES,
    "stock": STOCK,
    "expenses": EXPENSES,
    "bookings": BOOKINGS,
    "plots": PLOTS,
    "rooms": ROOMS,
    "account": ACCOUNT,
}


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        for name, content in FILES.items():
            add_text(opened, f"{name}.csv", content)
        opened.storage.settle()
        yield opened


def _of_city(city: str) -> list[list[str]]:
    rows = [line.split(",") for line in BOOKINGS.splitlines()[1:]]
    return [row for row in rows if row[3] == city]


BERN = f"{sum(float(row[5]) for row in _of_city('Bern')):.2f}"
LARGEST = max(range(1, 61), key=lambda n: 7 * n % 59)


@pytest.mark.parametrize(
    ("file", "question", "said"),
    [
        ("phones", "How many phones are cheaper than 300?", "2 rows."),
        ("phones", "Which phones are heavier than 210 g?", "Model: Aster X and Orbit Fold."),
        ("phones", "Which phones cost less than 300?", "Model: Aster Lite and Pebble 2."),
        ("phones", "Which phones have at least 256 GB?", "Model: Luma 5 Pro, Aster X and Orbit Fold."),
        ("phones", "How many phones cost at most 399?", "4 rows."),
        ("phones", "How many phones cost between 300 and 600?", "3 rows."),
        ("phones", "How many waterproof phones cost 600 or more?", "2 rows"),
        ("staff", "What is the average salary in IT?", "Mean Salary where Department is “IT”: 55450."),
        ("staff", "Who in IT earns the least?", "Name: Ben Okoye"),
        ("staff", "Who was born before 1985?", "Name: Chloe Martin."),
        ("staff", "Who is the oldest?", "Name: Chloe Martin (Born: 1979)."),
        ("staff", "Who is the youngest in IT?", "Name: Ben Okoye (Born: 1991)."),
        ("crew", "Who is the oldest?", "Name: Jan Dekker (Age: 61)."),
        ("crew", "Who is the youngest?", "Name: Mia Holm (Age: 23)."),
        ("crew", "How many are older than 40?", "2 rows"),
        ("bookings", "When was the last booking of Lena Marsh?", "Last Arrival where Guest is “Lena Marsh”: 2024-11"),
        ("expenses", "What did Ben spend on travel?", "Sum of Amount where Who is “Ben” and Category is “Travel”: 240"),
        ("phones", "Which phones weigh less than 140 g?", "Model: Pebble 2."),
        ("expenses", "Who spent the most?", "Who: Ben (sum of Amount: 337.09)."),
        ("expenses", "Which category cost the most?", "Category: Hotel (sum of Amount: 360.00)."),
        ("expenses", "Which person paid the most for hotels?", "Who: Anna (sum of Amount: 212.00)."),
        ("expenses", "How much was spent by each person?",
         "Sum of Amount by Who: Ben 337.09, Anna 318.30 and Chloe 166.75."),
        ("bookings", "Who booked BK-3061?", "Guest: Ines Falk."),
        ("bookings", "Who made the most bookings?", "Most frequent Guest: Bram Vos"),
        ("bookings", "How many bookings are from Oslo?", "30 bookings are from Oslo."),
        ("bookings", "How many trucks are from Oslo?", "30 rows where City is “Oslo”."),  # nothing says what they are
        ("bookings", "What is the total price of bookings in Bern?", f"Sum of Price where City is “Bern”: {BERN}."),
        ("plots", "How many plots are there?", "There are 60 plots."),
        ("plots", "How big is plot 12?", f"Size (m2): {80 + 7 * 12 % 59}."),
        ("plots", "What is the largest plot?", f"Plot: {LARGEST} (Size (m2): 138)."),
        ("rooms", "Which room is the cheapest?", "Room: 104 (Price: 54.00)."),
        ("account", "How much was paid to the Musikschule?", "Sum of Betrag (€): -1.234,00"),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_told(sheets: Library, file: str, question: str, said: str) -> None:
    (document,) = [one for one in sheets.documents() if one.title == file]
    answer = sheets.ask(question, scope=Scope(documents=(document.id,)))
    assert answer.outcome == "answered"
    assert answer.sentences[0].text.startswith(said)


@pytest.mark.parametrize(
    ("file", "question"), [("bookings", "How many bookings are lost?"), ("staff", "Who is the head of IT?")]
)
def test_a_word_that_may_say_which_is_not_passed_over(sheets: Library, file: str, question: str) -> None:
    (document,) = [one for one in sheets.documents() if one.title == file]
    assert sheets.ask(question, scope=Scope(documents=(document.id,))).outcome != "answered"


def test_what_a_table_has_nothing_of_is_not_counted(sheets: Library) -> None:
    (bookings,) = [one for one in sheets.documents() if one.title == "bookings"]
    assert sheets.ask("How many refunds are there?", scope=Scope(documents=(bookings.id,))).abstained


def test_an_age_is_no_figure_of_a_table_of_births(sheets: Library) -> None:
    (staff,) = [one for one in sheets.documents() if one.title == "staff"]
    for question in ("How many are younger than 35?", "Who is older than 40?"):
        assert sheets.ask(question, scope=Scope(documents=(staff.id,))).outcome != "answered"


def test_no_end_is_told_that_no_word_asks_for(sheets: Library) -> None:
    (stock,) = [one for one in sheets.documents() if one.title == "stock"]
    assert sheets.ask("Which items must be reordered?", scope=Scope(documents=(stock.id,))).abstained


@pytest.mark.parametrize(
    ("file", "before", "question", "said"),
    [
        ("expenses", "Which payment is the highest?", "Who spent the most?", "Who: Ben (sum of Amount: 337.09)."),
        ("expenses", "Which payment is the highest?", "and the lowest?", "18.75"),
        ("expenses", "How much did Anna spend?", "And Ben?", "337.09"),
        ("staff", "Who earns the least?", "How many people are there in IT?", "There are 2 people in IT."),
        ("staff", "How many people work in IT?", "What is their average salary?", "“IT”: 55450."),
        ("staff", "How many people work in IT?", "How many of them are in Riga?", "1 row where"),
        ("staff", "Who earns the most?", "Which office does she work in?", "Office: Lyon"),
        ("expenses", "Who spent the most?", "What did he spend on travel?", "“Ben” and Category is “Travel”: 240.60"),
        ("staff", "Who is the youngest?", "How much does he earn?", "Salary: 47300."),
        (
            "phones",
            "Which phones cost less than 400?",
            "Which of them is the heaviest?",
            "Pebble 2 Max (Weight (g): 188).",
        ),
    ],
)
def test_a_follow_up_asks_of_what_was_found_and_a_whole_question_by_itself(
    sheets: Library, file: str, before: str, question: str, said: str
) -> None:
    (document,) = [one for one in sheets.documents() if one.title == file]
    scope = Scope(documents=(document.id,))
    first = sheets.ask(before, scope=scope)
    answer = sheets.ask(question, scope=scope, conversation=first.conversation)
    assert answer.outcome == "answered"
    assert said in answer.text.split("\n")[0]
