"""Who of several people with a document each, through the texts_library."""

from __future__ import annotations

import pytest

from rag_core import Library

TEXTS = {
    "Profile Runa Dahl.md": "# Runa Dahl\n\nDiver, Tolsund\n\nLicences: sonar, crane, night dives\n\n"
    "2015-2024 Diver at Veyra Salvage.",
    "Profile Ines Kolar.md": "# Ines Kolar\n\nWelder, Skarvey\n\nLicences: welding, sonar\n\n"
    "2019-2024 Welder at Ormen Dry Dock.",
    "Profile Piet van Hamre.md": "# Piet van Hamre\n\nCook, Tolsund\n\nLicences: kitchen, first aid\n\n"
    "2011-2024 Cook on the ferry.",
    "Crane Report.md": "# Crane Report\n\nThe crane was checked by a diver. Sonar was not used.",
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who knows sonar?", {"Runa Dahl: Licences: sonar, crane, night dives",
                              "Ines Kolar: Licences: welding, sonar"}),
        ("Who has experience with first aid?", {"Piet van Hamre: Licences: kitchen, first aid"}),
        ("Who worked at Ormen Dry Dock?", {"Ines Kolar: 2019-2024 Welder at Ormen Dry Dock."}),
        ("Wer arbeitet in Skarvey?", {"Ines Kolar: Welder, Skarvey"}),
    ],
)  # fmt: skip
def test_all_people_whose_document_says_so(texts_library: Library, question: str, said: set[str]) -> None:
    answer = texts_library.ask(question)
    assert {sentence.text for sentence in answer.sentences} == said
    assert {citation.title for citation in answer.citations} == {text.partition(":")[0] for text in said}


@pytest.mark.parametrize(
    "question", ["Who knows how to juggle?", "Who does not know sonar?", "Who hates sonar?", "Who checked the crane?"]
)
def test_other_questions_go_on_to_the_passages(texts_library: Library, question: str) -> None:
    assert not any(sentence.text.startswith("Runa Dahl: ") for sentence in texts_library.ask(question).sentences)


def test_two_people_are_compared_by_the_first_lines_of_their_documents(texts_library: Library) -> None:
    rows = texts_library.ask("Compare Runa Dahl and Ines Kolar").text.splitlines()
    assert [row.partition(":")[0] for row in sorted(rows)] == ["- Ines Kolar", "- Runa Dahl"]
    assert "Licences: welding, sonar" in min(rows) and "Diver at Veyra Salvage" in max(rows)
