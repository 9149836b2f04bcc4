from __future__ import annotations

import pytest

from rag_core.text.context import context_of


@pytest.mark.parametrize(
    ("title", "section", "expected"),
    [
        ("Ferry handbook", "Fares", "Ferry handbook. Fares. "),
        ("Ferry handbook", "", "Ferry handbook. "),
        ("", "3.1 Lost\nthings.", "3.1 Lost things. "),
        ("Fares", "Fares", "Fares. "),
        ("1463", "report-12", ""),
        ("", "", ""),
    ],
)
def test_title_and_section_are_sentences_of_a_line(title: str, section: str, expected: str) -> None:
    assert context_of(title, section) == expected


def test_a_long_name_is_cut_after_a_word() -> None:
    context = context_of("An uncommonly long title " * 9, "x" * 200)
    title, section, _ = context.split(". ")
    assert title.endswith(("long", "title", "uncommonly", "An"))
    assert len(title) <= 72 == len(section)
