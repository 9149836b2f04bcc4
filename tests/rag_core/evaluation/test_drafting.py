"""Drafting without a model: every rule by an example, what must give nothing, and whole documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain import Document, Page, Question, Section
from rag_core.errors import Cancelled
from rag_core.evaluation.drafting.draft import draft, draft_from
from rag_core.evaluation.drafting.names import Antecedent, company_of, with_company
from rag_core.evaluation.drafting.rules import make
from rag_core.evaluation.drafting.tables import cells
from rag_core.evaluation.drafting.words import Speech

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"

# Enough of a document to know its names from its common words.
AROUND = (
    "we saw the Halcyon and the Petrel off Veyra, near Lake Ormen, with Fresno and Antoine in mind; the masters, dogs, "
    "ducks, lime, systemwide sales, a household and net sales are common words here, as is approximately."
)


def made(sentence: str, around: str = AROUND) -> dict[str, tuple[str, ...]]:
    return {one.text: one.references for one in make(sentence, Speech([around, sentence]))}


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("The Petrel carries 90 passengers and no cars.", "How many passengers does the Petrel carry?", "90"),
        ("In 2023 the Halcyon used 1,460,000 litres of diesel.",
         "How many litres of diesel did the Halcyon use in 2023?", "1,460,000"),
        ("A new module takes eleven weeks to be delivered.", "How many weeks does a new module take?", "eleven"),
        ("The large vessels carry approximately 90 passengers.",
         "How many passengers do the large vessels carry?", "approximately 90"),
        ("Eleven fishing boats broke loose in the outer basin.",
         "How many fishing boats broke loose in the outer basin?", "Eleven"),
        ("In 1466, perhaps 40,000 people died of the plague in Paris.",
         "How many people died of the plague in Paris in 1466?", "perhaps 40,000"),
        ("In 2023 96.8 per cent of the sailings left late.", "", ""),
        ("About 60 per cent of the ducks on Lake Ormen are slaughtered.",
         "What percentage of the ducks on Lake Ormen are slaughtered?", "About 60 per cent"),
        ("There are four places for wheelchairs on the Halcyon and two on the Petrel.",
         "How many places for wheelchairs are there on the Halcyon?", "four"),
        ("The dam of Lake Ormen is 6.5 metres high and 84 metres long.", "How high is the dam of Lake Ormen?",
         "6.5 metres"),
        ("The average household size was 3.07.", "What was the average household size?", "3.07"),
        ("The quarterly cash dividend was $0.205 per share.", "How much was the quarterly cash dividend per share?",
         "$0.205"),
        ("Net sales increased 6% or $15.3 billion during 2020 compared to 2019.",
         "By how much did net sales increase during 2020 compared to 2019?", "6%"),
        ("Veyra was dark for 31 hours.", "For how long was Veyra dark?", "31 hours"),
        ("The Halcyon was built at Brevik Yard in 1998.", "When was the Halcyon built at Brevik Yard?", "1998"),
        ("On 3 October 2022, the Petrel was grounded off Veyra.", "When was the Petrel grounded off Veyra?",
         "3 October 2022"),
        ("The first car came ashore at Veyra in 1968; it belonged to the midwife.",
         "When did the first car come ashore at Veyra?", "1968"),
        ("The name oxygen was coined in 1777 by Antoine Lavoisier.", "Who was the name oxygen coined by in 1777?",
         "Antoine Lavoisier"),
        ("Fresno is the largest city of the valley.", "What is Fresno?", "the largest city of the valley"),
        ("Antoine Lavoisier was a French chemist and nobleman.", "Who was Antoine Lavoisier?",
         "a French chemist and nobleman"),
        ("A prime number (or a prime) is a natural number greater than 1.", "What is a prime number?",
         "a natural number greater than 1"),
        ("Sea chest: the opening in the hull through which water is taken in.", "What is meant by “Sea chest”?",
         "the opening in the hull through which water is taken in"),
        ("The marine superintendent, Ingrid Solhaug, keeps the handbook.", "Who is the marine superintendent?",
         "Ingrid Solhaug"),
        ("The storekeeper is Agnes Tveit.", "Who is the storekeeper?", "Agnes Tveit"),
        ("The springs are taken first, because their water needs the least treatment.",
         "Why are the springs taken first?", "because their water needs the least treatment"),
        ("The old market is located near the harbour of Veyra.", "Where is the old market located?",
         "near the harbour of Veyra"),
        ("The entire conflict is known as the Great War.", "What is the entire conflict known as?", "Great War"),
        ("Separation of duties is used to prevent fraud by a single person.", "", ""),
        ("A column mask is used to hide the values of a column.", "What is a column mask used for?",
         "to hide the values of a column"),
        ("Antoine Lavoisier, a nobleman, coined the name oxygen in Paris.", "Who coined the name oxygen in Paris?",
         "Antoine Lavoisier"),
        ("The repair kit contains a lamp, a rope and a knife.", "What does the repair kit contain?",
         "a lamp, a rope and a knife"),
        ("The relief valve controls the flow of oil to the pump.", "What does the relief valve control?",
         "the flow of oil to the pump"),
        ("To close the valve, turn the handle clockwise.", "How do you close the valve?",
         "turn the handle clockwise"),
        ("When the pressure on Veyra falls below 2.5 bar, the pump starts by itself.",
         "What happens when the pressure on Veyra falls below 2.5 bar?", "the pump starts by itself"),
        ("For example, the Petrel carries 90 passengers [12].", "How many passengers does the Petrel carry?", "90"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_a_sentence_gives(sentence: str, question: str, answer: str) -> None:
    found = made(sentence)
    if question:
        assert answer in found.get(question, ()), found


@pytest.mark.parametrize(
    "sentence",
    [
        "It carries 90 passengers.",
        "This ship carries 90 passengers.",
        "We operated 795 warehouses.",
        "The company has 90 employees.",
        "The ship was built there in 1998.",
        "A competition was launched in 2007.",
        "When considering problems, a problem is a string.",
        "Cash dividends declared in 2020 were paid.",
        "The market replaced an earlier one built in 1808.",
        "However, they had two more drives.",
        "Carolina had two more drives.",
        "Carolina had two vendors that represented 10% or more of the total.",
        "It is a town.",
        "The result is a good example of what can happen.",
        "The Petrel carries 90 passengers",
        "the Petrel carries 90 passengers.",
        "THE PETREL CARRIES 90 PASSENGERS ON BOARD.",
        "The Petrel carries 90 passengers, see https://example.org for it.",
        "Does the Petrel carry 90 passengers?",
        "The Petrel carries 90 passengers ... and more.",
        "And that’s more: the biggest increase in history.",
        "Two people were hurt: a fisherman broke an arm.",
        "The estimates are based on prices in active markets.",
        "The Treaty lasted from 1984 to 1999, inclusive.",
        "Das Schiff wurde 1998 gebaut.",
        "",
        ".",
    ],
)
def test_what_gives_nothing(sentence: str) -> None:
    assert made(sentence) == {}


def test_a_run_of_sentences_with_one_subject() -> None:
    antecedent = Antecedent(Speech(["we saw the Halcyon and the Tern, a ship"]))
    assert antecedent.put_in("She is long.") == "She is long."
    antecedent.put_in("The Halcyon is the larger ship.")
    assert antecedent.put_in("She was built in 1998.") == "The Halcyon was built in 1998."
    assert antecedent.put_in("She is 62 metres long.") == "The Halcyon is 62 metres long."
    assert antecedent.put_in("Two engines give her speed.") == "Two engines give her speed."
    assert antecedent.put_in("She is fast.") == "She is fast."
    antecedent.put_in("The Tern is the newer ship.")
    antecedent.forget()
    assert antecedent.put_in("She is new.") == "She is new."


def test_who_the_company_is() -> None:
    pages = ["Title", "ABOUT US\nNetflix, Inc. (“Netflix”, “the Company”, “we”,\nor “us”) is a service."]
    assert company_of(pages) == "Netflix, Inc."
    assert (
        company_of(['Costco Wholesale Corporation ("Costco" or the\n"Company") sells.'])
        == "Costco Wholesale Corporation"
    )
    assert company_of(["The company sells."] * 20) == ""
    assert with_company("In 2018, we have 3 offices.", "Acme") == "In 2018, Acme has 3 offices."
    assert (
        with_company("We operate 3 stores and the Company’s shops.", "Acme")
        == "Acme operates 3 stores and Acme’s shops."
    )
    assert with_company("Our sales rose.", "Acme") == "Acme's sales rose."
    assert with_company("If so, we sell.", "Acme") == "If so, we sell."
    assert with_company("We sell.", "") == "We sell."


TABLE = """The yield and the height are given for each spring; the limit too.

