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
    assert "Car up to 5 metres, with driver 41.00" in labelled

    assert "county engineer, Halvor Dahl" in library.ask("Who is Halvor Dahl?").text
    assert "Einar Lund" in library.ask("who wrote the storm report?").text
    near_miss = library.ask("how many passengers did the ferry carry in 2022?")
    assert near_miss.abstained
    assert "Closest: In 2023 the line carried 412,000 passengers" in near_miss.text
    assert library.ask("What is the capital of Peru?").text == "Not found in these documents."
