"""Extractions as texts."""

from __future__ import annotations

from rag_core.answering.passages import merge_hits, quotes
from rag_core.answering.quoted import quoted
from rag_core.answering.strategies.extractive import Extraction
from tests.rag_core.answering.parts import STAFF

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


def test_an_abstention_shows_what_is_closest() -> None:
    assert quoted(Extraction((), 0.0, True))[0] == "Not found in these documents."
    text, _, citations = quoted(Extraction((LEADS,), 0.2, True))
    assert text == f"Not found in these documents.\n\nClosest: {LEADS.text} [1]"
    assert citations[0].text == STAFF.text[citations[0].start : citations[0].end]
