"""What cards know of documents, through the library."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import docx
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

MAIL = b"""From: Runa Dahl <runa@example.org>
To: Piet Hamre <piet@example.org>
Cc: harbour@example.org
Subject: Cranes for the quay
Date: Tue, 08 Apr 2025 09:30:00 +0200
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=part

--part
Content-Type: text/plain

Ines sent the drawings to the yard on Monday. They cost 90 euros.
--part
Content-Type: application/pdf; name="cranes-2025.pdf"

%PDF
--part--
"""


def lease() -> bytes:
    """A Word file that was last changed on a day."""
    made, data = docx.Document(), io.BytesIO()
    made.add_heading("Lease of the ferry", 1)
    made.add_paragraph("Written by Ada Vik")
    made.add_paragraph("The rent is 700 euros a month.")
    made.core_properties.modified = datetime(2024, 6, 9, 8, 30)
    made.save(data)
    return data.getvalue()


FARES = "Route;Adult;Child\nTolsund;15,80;7,90\nCastra;12,40;6,20\nVoss;9,00;4,50\n"
LETTER = """Riverside Clinic

12 September 2024

Dear Dr Aldana,

Re: Mrs Judith Okoro, born 3 May 1957

Thank you for referring Mrs Okoro, whom I saw on 9 September 2024. Ibuprofen must be stopped.

With kind regards
Dr Helen Marsh, consultant cardiologist
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data"))) as opened:
        uploads = [
            Upload("terns.txt", PAPER.encode()),
            Upload("storm.md", REPORT.encode()),
            Upload("letter.txt", LETTER.encode()),
            Upload("fares.csv", FARES.encode()),
        ]
        for event in opened.add([*uploads, Upload("cranes.eml", MAIL), Upload("lease.docx", lease())]):
            assert event.error is None
        opened.storage.settle()
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
        ("When was the lease last changed?", "“Lease of the ferry” was last changed on 9 June 2024, as its file says."),
        ("Who sent the mail about cranes?", "Runa Dahl <runa@example.org> sent “Cranes for the quay”."),
        ("Who was the cranes mail sent to?",
         "“Cranes for the quay” was sent to Piet Hamre <piet@example.org> and harbour@example.org."),
        ("When was the mail on cranes sent?", "“Cranes for the quay” was sent on Tue, 08 Apr 2025 09:30:00 +0200."),
        ("Which file is attached to the cranes mail?", "Attached to “Cranes for the quay”: cranes-2025.pdf."),
        ("Who wrote the letter to Dr Aldana?", "Helen Marsh wrote “Riverside Clinic”."),
        ("When was the letter about Mrs Okoro written?",
         "“Riverside Clinic” is of 12 September 2024."),
        ("Which columns does the fares table have?", "“fares” has 3 columns: Route, Adult, Child."),
        ("Wie viele Zeilen hat die Tabelle fares?", "“fares” has 3 rows."),
        ("How many rows are in the fares file?", "“fares” has 3 rows."),
        ("Von wem ist die Mail Cranes?", "Runa Dahl <runa@example.org> sent “Cranes for the quay”."),
    ],
)  # fmt: skip
def test_facts_of_documents(library: Library, question: str, said: str) -> None:
    answer = library.ask(question)
    assert [sentence.text for sentence in answer.sentences] == [said]
    assert answer.outcome == "answered"
    for citation in answer.citations:
        assert citation.text in library.page(citation.document_id, citation.page).text
    assert bool(answer.citations) != ("pages" in question or "changed" in question)


@pytest.mark.parametrize(
    "question",
    [
        "How many rows are to Bergen?",
        "Who wrote the warning?", "Who wrote GullNet?", "Who wrote this?", "How many pages does a passport have?",
        "Who sent the drawings to the yard?", "Who sent the storm report?",
        "Which file is attached to the storm report?",
        "How many hours of film was TernNet trained on?", "When did the storm break two cranes?",
    ],
)  # fmt: skip
def test_other_questions_are_answered_from_passages_or_not_at_all(library: Library, question: str) -> None:
    assert "wrote “" not in library.ask(question).text
    assert "is of " not in library.ask(question).text
    assert "“Cranes" not in library.ask(question).text


def test_this_is_the_document_that_was_chosen(library: Library) -> None:
    paper = next(one.id for one in library.documents() if "Terns" in one.title)
    answer = library.ask("Who are the authors?", scope=Scope(documents=(paper,)))
    assert answer.sentences[0].text.startswith("Ada Lund, Piet Hamre and Ines Kolar")


def test_all_documents_are_told_of_where_all_are_meant(library: Library) -> None:
    answer = library.ask("Who wrote these documents?")
    assert {citation.document_id for citation in answer.citations} == {
        one.id for one in library.documents() if one.title != "fares"
    }


def test_a_conversation_goes_on_with_this_paper(library: Library, tmp_path: Path) -> None:
    first = library.ask("How many hours of film was TernNet trained on?")
    assert "4,000 hours" in first.text
    again = library.ask("Who wrote this paper?", conversation=first.conversation)
    assert again.sentences[0].text.startswith("Ada Lund")


def test_of_many_tables_it_is_told_how_many_are_left(library: Library) -> None:
    tables = [f"## Pier {n}\n\n| Boat | Length |\n|---|---|\n| B{n} | {n}2 |\n| C{n} | {n}4 |\n" for n in range(1, 9)]
    *_, last = library.add([Upload("moorings.md", "\n".join(["# Moorings", *tables]).encode())])
    assert last.document is not None
    library.storage.settle()
    try:
        answer = library.ask("How many rows do the moorings have?")
    finally:
        library.remove(last.document.id)
    assert answer.text.count(" has 2 rows.") == 5
    assert "It has 3 more tables." in answer.text
