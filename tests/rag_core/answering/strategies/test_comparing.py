"""Things set side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.answering.passages import merge_hits, quotes
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.comparing import asked_of_each, difference
from rag_core.answering.strategies.composing import compose, scored
from rag_core.answering.strategies.confidence_model import trust
from tests.rag_core.answering.parts import ENCODER, hit

SHIPS = [
    hit("The Halcyon is 62 metres long and carries 34 cars.", document="ships"),
    hit("The Tern is 41 metres long and carries 10 cars.", document="ships", page=2),
    hit("Cars cross on both ships in every weather.", document="ships", page=3),
]
RATES = [
    hit("\t2020\t2019\nEffective tax rate\t24.4%\t26.1%", document="costco report"),
    hit("\t2020\t2019\nEffective tax rate\t14.4%\t15.9%", document="apple report"),
]
REPORTS = [one.document for one in RATES]


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("which ship carries more cars, Halcyon or Tern?", "Halcyon: 34 cars against 10 cars (Tern), 24 cars more."),
        ("which ship carries fewer cars, Halcyon or Tern?", "Tern: 10 cars against 34 cars (Halcyon), 24 cars less."),
        ("Halcyon or Tern: which carries more cars?", "Halcyon: 34 cars against 10 cars (Tern), 24 cars more."),
        ("cars carried: halcyon vs tern", "halcyon: 34 cars against 10 cars (tern), 24 cars more."),
        ("which ship carries more bicycles, Halcyon or Tern?", ""),
    ],
)
def test_each_thing_has_a_row(question: str, lead: str) -> None:
    evidence = gather(question, SHIPS, ENCODER)
    assert evidence is not None
    made = compose(question, evidence, scored(evidence), 3)
    assert [row.text for row in made.rows] == [SHIPS[0].text, SHIPS[1].text]
    assert [row.name.casefold() for row in made.rows] == ["halcyon", "tern"]
    assert made.lead == lead
    assert [quote.text for quote in made.lead_quotes] == ([row.text for row in made.rows] if lead else [])


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("It costs 15.80 crowns.", "It costs 12 crowns.", "A: 15.80 crowns against 12 crowns (B), 3.80 crowns more."),
        ("It took $3.5 million.", "It took $1 million.", "A: $3.5 million against $1 million (B), $2.5 million more."),
        ("It is 61 metres long.", "It is 72-metre long.", "B: 72-metre against 61 metres (A), 11 metre more."),
        ("It lost 4 per cent.", "It lost 5 %.", "B: 5 % against 4 per cent (A), 1 percentage points more."),
        ("It costs 15 crowns.", "It costs 12 euros.", ""),
        ("It leaves from pier 3 daily.", "It leaves from pier 4 daily.", ""),
        ("It holds 15 to 20 people.", "It holds 12 people.", ""),
        ("It was built in 1998.", "It was built in 2004.", ""),
        ("It leaves at 10:30.", "It leaves at 11:30.", ""),
        ("It has 3 masts and 12 sails.", "It has 2 masts and 14 sails.", ""),
    ],
)
def test_the_only_figure_of_each_sentence_is_set_apart(one: str, other: str, said: str) -> None:
    both = quotes(merge_hits([hit(one), hit(other, page=2)]))
    assert difference("Which has more, A or B?", ["A", "B"], [], both) == said


def test_sentences_with_the_figure_asked_for_go_first() -> None:
    limits = hit("| Ship | Waves, m |\n|---|---|\n| Halcyon | 3.5 |\n| Tern | 1.8 |", document="ships", page=4)
    evidence = gather(question := "which ship carries more cars, Halcyon or Tern?", [limits, *SHIPS], ENCODER)
    assert evidence is not None
    scores = scored(evidence)
    scores[[unit.tabular for unit in evidence.units]] = scores.max() + 1
    made = compose(question, evidence, scores, 3)
    assert made.lead == "Halcyon: 34 cars against 10 cars (Tern), 24 cars more."


def test_a_sentence_that_tells_of_both_goes_before_rows() -> None:
    both = hit("The Halcyon sails with a crew of nine, the Tern with a crew of five.", document="ships", page=4)
    evidence = gather(question := "Halcyon or Tern: which has the larger crew?", [*SHIPS, both], ENCODER)
    assert evidence is not None
    made = compose(question, evidence, scored(evidence), 3)
    assert (made.rows, made.quotes[0].text) == ((), both.text)


def test_a_difference_is_trusted_as_far_as_the_passages_answer() -> None:
    evidence = gather(question := "Halcyon or Tern: which carries more cars?", SHIPS, ENCODER)
    assert evidence is not None
    made = compose(question, evidence, scored(evidence), 3)
    known = trust(evidence, made)
    assert known.right >= known.answerable > trust(evidence, replace(made, rows=())).right


def test_figures_of_two_documents_are_set_apart() -> None:
    question = "Who had the higher effective tax rate in 2020, Apple or Costco?"
    evidence = gather(question, RATES, ENCODER)
    assert evidence is not None
    made = compose(question, evidence, scored(evidence), 3)
    assert made.lead == "Costco: 24.4% against 14.4% (Apple), 10.0 percentage points more."
    assert [row.text for row in made.rows] == ["Effective tax rate, 2020: 14.4%", "Effective tax rate, 2020: 24.4%"]
    low = compose(question.replace("higher", "lower"), evidence, scored(evidence), 3)
    assert low.lead == "Apple: 14.4% against 24.4% (Costco), 10.0 percentage points less."


def test_a_word_that_both_things_share_names_neither() -> None:
    hits = [hit("The ticket desk opens at nine."), hit("An adult pays 9 crowns.", page=2)]
    evidence = gather(question := "How much dearer is the family ticket than the adult ticket?", hits, ENCODER)
    assert evidence is not None
    assert not compose(question, evidence, scored(evidence), 3).rows


def test_equal_figures_are_not_set_apart() -> None:
    question = "Who had the higher effective tax rate in 2020, Apple or Costco?"
    evidence = gather(question, [RATES[0], hit(RATES[0].text, document="apple report")], ENCODER)
    assert evidence is not None
    made = compose(question, evidence, scored(evidence), 3)
    assert made.lead == ""
    assert [row.text for row in made.rows] == ["Effective tax rate, 2020: 24.4%"] * 2


@pytest.mark.parametrize(
    "question", ["Which ship carries more cars, Halcyon or Petrel?", "How many cars does the Tern carry?"]
)
def test_nothing_is_compared_where_one_is_not_told_of(question: str) -> None:
    evidence = gather(question, SHIPS, ENCODER)
    assert evidence is not None
    assert compose(question, evidence, scored(evidence), 3).rows == ()


@pytest.mark.parametrize(
    ("question", "of_apple"),
    [
        ("Compare Apple's and Costco's tax rate in 2020", "What was the tax rate of Apple in 2020?"),
        ("Which had the higher tax rate, Apple or Costco?", "What was the tax rate of Apple?"),
        ("apple vs costco tax rate", "What was the tax rate of apple?"),
    ],
)
def test_documents_that_are_compared_are_asked_apart(question: str, of_apple: str) -> None:
    found = {name.casefold(): asked for name, asked in asked_of_each(question, REPORTS).items()}
    assert found["apple"] == (of_apple, REPORTS[1])
    assert found["costco"][1] == REPORTS[0]


def test_documents_are_compared_by_their_files_names() -> None:
    named = [replace(one, title="Annual report", sources=(f"{one.id}.pdf",)) for one in REPORTS]
    assert {name.casefold() for name in asked_of_each("Compare Apple's and Costco's tax rate", named)} == {
        "apple",
        "costco",
    }


@pytest.mark.parametrize(
    "question", ["What was Apple's tax rate?", "Compare Apple's and Netflix's tax rate", "Halcyon or Tern?"]
)
def test_one_document_alone_is_compared_with_none(question: str) -> None:
    assert asked_of_each(question, REPORTS) == {}


def test_a_name_of_two_documents_compares_none() -> None:
    more = [*REPORTS, replace(REPORTS[0], id="costco 2019")]
    assert asked_of_each("Compare Apple's and Costco's tax rate", more) == {}


def test_a_year_and_the_one_before_are_no_two_things() -> None:
    costs = hit("Costs\t2024\t2023\nRent of the year\t14,160\t13,560\nWater of the year\t410\t395", document="plan")
    evidence = gather(question := "How much more rent was paid in 2024 than the year before?", [costs], ENCODER)
    assert evidence is not None
    made = compose(question, evidence, scored(evidence), 3)
    assert made.is_computed
    assert made.lead.startswith("600: 14,160 − 13,560 = 600")
    assert not made.rows
