"""What is computed from figures, and which of them a question names, with the real embedding model."""

from __future__ import annotations

import pytest

from rag_core.answering.encoding import Encoder
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.composing import Composition, compose, scored
from rag_core.answering.tables.computing import operation
from rag_core.answering.tables.format_amount import Amount
from rag_core.answering.tables.format_result import set_apart
from rag_core.answering.tables.matching_cells import CELL_FEATURES
from tests.rag_core.answering.parts import hit

PAGE = (
    "The following table shows net sales by category (dollars in millions):\n"
    "\t2020\t2019\t2018\n"
    "iPhone\t$ 137,781\t$ 142,381\t$ 164,888\n"
    "Mac\t28,622\t25,740\t25,198\n"
    "Services\t53,768\t46,291\t39,748\n"
    "Total net sales\t$ 274,515\t$ 260,174\t$ 265,595\n"
)


def answer(question: str, real_encoder: Encoder, text: str = PAGE) -> Composition:
    evidence = gather(question, [hit(text)], real_encoder)
    assert evidence is not None
    return compose(question, evidence, scored(evidence), 3)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("By what percentage did Mac net sales increase between 2019 and 2020?", "+11.2 %: (28,622 − 25,740) ÷ 25,740"),
        (
            "What was the change in services between 2018 and 2019?",
            "+6,543 million dollars (+16.5 %): 46,291 − 39,748 = 6,543",
        ),
        (
            "What were the average services net sales in 2019 and 2020?",
            "50,029.50 million dollars on average: (46,291 + 53,768)",
        ),
        ("What were the net sales of Mac and Services together in 2020?", "82,390 million dollars: "),
        (
            "How much more were the services net sales in 2020 than the year before?",
            "7,477 million dollars: 53,768 − 46,291",
        ),
        ("What do the net sales of Mac plus Services in 2020 come to?", "82,390 million dollars: "),
        ("What percentage of the total net sales were Services in 2020?", "19.6 %: 53,768 ÷ $274,515"),
        (
            "Which were lower in 2020, net sales of Mac or Services?",
            "Mac is lower: 28,622 against 53,768 (Services), 25,146",
        ),
        (
            "Which were higher in 2020, net sales of Mac or Services?",
            "Services is larger: 53,768 against 28,622 (Mac), 25,146",
        ),
    ],
)
def test_figures_that_are_named_are_computed_with(question: str, said: str, real_encoder: Encoder) -> None:
    made = answer(question, real_encoder)
    assert made.is_computed
    assert said in made.lead
    assert {quote.text for quote in made.lead_quotes} == {made.lead_quotes[0].text, made.lead_quotes[-1].text}


def test_a_line_that_names_every_year_is_the_head_of_none(real_encoder: Encoder) -> None:
    page = PAGE.replace(
        "The following table shows net sales by category (dollars in millions):", "Sales 2020, 2019, 2018:"
    )
    evidence = gather("Mac in 2019", [hit(page)], real_encoder)
    assert evidence is not None and evidence.asked is not None
    assert {cell.head for cell in evidence.asked.cells} == {"2020", "2019", "2018"}


def test_a_figure_that_is_printed_is_not_computed(real_encoder: Encoder) -> None:
    made = answer("What were Mac net sales in 2019?", real_encoder)
    assert made.lead == "Mac, 2019: 25,740 million dollars"
    assert [quote.exact for quote in made.lead_quotes] == ["25,740"]
    assert not made.is_computed


def test_what_another_document_says_instead_stands_behind_a_figure(real_encoder: Encoder) -> None:
    fares = "Fares\n\tHarbour\tTolsund\nAdult\t{}\t{}\nBicycle\t3.00\t3.50\n"
    both = [hit(fares.format("12.40", "15.80"), document="new"), hit(fares.format("10.40", "12.40"), document="old")]
    evidence = gather("How much does an adult pay to Tolsund?", both, real_encoder)
    assert evidence is not None
    made = compose("How much does an adult pay to Tolsund?", evidence, scored(evidence), 3)
    assert made.lead.startswith("Adult, Tolsund: ")
    assert {quote.hit.document.id for quote in made.quotes} == {"new", "old"}


def test_the_number_of_a_page_is_no_figure(real_encoder: Encoder) -> None:
    found = gather("Page 3?", [hit("Page 3 of 12\nSales 10 12\nCost 4 5\n")], real_encoder)
    assert found is not None and found.asked is not None
    assert [cell.name for cell in found.asked.cells] == ["Sales", "Sales", "Cost", "Cost"]


