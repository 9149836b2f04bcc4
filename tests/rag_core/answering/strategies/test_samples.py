"""Everyday questions of the sample documents, asked as a person would, without a language model."""

from __future__ import annotations

from rag_core import Library
from tests.conftest import PROJECT


def test_everyday_questions_of_the_samples(library: Library) -> None:
    folder = PROJECT / "data" / "samples"
    list(library.add(sorted(path for path in folder.iterdir() if path.suffix in (".pdf", ".md", ".txt"))))
    library.storage.settle()

    misspelt = library.ask("how mutch is the fair for a bycicle")
    assert misspelt.trace.query == "how much is the fair for a bicycle"
    assert "3.00" in misspelt.text

    labelled = library.ask("how much is it to take a car to Tolsund").text
    assert labelled.startswith("Car up to 5 metres, with driver, Tolsund: 52.50 crowns [1]")
    assert "\n\nVeyra Harbour: 41.00 crowns; " in labelled  # what else its row has, and that cell once
    assert labelled.count("52.50") == 1

    # Where no figure is clearly asked for, the heads tell which cell is; and a row says each cell with its head.
    for question, said in {
        "At what wind speed must the Tern stay in harbour?": "Tern, Mean wind, m/s: 14 [1]",
        "How often is the hull of the Halcyon painted?": "Painting of the hull, Halcyon: 24 months [1]",
        "How much water does Lake Ormen give in a dry summer?": "Lake Ormen, Yield in a dry summer: 900 cubic metres",
        "What is done when there is too much iron in the water?": "Iron, What to do above it: Flush the pipes at",
        "What is the fare for a bicycle?": "Bicycle, Veyra Harbour: 3.00 crowns; Tolsund: 3.00 crowns; Little Marn",
        "How much cheaper is a child than an adult from Aldhaven to Tolsund?": "7.90 crowns: 7.90 − 15.80 = −7.90",
        "By how much does an adult's fare differ from a child's to Tolsund?": "7.90 crowns: 15.80 − 7.90 = 7.90",
        "Which is cheaper, a bicycle or a car to Tolsund?": "Bicycle is lower: 3.00 against 52.50",
        "Which of the two ferries has more wheelchair places?": "There are four places for wheelchairs on the Halcyon",
        "Compare the Halcyon and the Tern": (
            "| | What it says |\n|---|---|\n| Halcyon | The Halcyon is the larger ship. [1] |"
        ),
    }.items():
        answer = library.ask(question)
        assert answer.text.startswith(said)
        assert all(one.text in library.page(one.document_id, one.page).text for one in answer.citations)

    both = library.ask("How often is the hull of the Halcyon painted, and what is the capital of Peru?")
    assert both.text.startswith("Painting of the hull, Halcyon: 24 months [1]")
    assert both.text.endswith("Not found: what is the capital of Peru?")
    handed = {one.chunk_id for one in both.trace.searched.candidates if one.outcome == "passage"}
    assert {hit.chunk_id for hit in both.hits} <= handed
    assert len(both.hits) <= 2 * library.settings.retrieval.k
    assert library.ask("What is the capital of Peru, and what is the capital of Chile?").abstained

    assert "county engineer, Halvor Dahl" in library.ask("Who is Halvor Dahl?").text
    assert "Einar Lund" in library.ask("who wrote the storm report?").text
    near_miss = library.ask("how many passengers did the ferry carry in 2022?")
    assert near_miss.abstained
    assert near_miss.text.startswith("Perhaps: In 2023 the line carried 412,000 passengers")
    assert library.ask("What is the capital of Peru?").text == "Not found in these documents."
