"""What stands above a line tells what it is about, with the real embedding model."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rag_core import Library
from rag_core.answering.encoding import Encoder
from rag_core.answering.passages import merge_hits
from rag_core.answering.strategies.candidates import gather
from rag_core.answering.strategies.extractive import extract
from rag_core.domain import Hit, Section
from tests.conftest import add_text
from tests.rag_core.answering.parts import hit

GARDENS = """# Gardens of the town

## Rose court

- Opened in 1931
- 42 benches
- Entrance: 3 euros

## Fern valley

- Opened in 1958
- 17 ponds

## Herb terrace

- 26 benches
- Entrance: 5 euros
"""


def sectioned(text: str, *called: str) -> Hit:
    """A hit on a document whose sections are the text's headings."""
    found = [Section(match[2], len(match[1]), 1, match.start()) for match in re.finditer(r"(?m)^(#+) (.+)$", text)]
    made = hit(text, document="gardens", section=found[1].title, called=called)
    return replace(made, document=replace(made.document, title=found[0].title, sections=tuple(found)))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many benches are in the rose court?", "42 benches"),
        ("How many benches are on the herb terrace?", "26 benches"),
        ("How much is the entrance to the herb terrace?", "Entrance: 5 euros"),
        ("When was the fern valley opened?", "Opened in 1958"),
    ],
)
def test_the_line_below_the_heading_that_is_asked_for_answers_alone(
    question: str, said: str, real_encoder: Encoder
) -> None:
    found = extract(question, [sectioned(GARDENS)], real_encoder)
    assert [quote.text for quote in found.quotes] == [said]
    assert not found.abstained


@pytest.mark.parametrize(
    "question", ["How many benches are in the fern valley?", "How much is the entrance to the Fern valley?"]
)
def test_what_another_heading_has_is_no_answer(question: str, real_encoder: Encoder) -> None:
    assert extract(question, [sectioned(GARDENS, "Fern")], real_encoder).abstained


def test_what_a_line_lacks_and_where_it_stands_are_told(real_encoder: Encoder) -> None:
    evidence = gather("How many benches are in the fern valley?", [sectioned(GARDENS)], real_encoder)
    assert evidence is not None
    columns = [evidence.column(name) for name in ("missed", "section_named", "other_section")]
    known = {unit.quote.text: tuple(column[place] for column in columns) for place, unit in enumerate(evidence.units)}
    assert known["17 ponds"] == (1, 1, 0)
    assert known["42 benches"][1:] == (0, 1)


@pytest.mark.parametrize(("called", "names"), [("Rose", ()), ("Fern", ()), ("Gardens", ("Gardens",))])
def test_a_section_gives_its_document_no_name(called: str, names: tuple[str, ...]) -> None:
    (passage,) = merge_hits([sectioned(GARDENS, called)])
    assert passage.names == names


def test_each_line_is_read_below_its_own_heading(library: Library) -> None:
    machines = {
        "Lathe": ("It weighs 340 kilograms.", "Its motor has 2.2 kilowatts."),
        "Band saw": ("Its motor has 1.5 kilowatts.", "It is oiled every week."),
        "Drill press": ("It weighs 120 kilograms.", "It is oiled every month."),
    }
    sections = ("\n\n".join((f"## {name}", *lines)) for name, lines in machines.items())
    add_text(library, "machines.md", "\n\n".join(("# Machines of the workshop", *sections)))
    answer = library.ask("What is the motor of the band saw?")
    assert [one.text for one in answer.sentences] == ["Its motor has 1.5 kilowatts."]
