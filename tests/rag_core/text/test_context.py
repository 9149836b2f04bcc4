from __future__ import annotations

import pytest

from rag_core.text.context import context_of, embedded_text


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


@pytest.mark.parametrize(
    ("text", "index", "embedded"),
    [
        ("No.\tTown\n1\tOslo\n2\tBern\n3\tRoma", 200, "No.\tTown\n1\tOslo"),
        ("No.\tTown\n1\tOslo\n2\tBern\n3\tRoma", 199, None),
        ("No.\tTown\n" + "1234567890\tOslo\n" * 60 + "1\tBern", 200, "No.\tTown"),
        ("No.\tTown\n" + "1234567890\tOslo\n" * 60 + "1\tBern", 199, None),
        ("No.\tRemark\n1\tIt came late and the lid was broken.\n2\tAll was well, thank you very much.", 900, None),
        ("A paragraph of a long book.\nAnd another\twith a tab.", 900, None),
    ],
)
def test_of_the_rows_of_a_long_table_the_head_is_embedded_and_the_first_of_few(
    text: str, index: int, embedded: str | None
) -> None:
    assert embedded_text(text, index) == (text if embedded is None else embedded)
