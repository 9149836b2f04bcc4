"""Authors of papers: names below the title, in the arrangements that journals and archives have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_core.domain import Page
from rag_core.reading.front import Front, FrontLine, front_of
from rag_core.reading.organisations import find_organisation
from rag_core.reading.people import find_authors

TITLE = "Terns and Their Winds"
STAMP = FrontLine("arXiv:2105.01234v2 [cs.LG] 3 May 2021", 1, 35.0, 0.25, 0.75)


def front(rows: Sequence[Sequence[str]], title: str = TITLE) -> Front:
    """A first page: its title, the stamp at its edge, and lines side by side in rows."""
    lines = [FrontLine(title, 1, 1.7, 0.10, 0.12), STAMP]
    for number, row in enumerate(rows):
        top = 0.15 + 0.02 * number
        lines += [FrontLine(text, 1, 1.1, top, top + 0.015) for text in row]
    return Front(tuple(lines), " ".join(line.text for line in lines))


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            [["Ada Lund∗", ", Piet Q. Hamre†", ", Ines Kolar and Runa van der Dahl†,‡"], ["†Department of Birds"]],
            "Ada Lund, Piet Q. Hamre, Ines Kolar, Runa van der Dahl",
        ),
        (
            [
                ["Ada Lund", "Piet Hamre"], ["Veyra Research", "Veyra Research"], ["North Harbour", "North Harbour"],
                ["ada@veyra.example", "piet@veyra.example"],
            ],
            "Ada Lund, Piet Hamre",
        ),
        (
            [["Ada Lund"], ["DeepTern"], ["Veyra, UK"], ["ada@tern.example"], ["Piet Hamre"], ["DeepTern"],
             ["piet@tern.example"], ["Abstract"], ["Kolar Hamre"]],
            "Ada Lund, Piet Hamre",
        ),
        ([["Ada Lund and Piet Hamre"], ["OpenTern"], ["{ada, piet}@tern.example"]], "Ada Lund, Piet Hamre"),
        ([["A Long Subtitle That Goes On"], ["Ada Lund,1∗ Piet Hamre1,2"], ["1Tern AI"]], "Ada Lund, Piet Hamre"),
        ([["Ada Lund¹, Piet Hamre²"], ["Tern AI"], ["These authors contributed to this work equally"]],
         "Ada Lund, Piet Hamre"),
        ([["We study how the terns of the north fly against the winds of autumn and"]], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_names_below_the_title(rows: Sequence[Sequence[str]], names: str) -> None:
    assert find_authors("", TITLE, "paper", front(rows)) == names


def test_authors_in_cells_of_one_line_are_several_and_where_they_work_is_no_name_of_both() -> None:
    pages = [Page(1, "Terns and Their Winds\nAda Lund\tPiet Hamre\nUniversity of Veyra\tInstitute of Coasts\n")]
    assert find_authors("", TITLE, "paper", front_of(pages)) == "Ada Lund, Piet Hamre"
    assert find_organisation(front_of(pages), TITLE, ("terns.pdf",), "") == ""


def test_only_what_people_write_has_authors_below_its_title() -> None:
    assert find_authors("", TITLE, "invoice", front([["Ada Lund"]])) == ""
