"""The same question asked of each of several documents, and a row for each that says it."""

from __future__ import annotations

import pytest

from rag_core import Library
from tests.conftest import add_text

TOTALS = {2041: "355.30", 2042: "1,672.00", 2043: "165.00"}


@pytest.fixture
def invoices(library: Library) -> Library:
    for number, total in TOTALS.items():
        text = f"INVOICE\n\nInvoice no. {number}\n\nBill to: Hotel Miramar\n\nTotal due: EUR {total}\n"
        add_text(library, f"invoice-{number}.txt", text)
    add_text(library, "bread.md", "# Bread\n\nThe bread needs 400 g of oats and an egg.")
    return library


@pytest.mark.parametrize("each", ["each invoice", "every invoice", "all the invoices"])
def test_a_row_for_each_of_a_kind(invoices: Library, each: str) -> None:
    answer = invoices.ask(f"What is the total due of {each}?")
    assert answer.outcome == "answered"
    rows = [line for line in answer.text.splitlines() if "no. " in line]
    assert len(rows) == 3
    for row, (number, total) in zip(rows, TOTALS.items(), strict=True):
        assert f"no. {number}" in row
        assert total in row
    assert {one.title for one in answer.citations} == {f"Invoice no. {number}" for number in TOTALS}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which invoice is the highest?", "Invoice no. 2042: EUR 1,672.00, the highest of 3; then"),
        ("Which invoice was the most expensive?", "Invoice no. 2042: EUR 1,672.00, the most expensive of 3; then"),
        ("Which of the invoices has the lowest total due?", "Invoice no. 2043: EUR 165.00, the lowest of 3; then"),
    ],
)
def test_which_of_a_kind_has_most_is_said_first(invoices: Library, question: str, first: str) -> None:
    answer = invoices.ask(question)
    assert answer.text.startswith(first), answer.text
    assert ("| | Total due |" if "due" in question else "| | What it says |") in answer.text, (
        "no column is called highest"
    )
    assert {one.title for one in answer.citations} == {f"Invoice no. {number}" for number in TOTALS}


@pytest.mark.parametrize(
    "question",
    [
        "How many spoons does each invoice list?",
        "How many eggs does each bread need?",
        "What do all documents sing?",
        "Which invoice has the most spoons?",
    ],
)
def test_what_none_or_one_alone_says_is_no_table(invoices: Library, question: str) -> None:
    assert "|" not in invoices.ask(question).text


def test_what_all_of_a_kind_are_together_is_added_up(invoices: Library) -> None:
    answer = invoices.ask("What is the total of all the invoices?")
    assert answer.text.startswith("2,192.30 EUR in all: EUR 355.30 + EUR 1,672.00 + EUR 165.00. [1][2][3]"), answer.text


def test_the_cheapest_is_told_by_what_sentences_say(library: Library) -> None:
    for name, costs in (("Alto", 49), ("Brisa", 65), ("Corvo", 88), ("Dune", 120)):
        add_text(library, f"lamp-{name}.txt", f"Desk lamp {name}\n\nThe {name} costs {costs} euros with its bulb.")
    answer = library.ask("Which of the lamps is the cheapest?")
    assert answer.text.startswith("Desk lamp Alto: 49 euros, the cheapest of 4; then Desk lamp Brisa (65 euros),")
    assert "the longest" not in library.ask("Which lamp is the longest?").text


def test_which_of_them_do_not_say_it_is_told(invoices: Library) -> None:
    add_text(invoices, "invoice-2044.txt", "INVOICE\n\nInvoice no. 2044\n\nBill to: Cafe Lumen\n\nTo follow by post.")
    answer = invoices.ask("What is the total due of each invoice?")
    assert answer.sentences[-1].text == "Not found in “Invoice no. 2044”."


def test_that_not_all_were_asked_is_told(invoices: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.answering.strategies.of_each._MOST_DOCUMENTS", 2)
    answer = invoices.ask("What is the total due of each invoice?")
    assert answer.sentences[-1].text == "Only the first 2 of 3 by title were asked."


RATES = "# {name} report 2020\n\n|  | 2020 | 2019 |\n|---|---|---|\n| Effective tax rate | {rate}% | {before}% |\n"
OTHER_RATES = "| Statutory tax rate | 21% | 21% |\n"


def test_documents_that_are_named_beside_each_other_are_each_asked_alone(library: Library) -> None:
    """Nor is anything computed within one of them."""
    for name, rate, before in (("Costco", "24.4", "26.1"), ("Apple", "14.4", "15.9")):
        text = RATES.format(name=name, rate=rate, before=before) + OTHER_RATES
        add_text(library, f"{name.lower()}-report.md", text)
    answer = library.ask("Which had the higher effective tax rate in 2020, Apple or Costco?")
    assert answer.text.startswith("Costco had the higher: 24.4% (2020) against Apple's 14.4%. [1][2]"), answer.text
    assert "| | Effective tax rate |" in answer.text
    assert "| Apple | Effective tax rate, 2020: 14.4% [1] |" in answer.text
    assert {one.title for one in answer.citations} == {"Apple report 2020", "Costco report 2020"}
    assert "|" not in library.ask("Which had the higher rainfall in 2020, Apple or Costco?").text


REVENUE = "# {name} report\n\nAll amounts are in {scale}.\n\n| | {first} | {second} |\n|---|---|---|\n{rows}"


def test_two_documents_are_set_beside_each_other_by_the_latest_year_that_both_have(library: Library) -> None:
    """In what each is in, and in one sentence that cites both."""
    for name, scale, first, sales, income in (
        ("Apple", "millions of dollars", 2019, "$ 260,174 | $ 265,595", "$ 55,256 | $ 59,531"),
        ("Costco", "thousands of dollars", 2020, "$ 166,761 | $ 152,703", "$ 4,059 | $ 3,704"),
    ):
        rows = f"| Revenue | {sales} |\n| Net income | {income} |\n"
        text = REVENUE.format(name=name, scale=scale, first=first, second=first - 1, rows=rows)
        add_text(library, f"{name.lower()}.md", text)
    answer = library.ask("Which had more revenue, Apple or Costco?")
    assert answer.text.startswith("Apple had more: $260,174 million (2019) against Costco's $152,703 thousand. [1][2]")
    assert {one.title for one in answer.citations} == {"Apple report", "Costco report"}
    assert "against" not in library.ask("Which had more ships, Apple or Costco?").text
