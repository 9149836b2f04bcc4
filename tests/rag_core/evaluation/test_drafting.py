"""Drafting without a model: what sentences and tables give, what must give nothing, and whole documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain import Document, Page, Question, Section
from rag_core.errors import Cancelled
from rag_core.evaluation.drafting.draft import draft, draft_from
from rag_core.evaluation.drafting.rules import Made, Names, make, rows

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"

# Enough of a document to know its names from its common words.
AROUND = "We saw the Halcyon and the Petrel off Veyra, near Lake Ormen, with Antoine Lavoisier."


def made(sentence: str) -> Made | None:
    return make(sentence, Names([AROUND, sentence]))


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("The Petrel carries 90 passengers and no cars.", "How many passengers does the Petrel carry?", "90"),
        ("In 2023 the Halcyon used 1,460,000 litres of diesel.",
         "How many litres of diesel did the Halcyon use in 2023?", "1,460,000"),
        ("For example, the Petrel carries 90 passengers [12].", "How many passengers does the Petrel carry?", "90"),
        ("Eleven fishing boats broke loose in the outer basin.",
         "How many fishing boats broke loose in the outer basin?", "Eleven"),
        ("About 60 per cent of the ducks on Lake Ormen are slaughtered.",
         "What percentage of the ducks on Lake Ormen are slaughtered?", "About 60 per cent"),
        ("There are four places for wheelchairs on the Halcyon and two on the Petrel.",
         "How many places for wheelchairs are there on the Halcyon?", "four"),
        ("The dam of Lake Ormen is 6.5 metres high and 84 metres long.", "How high is the dam of Lake Ormen?",
         "6.5 metres"),
        ("The Halcyon was built at Brevik Yard in 1998.", "When was the Halcyon built at Brevik Yard?", "1998"),
        ("The new balance was invented by Antoine Lavoisier.", "Who was the new balance invented by?",
         "Antoine Lavoisier"),
        ("Antoine Lavoisier was a French chemist and nobleman.", "Who was Antoine Lavoisier?",
         "a French chemist and nobleman"),
        ("A prime number (or a prime) is a natural number greater than 1.", "What is a prime number?",
         "a natural number greater than 1"),
        ("Sea chest: the opening in the hull through which water is taken in.", "What is meant by “Sea chest”?",
         "the opening in the hull through which water is taken in"),
        ("The marine superintendent, Ingrid Solhaug, keeps the handbook.", "Who is the marine superintendent?",
         "Ingrid Solhaug"),
        ("The upper springs are taken first, because their water needs the least treatment.",
         "Why are the upper springs taken first?", "because their water needs the least treatment"),
        ("The old market is located near the harbour of Veyra.", "Where is the old market located?",
         "near the harbour of Veyra"),
        ("A column mask is used to hide the values of a column.", "What is a column mask used for?",
         "to hide the values of a column"),
        ("The repair kit contains a lamp, a rope and a knife.", "What does the repair kit contain?",
         "a lamp, a rope and a knife"),
        ("To close the valve, turn the handle clockwise.", "How do you close the valve?",
         "turn the handle clockwise"),
        ("When the pressure on Veyra falls below 2.5 bar, the pump starts by itself.",
         "What happens when the pressure on Veyra falls below 2.5 bar?", "the pump starts by itself"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_a_sentence_gives(sentence: str, question: str, answer: str) -> None:
    found = made(sentence)
    assert found is not None
    assert (found.text, found.answer) == (question, answer)


@pytest.mark.parametrize(
    "sentence",
    [
        "It carries 90 passengers.",
        "This ship carries 90 passengers.",
        "The company has 90 employees.",
        "The ship was built there in 1998.",
        "A competition was launched in 2007.",
        "When considering problems, a problem is a string.",
        "However, they had two more drives.",
        "The result is a good example of what can happen.",
        "The Petrel carries 90 passengers",
        "THE PETREL CARRIES 90 PASSENGERS ON BOARD.",
        "Does the Petrel carry 90 passengers?",
        "To the extent possible, including this, we sell.",
        "On 3 October 2022, the market was opened after the fire in 1998.",
        "Das Schiff wurde 1998 gebaut.",
        "Factors considered in determining fares include the length of the way and the season.",
        "",
    ],
)
def test_what_gives_nothing(sentence: str) -> None:
    assert made(sentence) is None


def test_cells_of_a_markdown_table() -> None:
    text = (
        "The yield and the height are given for each spring; the limit too.\n\n"
        "| Source | Height above the sea | Yield | In use since | Halcyon |\n|---|---|:--|---|---|\n"
        "| Lake Ormen | 61 m | **900** cubic metres | 1978 | x |\n| Total | 1 m | 2 | 3 | 4 |\n| Upper | – | 9 |\n"
    )
    found = {one.text: (one.answer, text[start:end]) for one, start, end in rows(text, "T", Names([text]))}
    assert set(found) == {"What is the height above the sea for Lake Ormen?", "What is the yield for Lake Ormen?"}
    answer, row = found["What is the yield for Lake Ormen?"]
    assert answer == "900 cubic metres"
    assert row == "| Lake Ormen | 61 m | **900** cubic metres | 1978 | x |"


def test_figures_below_years() -> None:
    text = (
        "2020 Change 2019 Change\nTotal net sales $ 274,515 260,174\nGreater China 1 2\nGross profit 14.4 % 15.9 %\n"
        "Sales rose by 3 in 2020 and 4 in 2019 again\nTotal assets 1 2 3\n"
    )
    found = {one.text: one.answer for one, _, _ in rows(text, "of Apple Inc.", Names([text]))}
    assert found["What were the total net sales of Apple Inc. in 2019?"] == "260,174"
    assert found["What was the gross profit of Apple Inc. in 2020?"] == "14.4 %"
    assert len(found) == 4
    assert not list(rows(f"Three months ended\n{text}", "of Apple Inc.", Names([text])))


def a_document(name: str = "d", **changes: object) -> Document:
    return Document(name, f"Title of {name}", "text/plain", 1, "ready", **changes)  # type: ignore[arg-type]


def as_pages(*texts: str) -> Callable[[str], list[Page]]:
    return lambda _: [Page(number, text) for number, text in enumerate(texts, 1)]


GUIDE = as_pages((SAMPLES / "water-works-guide.md").read_text(encoding="utf-8"))


def checked(questions: Sequence[Question], pages: Sequence[Page]) -> None:
    """Every question has one answer and stands on its page."""
    texts = {page.number: page.text for page in pages}
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        (gold,) = question.gold
        assert (question.origin, question.answerable, len(question.references)) == ("drafted", True, 1)
        assert gold.page is not None
        assert gold.excerpt
        assert gold.excerpt in texts[gold.page]


def test_the_sample_guide_gives_questions_with_their_places() -> None:
    questions = list(draft(a_document(), GUIDE, 20))
    checked(questions, GUIDE("d"))
    texts = [question.text for question in questions]
    assert "Who is the county engineer?" in texts
    assert "What is the yield in a dry summer for Lake Ormen?" in texts
    assert questions == list(draft(a_document(), GUIDE, 20))
    assert texts != [question.text for question in draft(a_document(), GUIDE, 20, seed=5)]
    assert len(list(draft(a_document(), GUIDE, 3))) == 3


def test_headings_that_are_topics() -> None:
    below = "The limits are the most that is allowed, and the master decides whether a ship sails on a given day. " * 2
    text = f"1 Weather limits\n{below}\nTable of contents\n{below}\nFog\n{below}"
    names = ("1 Weather limits", "Table of contents", "Fog")
    sections = tuple(Section(name, 1, 1, text.index(name)) for name in names)
    (question,) = draft(a_document(sections=sections), as_pages(text), 9)
    assert question.text == "What does “Title of d” say about “Weather limits”?"
    assert question.gold[0].excerpt.startswith("The limits")


def test_a_question_with_two_answers_is_left_out() -> None:
    assert len(list(draft(a_document(), as_pages(f"{AROUND} The Petrel carries 90 passengers."), 9))) == 1
    pages = as_pages(f"{AROUND} The Petrel carries 90 passengers.", "The Petrel carries 95 passengers.")
    assert list(draft(a_document(), pages, 9)) == []


def test_other_languages_give_nothing() -> None:
    assert list(draft(a_document(language="de"), GUIDE, 9)) == []
    assert list(draft(a_document(), as_pages("Das Schiff war ein Boot. Die Frau ist Ingrid Solhaug. " * 9), 9)) == []


def test_documents_take_turns() -> None:
    fetched: list[str] = []

    def pages_of(document_id: str) -> Sequence[Page]:
        fetched.append(document_id)
        one = f"We know the {document_id}X Petrel. The {document_id}X Petrel carries 9 passengers."
        return GUIDE("B") if document_id == "B" else [Page(1, one)]

    documents = [a_document(name) for name in "ABC"]
    questions = list(draft_from(documents, pages_of, 6, seed=1))
    assert {question.gold[0].document for question in questions[:3]} == set("ABC")
    assert [question.gold[0].document for question in questions[3:]] == ["B"] * 3
    assert sorted(fetched) == ["A", "B", "C"]
    assert questions == list(draft_from(documents, pages_of, 6, seed=1))
    fetched.clear()
    assert len(list(draft_from(documents * 9, pages_of, 1, seed=1))) == 1
    assert len(fetched) == 1
    assert list(draft_from([], pages_of, 5)) == []


def test_a_stop_is_heard() -> None:
    with pytest.raises(Cancelled):
        list(draft_from([a_document()], lambda _: [], 5, cancelled=lambda: True))


_WORDS = st.sampled_from([
    "The", "the", "Petrel", "carries", "was", "built", "in", "1998", ",", ".", "a", "is", "of", "90", "passengers",
    "because", "It", "|", "|---|---|\n", "2019 2020\n", "$", "%", ":", "Who", "\n", "sales", "\u00e9\x00", "(",
])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(_WORDS, max_size=40), st.integers(0, 9))
def test_no_salad_of_words_raises(words: list[str], seed: int) -> None:
    pages = as_pages(" ".join(words), AROUND)
    checked(list(draft(a_document(), pages, 5, seed)), pages("d"))