def test_a_dash_is_no_answer_by_itself(real_encoder: Encoder) -> None:
    page = "\t2020\t2019\nMac\t28,622\t25,740\nWearables\t—\t24,482\n"
    made = answer("What were net sales of wearables in 2020?", real_encoder, page)
    assert (made.lead, made.quotes[0].text.split()[0]) == ("", "Wearables")


def test_what_asks_for_a_reason_or_a_name_asks_for_no_sum() -> None:
    assert operation("Why did Mac sales increase between 2018 and 2019?") is None
    assert operation("Who approved the change?") is None
    assert operation("What is due in less than 1 year?") is None
    assert operation("Diluted earnings per share (EPS) of the quarter?") is None
    assert operation("What counts as comparable sales?") is None
    assert operation("Change in sales, 2019 vs 2018?") == "change"
    assert operation("How much did sales grow from 2018 to 2019?") == "change"
    assert operation("By how much does an adult's fare differ from a child's?") == "difference"
    assert operation("Is the shaft cheaper for students or for adults?") == "larger"


def test_two_rows_are_told_apart_by_their_letters(real_encoder: Encoder) -> None:
    page = "\t2020\t2019\nHardlines\t27,729\t24,570\nSoftlines\t17,078\t16,590\nTotal net sales\t163,220\t149,351\n"
    made = answer("What were the sales of hardlines and softlines together in 2020?", real_encoder, page)
    assert made.lead.startswith("44,807: 27,729 + 17,078 = 44,807")


def test_neither_of_two_equal_figures_is_larger(real_encoder: Encoder) -> None:
    page = "\t2020\t2019\nHardlines\t27,729\t24,570\nSoftlines\t27,729\t16,590\n"
    assert not answer("Which were larger in 2020, hardlines or softlines?", real_encoder, page).is_computed


def test_a_limit_does_not_ask_for_the_lower() -> None:
    amounts = [Amount("2", 2.0, 0), Amount("3", 3.0, 0)]
    assert set_apart("Loans of less than 5 years, A or B?", ["A", "B"], amounts) == "B: 3 against 2 (A), 1 more."
    assert set_apart("Which loan is less, A or B?", ["A", "B"], amounts) == "A: 2 against 3 (B), 1 less."


def test_cheaper_is_less_and_heavier_is_more() -> None:
    amounts = [Amount("2", 2.0, 0), Amount("3", 3.0, 0)]
    assert set_apart("Which is cheaper, A or B?", ["A", "B"], amounts) == "A: 2 against 3 (B), 1 less."
    assert set_apart("Which is heavier, A or B?", ["A", "B"], amounts) == "B: 3 against 2 (A), 1 more."


def test_amounts_of_two_scales_are_set_apart_in_the_first() -> None:
    amounts = [Amount("$59,531", 59531.0, 0, "million", "$"), Amount("$1,211,242", 1211242.0, 0, "thousand", "$")]
    assert set_apart("Which is larger, A or B?", ["A", "B"], amounts) == (
        "A: $59,531 million against $1,211,242 thousand (B), $58,320 million more."
    )
    mixed = [amounts[0], Amount("12", 12.0, 0, "years")]
    assert set_apart("Which is larger, A or B?", ["A", "B"], mixed) == ""


def test_a_figure_that_is_printed_again_is_the_surer_one(real_encoder: Encoder) -> None:
    again = "\tUnited States\tCanada\tTotal\n2020\nTotal net sales\t$ 200,000\t$ 74,515\t$ 274,515\n"
    evidence = gather("What were the total net sales in 2020?", [hit(PAGE), hit(again, page=2)], real_encoder)
    assert evidence is not None and evidence.asked is not None
    scores: dict[float, set[float]] = {}
    for cell, score in zip(evidence.asked.cells, evidence.cell_scores, strict=True):
        scores.setdefault(cell.figure.value, set()).add(round(float(score), 6))
    assert len(scores[274515.0]) == 1
    assert max(scores[274515.0]) == max(evidence.cell_scores.round(6))


def test_a_quarter_of_another_year_is_of_another_period(real_encoder: Encoder) -> None:
    page = "\tThird Quarter\tFourth Quarter\n2020:\nNet sales\t36\t52\n2019:\nNet sales\t33\t46\n"
    evidence = gather("net sales in the third quarter of 2020", [hit(page)], real_encoder)
    assert evidence is not None and evidence.asked is not None
    other = evidence.asked.features[:, CELL_FEATURES.index("other_period")]
    assert [cell.part.text for cell, is_other in zip(evidence.asked.cells, other, strict=True) if not is_other] == [
        "36"
    ]
