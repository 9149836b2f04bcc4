"""Days of a calendar in any of the forms that texts write them in."""

from __future__ import annotations

import pytest

from rag_core.text.days import find_days


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What happens on 6 May?", [(5, 6, 0)]),
        ("May 6th, 2025 at 6 pm", [(5, 6, 2025)]),
        ("am 6. Mai 2025", [(5, 6, 2025)]),
        ("le 1er août", [(8, 1, 0)]),
        ("el 3 de junio de 2024", [(6, 3, 2024)]),
        ("06.05.2025 bis 7.5.", [(5, 6, 2025), (5, 7, 0)]),
        ("2025-05-06", [(5, 6, 2025)]),
        ("31/12/99", [(12, 31, 1999)]),
        ("version 1.2.3 of 10.5 kg in May 2025", []),
    ],
)
def test_days_are_found_in_any_form(text: str, said: list[tuple[int, int, int]]) -> None:
    assert [(day.month, day.day, day.year) for day in find_days(text)] == said


def test_days_are_the_same_unless_both_say_another_year() -> None:
    (asked,), (dated,), (other,) = find_days("6 May"), find_days("06.05.2025"), find_days("May 6, 2024")
    assert asked.is_same(dated) and asked.is_same(other)
    assert not dated.is_same(other)
