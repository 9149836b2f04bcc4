"""Compounds cut where both parts are known."""

from __future__ import annotations

import pytest

from rag_core.text.compounds import split_compound
from rag_core.text.stems import stem


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("kellerpumpen", ("keller", "pumpen")),
        ("vereinsmitglieder", ("verein", "mitglied")),
        ("museumsverein", ("museum", "verein")),
        ("wohnungssuche", ("wohnung", "suche")),
        ("keller", ()),
        ("wasserpumpen", ()),
        ("kellerwasser", ()),
        ("", ()),
    ],
)
def test_parts_of_compounds(word: str, parts: tuple[str, ...]) -> None:
    known = {
        stem(each.lower(), "de") for each in ("Keller", "Pumpen", "Verein", "Mitglied", "Museum", "Wohnung", "Suche")
    }
    assert split_compound(word, "de", known.__contains__) == [stem(part, "de") for part in parts]


def test_languages_without_compounds_are_left_alone() -> None:
    assert split_compound("kellerpumpen", "en", lambda term: True) == []
