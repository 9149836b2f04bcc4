"""Which documents mention something, through the texts_library."""

from __future__ import annotations

import pytest

from rag_core import Library

TEXTS = {
    "letter-one.md": "# Letter to the harbour\n\nThe crane lifts 20 tonnes. Coffee beans are sold at the kiosk.",
    "letter-two.md": "# Letter to the school\n\nThe roof leaks.\n\nWe ordered the coffee and the beans apart, as ever.",
    "letter-three.md": "# Letter to the museum\n\nThe museum buys coffee beans from Veyra.",
    "recipe.md": "# Bread\n\nFlour, water, salt and walnuts.",
}

OF_COFFEE = {"harbour", "school", "museum"}


@pytest.mark.parametrize(
    ("question", "first", "titles"),
    [
        ("Which documents mention the museum?", "1 document mentions “the museum”:", {"museum"}),
        ("How many letters contain coffee beans?", "3 letters mention “coffee beans”:", OF_COFFEE),
        ("In which file is the crane mentioned?", "1 file mentions “the crane”:", {"harbour"}),
        ("Which letter has a crane?", "1 letter mentions “a crane”:", {"harbour"}),
        ("list all documents that talk about walnuts", "1 document mentions “walnuts”:", {"Bread"}),
    ],
)  # fmt: skip
def test_the_documents_that_hold_the_words(texts_library: Library, question: str, first: str, titles: set[str]) -> None:
    answer = texts_library.ask(question)
    assert answer.sentences[0].text == first
    assert {title.rpartition(" ")[2] for title in (citation.title for citation in answer.citations)} == titles
    for sentence, citation in zip(answer.sentences[1:], answer.citations, strict=True):
        assert sentence.text == f"{citation.title}: {citation.text}"


@pytest.mark.parametrize(
    "question",
    [
        "Which documents mention the moon landing?", "Which cranes are about 20 tonnes?",
        "What does the letter mention?", "Which letter is the longest?", "Which document has a crane?",
        "Which letter has no crane?", "How many tonnes does the crane lift?",
    ],
)  # fmt: skip
def test_other_questions_go_on_to_the_passages(texts_library: Library, question: str) -> None:
    assert "mention" not in texts_library.ask(question).sentences[0].text.partition("Perhaps")[0]
