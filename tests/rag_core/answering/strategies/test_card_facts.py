"""What cards know of documents, through the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core import Library, Settings, Upload
from rag_core.domain import Scope

PAPER = """Terns and Their Winds

by Ada Lund, Piet Hamre and Ines Kolar

3 May 2021

Abstract
We introduce TernNet, a new model of how terns fly. It was trained on 4,000 hours of film and is right for 91 % of the
flights of one autumn.
"""
REPORT = """# Storm report of the harbour

Written by Runa Dahl

The storm of 4 November 2022 broke two cranes. The author of the warning was not at his desk.
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        for event in opened.add([Upload("terns.txt", PAPER.encode()), Upload("storm.md", REPORT.encode())]):
            assert event.error is None
        yield opened


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who wrote the TernNet paper?", "Ada Lund, Piet Hamre and Ines Kolar wrote “Terns and Their Winds”."),
        ("Who is the first author of the terns?", "Ada Lund is the first author of “Terns and Their Winds”."),
        ("Name the last author of TernNet", "Ines Kolar is the last author of “Terns and Their Winds”."),
        ("who wrote the storm report?", "Runa Dahl wrote “Storm report of the harbour”."),
        ("How many pages does the storm report have?", "“Storm report of the harbour” has 1 page."),
        ("When was the paper on terns published?", "“Terns and Their Winds” is of 3 May 2021."),
    ],
)  # fmt: skip
def test_facts_of_documents(library: Library, question: str, said: str) -> None:
    answer = library.ask(question)
    assert [sentence.text for sentence in answer.sentences] == [said]
    assert answer.outcome == "answered"
    for citation in answer.citations:
        assert citation.text in library.page(citation.document_id, citation.page).text
    assert bool(answer.citations) != ("pages" in question)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the warning?", "Who wrote GullNet?", "Who wrote this?", "How many pages does a passport have?",
        "How many hours of film was TernNet trained on?", "When did the storm break two cranes?",
    ],
)  # fmt: skip
def test_other_questions_are_answered_from_passages_or_not_at_all(library: Library, question: str) -> None:
    assert "wrote “" not in library.ask(question).text
    assert "is of " not in library.ask(question).text


def test_this_is_the_document_that_was_chosen(library: Library) -> None:
    paper = next(one.id for one in library.documents() if "Terns" in one.title)
    answer = library.ask("Who are the authors?", scope=Scope(documents=(paper,)))
    assert answer.sentences[0].text.startswith("Ada Lund, Piet Hamre and Ines Kolar")


def test_all_documents_are_told_of_where_all_are_meant(library: Library) -> None:
    answer = library.ask("Who wrote these documents?")
    assert {citation.document_id for citation in answer.citations} == {one.id for one in library.documents()}


def test_a_conversation_goes_on_with_this_paper(library: Library, tmp_path: Path) -> None:
    first = library.ask("How many hours of film was TernNet trained on?")
    assert "4,000 hours" in first.text
    again = library.ask("Who wrote this paper?", conversation=first.conversation)
    assert again.sentences[0].text.startswith("Ada Lund")