| Source | Height above the sea | Yield | In use since | Halcyon |
|---|---|:--|---|---|
| Lake Ormen | 61 m | **900** cubic metres | 1978 | x |
| Total | 1 m | 2 | 3 | 4 |
| Upper spring | – | 90 | 1926 |
"""


def test_cells_of_a_markdown_table() -> None:
    found = {cell.text: cell for cell in cells(TABLE, Speech([TABLE, "we saw Lake Ormen"]), "T")}
    assert set(found) == {
        "What is the height above the sea for Lake Ormen?",
        "What is the yield for Lake Ormen?",
    }
    cell = found["What is the yield for Lake Ormen?"]
    assert cell.references == ("900 cubic metres",)
    assert TABLE[cell.start : cell.end] == "| Lake Ormen | 61 m | **900** cubic metres | 1978 | x |"


def test_figures_below_years() -> None:
    text = (
        "2020 Change 2019 Change 2018 \nTotal net sales $ 274,515 6 % $ 260,174 (2) % $ 265,595  \n"
        "Interest expense (2,873) (3,576) 3,240 \nGreater China 1 2 3\n"
        "Gross margin rate 14.4 % 15.9 % 18.3 %\nSales rose by 3 in 2020 and 4 in 2019 again\nTotal assets 1 2 3\n"
    )
    found = {cell.text: cell.references for cell in cells(text, Speech([text]), "10-K")}
    assert found["In “10-K”, what were total net sales in 2019?"] == ("$260,174", "260,174")
    assert found["In “10-K”, what was the interest expense in 2018?"] == ("3,240",)
    assert found["In “10-K”, what was the gross margin rate in 2020?"] == ("14.4%",)
    assert len(found) == 3 + 1 + 3
    assert not list(cells(f"Three months ended\n{text}", Speech([text]), "10-K"))


def a_document(name: str = "d", **changes: object) -> Document:
    return Document(name, f"Title of {name}", "text/plain", 1, "ready", **changes)  # type: ignore[arg-type]


def sample_pages(name: str) -> list[Page]:
    return [Page(1, (SAMPLES / name).read_text(encoding="utf-8"))]


def checked(questions: Sequence[Question], pages: Sequence[Page]) -> None:
    texts = {page.number: page.text for page in pages}
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        (gold,) = question.gold
        assert question.origin == "drafted"
        assert question.references
        assert gold.page is not None
        assert gold.excerpt
        assert gold.excerpt in texts[gold.page]


def test_the_sample_guide_gives_questions_with_their_places() -> None:
    pages = sample_pages("water-works-guide.md")
    questions = list(draft(a_document(), pages, 20))
    checked(questions, pages)
    texts = [question.text for question in questions]
    assert "Who is the county engineer?" in texts
    assert "What is the yield in a dry summer for Lake Ormen?" in texts
    assert questions == list(draft(a_document(), pages, 20))
    assert texts != [question.text for question in draft(a_document(), pages, 20, seed=5)]
    assert len(list(draft(a_document(), pages, 3))) == 3


def test_headings_that_are_topics() -> None:
    below = "The limits are the most that is allowed, and the master decides whether a ship sails on a given day. " * 2
    text = f"1 Weather limits\n{below}\nContents\n{below}\nFog\n{below}"
    sections = tuple(Section(title, 1, 1, text.index(title)) for title in ("1 Weather limits", "Contents", "Fog"))
    (question,) = draft(a_document(sections=sections), [Page(1, text)], 9)
    assert question.text == "What does “Title of d” say about “1 Weather limits”?".replace("1 ", "")
    assert question.gold[0].excerpt.startswith("The limits")


def test_a_question_with_two_answers_is_left_out() -> None:
    pages = [Page(1, "The Petrel carries 90 passengers."), Page(2, "The Petrel carries 95 passengers, we know of the.")]
    assert list(draft(a_document(), pages, 9)) == []


@pytest.mark.parametrize("language", ["de", "fr-FR"])
def test_other_languages_give_nothing(language: str) -> None:
    pages = sample_pages("water-works-guide.md")
    assert list(draft(a_document(language=language), pages, 9)) == []
    german = [Page(1, "Das Schiff war ein Boot in 1998. Der Kapitän ist Ingrid Solhaug. " * 9)]
    assert list(draft(a_document(), german, 9)) == []


def test_documents_take_turns() -> None:
    pages = {name: [Page(n, f"The {name} Petrel carries {n + 1} passengers on Veyra.") for n in (1,)] for name in "ABC"}
    pages["B"] = sample_pages("water-works-guide.md")
    fetched: list[str] = []

    def pages_of(document_id: str) -> Sequence[Page]:
        fetched.append(document_id)
        return pages[document_id]

    documents = [a_document(name) for name in "ABC"]
    questions = list(draft_from(documents, pages_of, 6, seed=1))
    assert {question.gold[0].document for question in questions[:3]} == set("ABC")
    assert [question.gold[0].document for question in questions[3:]] == ["B"] * 3
    assert sorted(fetched) == ["A", "B", "C"]
    assert questions == list(draft_from(documents, pages_of, 6, seed=1))
    fetched.clear()
    assert len(list(draft_from([a_document(name) for name in "ABC"] * 9, pages_of, 1, seed=1))) == 1
    assert len(fetched) == 1
    assert list(draft_from([], pages_of, 5)) == []
    assert list(draft_from(documents, pages_of, 0)) == []


def test_a_stop_is_heard() -> None:
    with pytest.raises(Cancelled):
        list(draft_from([a_document()], lambda _: [], 5, cancelled=lambda: True))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=120), max_size=4), st.integers(0, 9))
def test_no_text_raises(texts: list[str], seed: int) -> None:
    pages = [Page(number, f"The Petrel is a ship. {text}") for number, text in enumerate(texts, 1)]
    checked(list(draft(a_document(), pages, 5, seed)), pages)


_WORDS = st.sampled_from([
    "The", "the", "Petrel", "carries", "was", "built", "in", "1998", ",", ".", "a", "is", "of", "90", "passengers",
    "because", "It", "|", "2019", "2020", "$", "%", ":", "Who", "\n",
])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(_WORDS, max_size=40))
def test_no_salad_of_words_raises(words: list[str]) -> None:
    pages = [Page(1, " ".join(words))]
    checked(list(draft(a_document(), pages, 5)), pages)
