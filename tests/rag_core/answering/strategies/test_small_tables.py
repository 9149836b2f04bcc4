"""Small tables of a household and a club asked through a library: ferries, hours worked, a menu, loans."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings
from tests.conftest import add_text

FERRIES = """Route;Departure;Arrival;Days;Ship;Adult fare (EUR);Car fare (EUR)
Sandvik–Holm;06:30;07:45;Mon–Fri;Nordlys;8,50;21,00
Sandvik–Holm;10:15;11:30;daily;Nordlys;8,50;21,00
Sandvik–Holm;17:40;18:55;daily;Havgull;9,50;24,00
Holm–Sandvik;08:15;09:30;Mon–Fri;Nordlys;8,50;21,00
Holm–Sandvik;19:30;20:45;daily;Havgull;9,50;24,00
Holm–Sandvik;12:00;13:15;daily;Nordlys;8,50;21,00
Sandvik–Lerøy;09:00;09:50;Sat–Sun;Terna;6,00;15,00
"""
HOURS = """Date,Employee,Start,End,Hours,Project
2024-03-04,Ann Berg,08:00,16:30,8.0,Bridge
2024-03-04,Jon Dahl,09:15,17:45,8.0,Tunnel
2024-03-05,Ann Berg,07:30,15:00,7.0,Bridge
2024-03-05,Jon Dahl,10:00,18:30,8.0,Bridge
2024-03-06,Mia Lund,06:45,15:15,8.0,Tunnel
2024-03-07,Mia Lund,07:00,15:30,8.0,Tunnel
"""
MENU = """Item,Size,Price (EUR),Category
Coffee,small,2.50,Hot drinks
Coffee,large,3.20,Hot drinks
Tea,small,2.20,Hot drinks
Tea,large,2.90,Hot drinks
Orange juice,large,4.40,Cold drinks
Brownie,piece,3.60,Cakes
Carrot cake,slice,4.50,Cakes
"""
LOANS = """Book,Author,Borrower,Borrowed,Due,Returned
The Salt Road,Ida Moen,Peter Lang,2024-02-03,2024-03-02,2024-02-28
Deep Water,Carl Oster,Anna Weiss,2024-02-10,2024-03-09,
Night Trains,Ida Moen,Tom Reed,2024-02-12,2024-03-11,2024-03-15
The Glass Farm,Lena Fuchs,Anna Weiss,2024-02-20,2024-03-19,
Deep Water,Carl Oster,Peter Lang,2024-03-10,2024-04-07,
"""
SERVICES = """Service,Plan,Monthly cost,Renews,Paid by
Filmbox,Family,€15.99,12 Jan 2025,Jo
Tunely,Student,€5.99,3 Mar 2025,Sam
CloudSafe,200 GB,€2.99,28 Feb 2025,Jo
Gamepass,Ultimate,€12.99,7 Jan 2025,Sam
"""
WARMTH = """Day,Room,Morning (°C),Evening (°C),Window open
2024-01-08,Kitchen,17.5,20.1,no
2024-01-08,Bedroom,15.2,17.8,yes
2024-01-09,Kitchen,16.9,19.4,no
2024-01-09,Bedroom,14.1,16.5,yes
"""
TABLES = {
    "loans.csv": LOANS,
    "services.csv": SERVICES,
    "warmth.csv": WARMTH,
    "ferries.csv": FERRIES,
    "hours.csv": HOURS,
    "menu.csv": MENU,
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Library]]:
    opened = {name: Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) for name in TABLES}
    for name, library in opened.items():
        add_text(library, name, TABLES[name])
        library.storage.settle()
    yield opened
    for library in opened.values():
        library.close()


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        ("ferries.csv", "When does the last ferry from Holm leave?", "19:30."),
        ("ferries.csv", "Which is the latest arrival?", "Last Arrival: 20:45."),
        ("ferries.csv", "Which ships leave after 17:00?", "Ship: Havgull."),
        ("ferries.csv", "How many ferries leave before 10 am?", "3 rows"),
        ("ferries.csv", "When does the 17:40 ferry arrive?", "Arrival: 18:55."),
        ("hours.csv", "Who starts before 7:30?", "Employee: Mia Lund."),
        ("hours.csv", "When did Ann Berg start on 5 March?", "Start: 07:30."),
        ("hours.csv", "Who worked on the tunnel?", "Employee: Jon Dahl and Mia Lund."),
        ("menu.csv", "How much does a coffee cost?", "Price (EUR): 2.50 and 3.20."),
        ("menu.csv", "How much is a large tea?", "Price (EUR): 2.90."),
        ("menu.csv", "Which drinks cost less than 3 euros?", "Item: Coffee and Tea."),
        ("menu.csv", "What is the cheapest cake?", "3.60"),
        ("menu.csv", "Which items cost less than 2.50?", "Item: Tea."),
        ("menu.csv", "Which items cost more than 4.40?", "Item: Carrot cake."),
        ("hours.csv", "Who worked less than 7.50 hours?", "Employee: Ann Berg."),
        ("loans.csv", "Who has not returned Deep Water?", "Borrower: Anna Weiss and Peter Lang."),
        ("loans.csv", "Which books have not been returned?", "Book: Deep Water and The Glass Farm."),
        ("loans.csv", "How many books are not yet returned?", "3 books are not yet returned."),
        ("services.csv", "What renews in January?", "Service: Filmbox and Gamepass."),
        (
            "warmth.csv",
            "What was the average evening temperature in the kitchen?",
            "Mean Evening (°C) where Room is “Kitchen”",
        ),
    ],
)
def test_small_tables_are_asked(libraries: dict[str, Library], name: str, question: str, said: str) -> None:
    answer = libraries[name].ask(question)
    assert (answer.outcome, said in answer.sentences[0].text) == ("answered", True), answer.text


def test_of_two_columns_of_times_none_is_told_as_sure(libraries: dict[str, Library]) -> None:
    answer = libraries["ferries.csv"].ask("When is the first ferry to Holm?")
    assert answer.outcome == "perhaps"
    assert "Route is “Sandvik–Holm”" in answer.text


def test_columns_of_times_are_shown_as_such(libraries: dict[str, Library]) -> None:
    library = libraries["hours.csv"]
    (document,) = library.documents()
    view = library.table_views.view(document.id, 0)
    kinds = {column.head: (column.kind, column.least, column.most) for column in view.columns}
    assert kinds["Start"] == ("time", "06:45", "10:00")
    assert kinds["Date"][0] == "date"


@pytest.mark.parametrize(
    ("name", "before", "question", "said"),
    [
        ("hours.csv", "How many hours did each employee work?", "And in total?", "Sum of Hours: 47.0."),
        ("hours.csv", "Who worked on the bridge?", "How many hours?", "Sum of Hours where Project is “Bridge”: 23.0."),
        ("menu.csv", "Which cakes are there?", "How much do they cost?", "Price (EUR): 3.60 and 4.50."),
        ("loans.csv", "Who borrowed Night Trains?", "Which author?", "Author: Ida Moen."),
        ("loans.csv", "Who borrowed Night Trains?", "When was it due?", "Due: 2024-03-11."),
        ("services.csv", "Which service is the most expensive?", "When does it renew?", "Renews: 12 Jan 2025."),
        ("services.csv", "When does Tunely renew?", "Is it paid by Jo?", "No (Paid by: Sam)."),
        ("services.csv", "When does Tunely renew?", "And Filmbox?", "Renews: 12 Jan 2025."),
        ("services.csv", "When does Tunely renew?", "Which plans are there?", "Family, Student, 200 GB and Ultimate."),
    ],
)
def test_what_is_asked_next_is_asked_of_what_was_told(
    libraries: dict[str, Library], name: str, before: str, question: str, said: str
) -> None:
    first = libraries[name].ask(before)
    answer = libraries[name].ask(question, conversation=first.conversation)
    assert (answer.outcome, said in answer.sentences[0].text) == ("answered", True), answer.text
