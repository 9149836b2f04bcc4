"""Several sheets in one library: what the rows are called by tells which is asked, and none is passed over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core import Library, Settings
from tests.conftest import add_text

TOWNS = ("Voss", "Alta", "Moss")
LOANS = [(f"L-{row}", TOWNS[row % 3], 10 + row % 40, ("Ann", "Bea", "Cid", "Dag")[row % 4]) for row in range(90)]
STAFF = [(f"N-{row}", TOWNS[row % 2], 30_000 + 100 * row) for row in range(20)]
PAID = [(f"{1 + row % 28:02}.03.2024", ("Bakery", "Rent", "Salary")[row % 3], row) for row in range(30)]


def _account() -> str:
    balance, lines = 2_000.0, []
    for day, payee, row in PAID:
        amount = 900.0 if payee == "Salary" else -(20.5 + row)
        balance += amount
        lines.append(f"{day};{payee};{amount:.2f};{balance:.2f}".replace(".", ",").replace(",03,2024", ".03.2024"))
    return "\n".join(["Booked;Payee;Value;Balance", *lines])


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        for name, head, rows in (("staff", "No,Town,Salary", STAFF), ("loans", "No,Town,Fee,Member", LOANS)):
            add_text(opened, f"{name}.csv", "\n".join([head, *(",".join(map(str, row)) for row in rows)]))
        add_text(opened, "account.csv", _account())
        opened.storage.settle()
        yield opened


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many loans are there?", "There are 90 loans."),
        ("How many loans came from Voss?", "30 "),
        ("What share of loans came from Voss?", "33.3 %"),
    ],
)
def test_the_sheet_that_is_called_so_is_asked(sheets: Library, question: str, said: str) -> None:
    assert sheets.ask(question).sentences[0].text.startswith(said)


def test_a_sheet_is_asked_that_no_passage_found(sheets: Library) -> None:
    """Of a scope of few documents; the passages of "Town" may all be another sheet's."""
    mean = sum(fee for _, town, fee, _ in LOANS if town == "Voss") / 30
    assert f"Voss {mean:.1f}" in sheets.ask("What is the average fee by town?").sentences[0].text


def test_such_a_sheet_answers_nothing_that_leaves_a_word(sheets: Library) -> None:
    assert sheets.ask("What did we pay the landlord for the harbour?").abstained


def test_what_was_paid_is_no_sum_of_balances(sheets: Library) -> None:
    paid = sum(20.5 + row for _, payee, row in PAID if payee != "Salary")
    answer = sheets.ask("How much was spent in March 2024?")
    assert f"{paid:.2f}".replace(".", ",") in answer.sentences[0].text.replace(".", "")
