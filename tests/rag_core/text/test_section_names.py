from __future__ import annotations

import pytest

from rag_core.text.section_names import is_called, number_of


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("2 Methods", "Methods"), ("Materials and Methods", "methods"), ("2. MATERIALS & METHODS", "Methods"),
        ("II. METHODOLOGY", "methods"), ("3 Our Approach", "Method"), ("4 Results and Discussion", "results"),
        ("4 Results and Discussion", "Discussion"), ("5. Conclusions and Future Work", "conclusion"),
        ("Executive Summary", "Abstract"), ("Literaturverzeichnis", "References"), ("2.1 Participants", "2.1"),
        ("2.1 Participants", "participants"), ("A. Proofs", "a"), ("Section 3: Pay", "3"), ("Pay", "4 pay"),
        ("Concluding  remarks", "Conclusion"), ("## Methoden", "Methods"),
    ],
)  # fmt: skip
def test_a_section_is_found_by_what_it_is_commonly_called(title: str, name: str) -> None:
    assert is_called(title, name)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Method of payment", "Methods"), ("2.1 Participants", "2"), ("12 Pay", "2"),
        ("Statistical analysis", "Results"),
        ("", ""), ("1", ""), ("Evaluation of the results of others", "Results"), ("Mix it", "m"),
    ],
)  # fmt: skip
def test_others_are_not(title: str, name: str) -> None:
    assert not is_called(title, name)


def test_numbers() -> None:
    titles = ["2.1 Setup", "IV. Results", "Appendix B. Proofs", "I believe", "Mixed results", "3"]
    assert [number_of(title) for title in titles] == ["2.1", "iv", "b", "", "", "3"]
