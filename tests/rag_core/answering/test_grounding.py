"""Sentences that the passages hold, and sentences that they do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.answering import confidence
from rag_core.answering.citations import CitationWriter, Passages, sentences_of
from rag_core.answering.encoding import Encoder
from rag_core.answering.grounding import Grounding
from rag_core.domain import Hit, Sentence
from tests.rag_core.answering.parts import HITS, hit

# A head that is over all columns, and signs of a share in the first row alone.
GOODWILL = hit(
    "Goodwill in 2019\t2019 Europe\t2019 Total\tIncrease\tIn local currency\n"
    "Balance at January 1, 2018\t49,786\t333,626\t4 %\t8 %\n"
    "Balance at December 31, 2019\t142,081\t578,097\t63\t69",
    document="goodwill",
)
GROWTH = hit("The total balance of goodwill rose until December 2019, when it stood higher than before.", document="x")


def check(text: str, real_encoder: Encoder, hits: Sequence[Hit] = HITS) -> list[Sentence]:
    writer = CitationWriter(Passages(hits))
    writer.feed(text)
    writer.finish()
    return Grounding(writer.passages, real_encoder.tokens).check(sentences_of(writer.text), writer.register)


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("Sales rose by 12 percent in 2018 [1].", True),
        ("Sales rose by twelve percent to 480 million euros [1].", True),
        ("Sales rose by 13 percent in 2018 [1].", False),
        ("Sales did not rise by 12 percent in 2018 [1].", False),
        ("Anna Berger leads the board [2].", True),
        ("Anna Berger leads the board [3].", False),
        ("The board is led by Anna Berger [2].", True),
        ("The board is led by Peter Miller [2].", False),
        ("At the end of 2018 the company employed 2,310 people in Paris [2].", False),
        ("The staff went on strike in autumn over wages [2].", False),
        ("The growth came from the north [1].", True),
        ("The company employed 2310 people at the end of 2018 [2].", True),
        ("In 2018 sales grew by 12% and reached EUR 480 million [1].", True),
        ("Sales rose by 12 percent to 0.48 billion euros in 2018 [1].", True),
        ("Sales rose by 12 percent to 480 billion euros in 2018 [1].", False),
        ("Sales rose by 12 percent to 480 million dollars in 2018 [1].", False),
        ("Sales rose by 12 percent to 480 million euros in 2017 [1].", False),
        ("About 2,300 people worked for the company at the end of 2018 [2].", True),
        ("Purple elephants dance.", False),
        ("Yes.", True),
        ("In summary:", True),
    ],
)
def test_one_sentence(text: str, supported: bool, real_encoder: Encoder) -> None:
    assert [sentence.supported for sentence in check(text, real_encoder)] == [supported]


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("The total balance stood at 578,097 on December 31, 2019 [1].", True),
        ("The total balance stood at 333,626 on December 31, 2019 [1].", False),
        ("The increase of the balance at December 31, 2019 was 63% [1].", True),
        ("The increase of the balance at December 31, 2019 was 69% [1].", False),
        ("The total balance of goodwill stood at 578,097 in December 2019.", True),
    ],
)
def test_a_figure_of_a_table(text: str, supported: bool, real_encoder: Encoder) -> None:
    found = check(text, real_encoder, (GOODWILL, GROWTH))
    assert [sentence.supported for sentence in found] == [supported]


def test_an_uncited_sentence_is_looked_for_everywhere(real_encoder: Encoder) -> None:
    found = check("Tea is grown on hills. It comes from Mars and Venus.", real_encoder)
    assert [(one.supported, one.citations) for one in found] == [(True, (1,)), (False, ())]


def test_nothing_to_compare_with(real_encoder: Encoder) -> None:
    empty = Passages(())
    writer = CitationWriter(empty)
    writer.feed("Sales rose.")
    writer.finish()
    assert [
        one.supported for one in Grounding(empty, real_encoder.tokens).check(sentences_of(writer.text), writer.register)
    ] == [False]


@pytest.mark.parametrize(
    ("marks", "sure"),
    [
        ("", 0.0),
        ("++", 0.9),
        ("i++", 0.9),  # what claims nothing does not count
        ("i", 0.0),
        ("i-", 0.0),
        ("+-", 0.45),
        ("+++-", 0.675),
        ("+++++++++-", 0.81),
        ("+++++++++n", 0.6),  # a number that was not found
        ("--n", 0.0),
    ],
)
def test_confidence_follows_what_was_found(marks: str, sure: float) -> None:
    kinds = {
        "+": Sentence("Sales rose by 12 percent.", (1,)),
        "-": Sentence("The staff sang.", (1,), False),
        "n": Sentence("It cost twelve euros.", (), False),
        "i": Sentence("In summary:"),
    }
    found, told = confidence.written(0.9, [kinds[mark] for mark in marks])
    assert found == pytest.approx(sure)
    assert found == min(told["answerable"] * told["supported"], told.get("most", 1.0))
    assert found < 0.7 or marks.count("+") > len(marks) / 2
