"""The sample library: made by its script, and holding the answers that it promises."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from pages.parts import samples as samples_of_the_page
from rag_core.chunking import chunk_document
from rag_core.evaluation.files.importing import read_questions
from rag_core.reading import Reader
from rag_core.services.tables import tables
from rag_core.settings import ChunkingSettings
from rag_core.text.numbers import numbers
from rag_core.text.terms import coverage, terms

SUFFIXES = (".pdf", ".md", ".txt")
NAMES = ("veyra-ferry-handbook.pdf", "water-works-guide.md", "storm-report-2019.txt")
QUESTIONS = samples_of_the_page.questions()


def test_the_script_makes_the_pdf_that_ships(
    reader: Reader, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.syspath_prepend(str(samples))
    runpy.run_path(str(samples / "make_samples.py"))["make"](tmp_path / "made.pdf")
    # Bytes may differ between versions of zlib; what is read may not.
    assert reader.read(tmp_path / "made.pdf", "x.pdf") == reader.read(samples / "veyra-ferry-handbook.pdf", "x.pdf")


def test_every_excerpt_stands_on_its_page(reader: Reader, samples: Path) -> None:
    pages = {path.name: reader.read(path, path.name).pages for path in samples.iterdir() if path.suffix in SUFFIXES}
    for question in QUESTIONS:
        for gold in question.gold:
            assert gold.page is not None
            text = pages[gold.document][gold.page - 1].text
            assert gold.excerpt
            assert plain(gold.excerpt) in plain(text), question.text


def test_references_say_what_the_excerpts_say() -> None:
    for question in QUESTIONS:
        said = " ".join(gold.excerpt for gold in question.gold)
        for answer in question.references:
            assert numbers(answer) <= numbers(said), question.text
            assert numbers(answer) or coverage(terms(answer), terms(said)) >= 0.5, question.text


def test_there_are_questions_of_every_kind() -> None:
    answered = [question for question in QUESTIONS if question.answerable]
    assert len(QUESTIONS) >= 40
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question.text for question in QUESTIONS}) == len(QUESTIONS)
    assert 6 <= len(QUESTIONS) - len(answered) <= 10
    assert all(question.references and question.gold for question in answered)
    assert not any(question.references or question.gold for question in QUESTIONS if not question.answerable)
    assert {gold.document for question in answered for gold in question.gold} == set(NAMES)
    assert any(len(question.gold) > 1 for question in answered)


def test_the_page_and_the_importer_read_the_same_questions() -> None:
    path = samples_of_the_page.FOLDER / "questions.jsonl"
    report = read_questions(path.name, path.read_bytes())
    assert list(report.questions) == QUESTIONS
    assert not report.problems
    assert not report.notes


def plain(text: str) -> str:
    return " ".join(text.split())


def test_a_table_has_the_head_that_is_set_above_it_line_by_line(reader: Reader, samples: Path) -> None:
    parsed = reader.read(samples / "veyra-ferry-handbook.pdf", "x.pdf")
    chunks = chunk_document("d", parsed, ChunkingSettings(), lambda texts: [1] * len(texts))
    stored = [replace(page, lines=()) for page in parsed.pages]
    (table,) = (table for table in tables(stored, chunks) if table.page == 7)
    assert table.rows[:2] == (
        ("Ship", "Mean wind, m/s", "Gusts, m/s", "Wave height, m"),
        ("Halcyon", "20", "27", "3.5"),
    )
    assert (table.heads, stored[6].text[table.start :].startswith("Ship\nMean wind")) == (1, True)
