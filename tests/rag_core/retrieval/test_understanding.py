"""What a question was taken to mean."""

from __future__ import annotations

import pytest

from rag_core.domain import QuestionKind
from rag_core.retrieval.understanding import kind_of, looked_for, topic_of, understand


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much was Apple's revenue in 2020?", "fact"),
        ("When does the first ferry leave?", "fact"),
        ("", "fact"),
        ("Compare the revenue of Apple and Nike", "comparison"),
        ("How did net sales differ between 2019 and 2020?", "comparison"),
        ("Is the Halcyon longer than the Petrel?", "comparison"),
        ("rye versus wheat", "comparison"),
        ("List the ferries of Veyra", "list"),
        ("Which risks does the company name?", "list"),
        ("What are the parts of a loom?", "list"),
        ("What is a ferry?", "definition"),
        ("What is free cash flow?", "definition"),
        ("What does EBITDA stand for?", "definition"),
        ("Define goodwill", "definition"),
        ("Summarise the storm report", "summary"),
        ("Give me an overview of the handbook", "summary"),
        ("What is this paper about?", "summary"),
        ("What are the main findings?", "summary"),
        ("sum up what the harbour master wants", "summary"),
        ("how is a battery fire fought, in short", "summary"),
        ("What's new about the Wang 1200?", "fact"),
    ],
)
def test_kinds(question: str, kind: QuestionKind) -> None:
    assert kind_of(question) == kind
    assert understand(question).kind == kind


def test_names_and_years() -> None:
    found = understand("What did Costco Wholesale pay in FY21, and the Bank of England in 2019 and 2019?")
    assert found.names == ("Costco Wholesale", "FY21", "Bank of England")
    assert found.years == (2019, 2021)
    assert understand("What was 2,020.5 of 12019?").years == ()
    assert understand("WHAT IS THIS").names == ()
    assert understand("Can I change the pH, or can I not?").names == ()
    assert understand("Which invoice is the highest? Who is it for? Is it paid?").names == ()


def test_phrases_must_stand_there() -> None:
    assert understand('Where is "rye  bread" sold?').phrases == ("rye bread",)
    assert understand("Wo steht „im Hafen“ und «le port»?").phrases == ("im Hafen", "le port")
    assert understand('What is ""? And "the of"?').phrases == ()
    assert understand('fares "by train" +Tolsund +the').phrases == ("by train", "Tolsund")
    assert understand("C++ a+b 2 + 2").phrases == ()
    assert understand("net sales +2020").phrases == ("2020",)
    assert understand("The 5\" screen of the Smiths'").phrases == ()


def test_words_with_a_hyphen_before_them_are_excluded() -> None:
    found = understand("fares -train, -bus")
    assert found.excluded == ("train", "bus")
    assert looked_for("fares -train", understand("fares -train")) == "fares"
    beside_a_phrase = understand('"the red lamp" -fares')
    assert (beside_a_phrase.phrases, beside_a_phrase.excluded) == (("the red lamp",), ("fares",))
    for kept in ("well-known fares", "-5 degrees", "a - b", "10-K", '"fares -train"', "-fares", "a thin -walled tube"):
        assert understand(kept).excluded == (), kept
        assert looked_for(kept, understand(kept)) == kept


def test_a_pasted_text_has_marks_of_its_own() -> None:
    pasted = 'The "words" of a text that was pasted. ' * 12 + "-fares"
    assert (understand(pasted).phrases, understand(pasted).excluded) == ((), ())
    assert understand('Where is "the red lamp"? -fares').phrases == ("the red lamp",)


def test_documents_are_those_that_it_is_told() -> None:
    assert understand("fares").documents == {}
    assert understand("fares", {"a": 0.5}).documents == {"a": 0.5}


@pytest.mark.parametrize(
    ("question", "topic", "wanted"),
    [
        ("What does the handbook say about dogs?", "dogs", "dogs the handbook"),
        ("what does Costco say about climate change", "Costco climate change", "climate change Costco"),
        ("Is there any information on parking in these documents?", "parking", "parking in these documents there any"),
        ("Which documents mention COVID?", "COVID", "COVID documents"),
        ("Tell me about the Halcyon", "the Halcyon", "the Halcyon"),
        *((other, other, other) for other in (
            "How many people know about the plan?", "What is the book about?", "What is written on the door?",
            "What did they decide about the mole?",
        )),
    ],
)  # fmt: skip
def test_who_is_asked_to_tell_is_not_the_topic(question: str, topic: str, wanted: str) -> None:
    assert topic_of(question) == topic
    assert looked_for(question, understand(question)) == wanted
