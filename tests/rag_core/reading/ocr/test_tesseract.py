"""Tesseract: its table of words as lines, and what is said where it is missing."""

from __future__ import annotations

import shutil

import pytest

from rag_core.errors import ModelUnavailable
from rag_core.reading.ocr.base import Options
from rag_core.reading.ocr.tesseract import open_recogniser, parse
from tests.rag_core.scans import sheet

HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"


def test_words_of_a_line_are_one_up_to_a_gap() -> None:
    rows = ["4\t1\t1\t1\t1\t0\t10\t20\t400\t20\t-1\t", "5\t1\t1\t1\t1\t1\t10\t20\t50\t20\t90\tTwo"]
    rows += ['5\t1\t1\t1\t1\t2\t65\t22\t60\t20\t80\t"words', "5\t1\t1\t1\t1\t3\t300\t20\t50\t20\t70\tcell"]
    first, second = parse(HEAD + "\n".join(rows) + "\n")
    assert (first.text, second.text) == ('Two "words', "cell")
    assert first.corners == ((10, 20), (125, 20), (125, 42), (10, 42))
    assert 0.8 < first.certainty < 0.9


def test_a_program_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ModelUnavailable, match="not installed") as caught:
        open_recogniser(Options("tesseract", "eng", 1))
    assert "apt install tesseract-ocr" in caught.value.help


@pytest.mark.skipif(not shutil.which("tesseract"), reason="Tesseract is not installed")
def test_it_reads_a_page_that_lies_on_its_side() -> None:
    found = open_recogniser(Options("tesseract", "eng", 1)).read(sheet(["The ferry leaves at seven."] * 5, turned=90))
    assert found.turned == 270
    assert found.lines[0].text == "The ferry leaves at seven."
