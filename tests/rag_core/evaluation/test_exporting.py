"""Exports: question sets come back equal, spreadsheets run nothing, and JSON has everything."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.domain import Configuration, Estimate, Found, Gold, Question, Result, Run, Sentence
from rag_core.evaluation.files.cells import defused, joined, original, parted
from rag_core.evaluation.files.exporting import as_csv, as_json, questions_as_csv, questions_as_jsonl
from rag_core.evaluation.files.importing import read_questions

# Without the character that stands for damaged ones, which reading tells of.
_characters = st.characters(
    exclude_categories=["Cc", "Cs"], include_characters="\n\t=+-@'|[]\",;\\ ", exclude_characters="\ufffd"
)
_text = st.text(_characters, max_size=30).map(lambda text: text.replace("\r", "").strip())
_filled = _text.filter(bool)
_gold = st.builds(Gold, document=_filled, page=st.none() | st.integers(1, 9999), excerpt=_text)
_questions = st.builds(
    Question,
    id=_filled,
    text=_filled.map(lambda text: " ".join(text.split())).filter(lambda text: any(map(str.isalnum, text))),
    references=st.lists(_filled, max_size=3, unique=True).map(tuple),
    gold=st.lists(_gold, max_size=3, unique=True).map(tuple),
    answerable=st.booleans(),
    origin=st.sampled_from(["typed", "uploaded", "drafted", "asked", "sample"]),
    note=_text,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_questions, min_size=1, max_size=4, unique_by=lambda question: question.id))
def test_a_set_comes_back_as_it_was(questions: list[Question]) -> None:
    for name, data in (("a.csv", questions_as_csv(questions)), ("a.jsonl", questions_as_jsonl(questions))):
        report = read_questions(name, data)
        assert list(report.questions) == questions
        assert not report.problems
        assert not report.notes


@given(st.text(_characters | st.sampled_from("\r＝＋－＠")))
def test_defusing_is_undone(text: str) -> None:
    assert original(defused(text)) == text
    assert defused(text).lstrip()[:1] not in tuple("=+-@＝＋－＠")


@given(st.lists(_text, max_size=4))
def test_answers_in_a_cell_are_parted_again(answers: list[str]) -> None:
    assert [part for part in parted(joined(answers)) if part] == [answer for answer in answers if answer]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "\n=cmd|' /C calc'!A0", "'=1", "＝1"]
)
def test_formulas_are_defused(text: str) -> None:
    assert defused(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "1-2", "'quoted'", "−1", "3"])
def test_other_texts_stay(text: str) -> None:
    assert defused(text) == text


def a_run(name: str = "as it is", **changes: object) -> Run:
    return Run(
        id="r-" + name, group="g", set_id="s", set_name="Set", configuration=Configuration(name, {"retrieval.k": 5}),
        answers=True, state="done", done=1, total=1, seed=0, created_at=datetime(2025, 3, 1, 12, tzinfo=UTC),
        settings=MappingProxyType({"retrieval": {"k": 5}}), metrics={"mrr": Estimate(0.5, 0.1, 0.9, 3)}, **changes,
    )  # type: ignore[arg-type]  # fmt: skip


def a_result(**changes: object) -> Result:
    question = Question("q1", "=HYPERLINK(1)", ("+1", "two"), (Gold("a.pdf", 3), Gold("b.md")))
    found = Found(1, "d1", "=A title", 3, "iii", 0, 5, "words", 0.5, True, (0,))
    values: dict[str, object] = {
        "found": (found,), "answer": "@SUM(A1)", "sentences": (Sentence("@SUM(A1)", (1,)),), "abstained": False,
        "confidence": 0.25, "metrics": {"mrr": -0.5, "rouge_l": None, "ndcg": float("nan")},
        "latency_ms": {"search": 12.5}, "tokens": {"prompt": 7}, "notes": ("-a", "b"),
    }  # fmt: skip
    return Result(question, **{**values, **changes})  # type: ignore[arg-type]


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_results_as_csv() -> None:
    data = as_csv([(a_run(), [a_result(), a_result(metrics={"extra": 1.0})]), (a_run("-b"), [a_result(error="gone")])])
    assert data.startswith(b"\xef\xbb\xbf")
    first, second, third = rows_of(data)
    assert (first["question"], first["answer"], first["mrr"]) == ("'=HYPERLINK(1)", "'@SUM(A1)", "-0.5")
    assert (first["rouge_l"], first["ndcg"], first["extra"], second["extra"]) == ("", "", "", "1.0")
    assert (first["stage_search_ms"], first["tokens_prompt"], first["abstained"]) == ("12.5", "7", "no")
    assert (first["references"], first["gold"]) == ("'+1 || two", "a.pdf, page 3 || b.md")
    assert (first["found"], first["notes"]) == ("'=A title, page iii", "'-a || b")
    assert (third["configuration"], third["error"]) == ("'-b", "gone")


def test_nothing_at_all_is_a_head_alone() -> None:
    assert rows_of(as_csv([])) == []
    assert json.loads(as_json([]))["runs"] == []
    assert read_questions("a.csv", questions_as_csv([])).questions == ()
    assert questions_as_jsonl([]) == b""


def test_results_as_json_have_everything_and_no_nan() -> None:
    result = a_result(answer="lone \ud800 half")
    (run,) = json.loads(as_json([(a_run(), [result])]))["runs"]
    assert (run["created_at"], run["settings"]) == ("2025-03-01T12:00:00+00:00", {"retrieval": {"k": 5}})
    assert run["metrics"]["mrr"] == {"mean": 0.5, "low": 0.1, "high": 0.9, "count": 3}
    (kept,) = run["results"]
    assert kept["metrics"] == {"mrr": -0.5, "rouge_l": None, "ndcg": None}
    assert kept["question"]["gold"][0] == {"document": "a.pdf", "page": 3, "excerpt": ""}
    assert kept["found"][0]["text"] == "words"
    assert kept["answer"] == "lone ? half"
