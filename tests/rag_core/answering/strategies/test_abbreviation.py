"""What abbreviations stand for, as the documents spell them out."""

from __future__ import annotations

import pytest

from rag_core import Library

TEXTS = {
    "paper.md": "# Learning to reason\n\nWe call this the Self-Taught Reasoner (STaR). STaR learns from its own "
    "rationales, and STaR is evaluated on arithmetic.",
    "vertrag.md": "# Vertrag\n\nDie Allgemeinen Geschäftsbedingungen (AGB) gelten. Der MDK prüft.",
    "glossary.md": "# Terms\n\nBOM: bill of materials\n\nPTO: 27 days",
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What does STaR stand for?", "STaR: Self-Taught Reasoner"),
        ("Wofür steht AGB?", "AGB: Allgemeinen Geschäftsbedingungen"),
        ("What is BOM short for?", "BOM: bill of materials"),
    ],
)
def test_an_abbreviation_is_spelt_out_with_where_it_stands(texts_library: Library, question: str, said: str) -> None:
    answer = texts_library.ask(question)
    assert [sentence.text for sentence in answer.sentences] == [said]
    assert answer.citations[0].text == said.partition(": ")[2]


def test_what_is_nowhere_spelt_out_is_asked_of_the_passages(texts_library: Library) -> None:
    assert texts_library.ask("What does PTO stand for?").text != "PTO: 27 days"
