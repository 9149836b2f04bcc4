"""Extractions as texts."""

from __future__ import annotations

from dataclasses import replace

from rag_core.answering.passages import merge_hits, quotes
from rag_core.answering.quotations import quoted
from rag_core.answering.strategies.composing import Row
from rag_core.answering.strategies.extractive import Extraction
from tests.rag_core.answering.parts import STAFF, hit

EMPLOYED, LEADS = (quote for quote in quotes(merge_hits([STAFF])) if quote.kind == "sentence")


def test_each_quote_is_a_paragraph_with_its_number() -> None:
    text, sentences, citations = quoted(Extraction((EMPLOYED, LEADS), 0.9, False))
    assert text == f"{EMPLOYED.text} [1]\n\n{LEADS.text} [2]"
    assert [one.citations for one in sentences] == [(1,), (2,)]
    assert [one.text for one in citations] == [EMPLOYED.text, LEADS.text]


def test_the_lead_stands_first_and_cites_its_quote() -> None:
    text, sentences, citations = quoted(
        Extraction((EMPLOYED,), 0.9, False, lead="People, 2018: 2,310", lead_quotes=(EMPLOYED,))
    )
    assert text == f"People, 2018: 2,310 [1]\n\n{EMPLOYED.text} [1]"
    assert len(sentences) == 2
    assert len(citations) == 1


def test_what_the_lead_says_already_is_not_quoted_again() -> None:
    extraction = Extraction((EMPLOYED, LEADS), 0.9, False, lead=EMPLOYED.text.rstrip("."), lead_quotes=(EMPLOYED,))
    text, _, citations = quoted(extraction)
    assert text == f"{EMPLOYED.text.rstrip('.')} [1]\n\n{LEADS.text} [2]"
    assert len(citations) == 2


def test_an_abstention_says_what_comes_near_and_its_doubt() -> None:
    assert quoted(Extraction((), 0.0, True))[0] == "Not found in these documents."
    near = Extraction((LEADS, EMPLOYED), 0.2, True, doubt="Not sure.")
    text, sentences, citations = quoted(near)
    assert text == f"Perhaps: {LEADS.text} [1]\n\nNot sure."
    assert [one.citations for one in sentences] == [(1,), ()]
    assert [one.text for one in citations] == [STAFF.text[citations[0].start : citations[0].end]]
    led = quoted(replace(near, lead="People, 2018: 2,310", lead_quotes=(EMPLOYED,)))
    assert led[0] == "Perhaps: People, 2018: 2,310 [1]\n\nNot sure."


def test_documents_that_answer_alike_are_told_apart() -> None:
    hits = [
        hit("An adult pays 12.40 crowns from Aldhaven to Tolsund.", document="handbook 2019"),
        hit("An adult pays 15.80 crowns from Aldhaven to Tolsund.", document="handbook 2024"),
        hit("Dogs travel free of charge.", document="leaflet"),
    ]
    old, new, dogs = quotes(merge_hits(hits))
    text, sentences, _ = quoted(Extraction((new, old, dogs), 0.9, False))
    assert text.startswith(
        "Handbook 2024: An adult pays 15.80 crowns from Aldhaven to Tolsund. [1]\n\nHandbook 2019: An"
    )
    assert sentences[2].text == "Dogs travel free of charge."
    assert quoted(Extraction((new, dogs), 0.9, False))[1][0].text == new.text
    lead = Extraction((new, old), 0.9, False, lead="Adult, Tolsund: 15.80 crowns", lead_quotes=(new,))
    assert quoted(lead)[1][0].text == "Handbook 2024: Adult, Tolsund: 15.80 crowns"
    of_both = quoted(replace(lead, lead="3.40 crowns: 15.80 − 12.40 = 3.40", lead_quotes=(new, old)))
    assert of_both[1][0].text == "3.40 crowns: 15.80 − 12.40 = 3.40"


def test_what_is_compared_is_a_table() -> None:
    halcyon, tern = quotes(merge_hits([hit("The Halcyon carries 34 cars."), hit("The Tern carries 10 cars.", page=2)]))
    rows = (Row("Halcyon", halcyon.text, halcyon), Row("Tern", "10 | 12 cars", tern))
    text, sentences, citations = quoted(Extraction((halcyon, tern), 0.9, False, rows=rows))
    assert text == (
        "| | What it says |\n|---|---|\n| Halcyon | The Halcyon carries 34 cars. [1] |\n| Tern | 10 / 12 cars [2] |"
    )
    assert [one.text for one in sentences] == ["Halcyon The Halcyon carries 34 cars.", "Tern 10 / 12 cars"]
    assert len(citations) == 2
