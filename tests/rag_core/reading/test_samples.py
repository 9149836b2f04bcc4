"""The sample library: made by its script, and holding the answers that it promises."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from rag_core.reading import Reader

QUESTIONS = json.loads(
    (Path(__file__).resolve().parents[3] / "data" / "samples" / "questions.json").read_text(encoding="utf-8")
)


def test_the_script_makes_the_pdf_that_ships(
    reader: Reader, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.syspath_prepend(str(samples))
    runpy.run_path(str(samples / "make_samples.py"))["make"](tmp_path / "made.pdf")
    # Bytes may differ between versions of zlib; what is read may not.
    assert reader.read(tmp_path / "made.pdf", "x.pdf") == reader.read(samples / "veyra-ferry-handbook.pdf", "x.pdf")


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item["question"][:40])
def test_the_answers_stand_where_the_questions_say(reader: Reader, samples: Path, item: dict[str, object]) -> None:
    if item["answer"] is None:
        assert item["document"] is None
        return
    path = samples / str(item["document"])
    page = reader.read(path, path.name).pages[int(str(item["page"])) - 1]
    numbers = re.findall(r"\d[\d,.]*\d|\d+", str(item["answer"]))
    names = re.findall(r"\b[A-Z][a-z]{3,}\b", str(item["answer"]).partition(" ")[2])
    assert all(word in page.text for word in numbers + names)


def test_there_are_questions_of_both_kinds() -> None:
    answered = [item for item in QUESTIONS if item["answer"]]
    assert len(answered) >= 8
    assert 1 <= len(QUESTIONS) - len(answered) <= 2
    assert {item["document"] for item in answered} == {
        "veyra-ferry-handbook.pdf",
        "water-works-guide.md",
        "storm-report-2019.txt",
    }
