"""Acronyms found in a question, and the words of texts that spell them."""

from __future__ import annotations

import pytest

from rag_core.text.acronyms import acronyms, contracted, defined, long_forms


def test_acronyms_are_words_of_capitals() -> None:
    assert acronyms("Who is the CEO, and what is spent on R&D by U.S. firms?") == ["CEO", "R&D"]
    assert acronyms("WHO IS THE CEO") == []
    assert acronyms("Who booked BK-3061, and 12-AB?") == []


@pytest.mark.parametrize(
    ("acronym", "text", "form", "is_said"),
    [
        ("CEO", "our Chief Executive\nOfficer and President", "chief executive officer", False),
        ("R&D", "Research and development $ 18,752", "research and development", False),
        ("SG&A", "Selling, general and administrative", "selling, general and administrative", False),
        ("RCAC", "Row and Column Access Control (RCAC) is", "row and column access control", True),
        ("DER", "dividend equivalent rights (“DERs”), which", "dividend equivalent rights", True),
        ("IOT", "the internet of things is", "internet of things", False),
    ],
)
def test_long_forms_are_spelt_by_initials(acronym: str, text: str, form: str, is_said: bool) -> None:
    assert list(long_forms(acronym, text)) == [(form, is_said)]


@pytest.mark.parametrize("text", ["chief of the executive. Officers", "research or development", "the end officers"])
def test_other_words_are_none(text: str) -> None:
    assert not [*long_forms("CEO", text), *long_forms("R&D", text)]


def test_an_acronym_behind_what_it_stands_for_is_found() -> None:
    text = "the chief executive officer (CEO) and the unit (UV)"
    assert [text[start:end] for start, end in defined(text)] == ["CEO"]


def test_what_was_written_out_is_taken_back() -> None:
    said = "How many members in the United States (US) and Canada does the chief executive officer (CEO) count?"
    assert contracted(said) == "How many members in the US and Canada does the CEO count?"
    assert contracted("The boat (an old one) of the US") == "The boat (an old one) of the US"
