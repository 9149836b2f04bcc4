"""Question sets and results as files: CSV that a spreadsheet opens safely, JSON Lines, and JSON with everything."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from rag_core.domain import Gold, Question, Result, Run
from rag_core.domain.serialiser import to_json
from rag_core.evaluation.files.cells import SEPARATOR, defused, joined
from rag_core.evaluation.files.row_questions import COLUMNS

FORMAT = 1
"""The version of the JSON file's form."""


def as_csv(runs: Sequence[tuple[Run, Sequence[Result]]]) -> bytes:
    """Results as CSV: one row a question and run, UTF-8 with a mark so that spreadsheets know it.

    Metrics, milliseconds by stage and tokens have a column each. A text that a spreadsheet would run as a formula has
    an apostrophe in front; numbers stay numbers.
    """
    rows = [_result(run, result) for run, several in runs for result in several]
    head = list(dict.fromkeys(key for row in rows for key in row))
    return csv_of(head, [[row.get(key) for key in head] for row in rows])


def as_json(runs: Sequence[tuple[Run, Sequence[Result]]]) -> bytes:
    """Runs with all their settings, versions and results as one JSON object, UTF-8. What is no number is null."""
    whole = {"format": FORMAT, "runs": [{**to_json(run), "results": to_json(several)} for run, several in runs]}
    return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", errors="replace")


def questions_as_csv(questions: Sequence[Question]) -> bytes:
    """Questions as CSV in the form that `read_questions` reads back, UTF-8 with a mark.

    It comes back equal where texts have neither control characters nor white space at their ends, and a question no
    line breaks: as every question has that was read or typed.
    """
    rows = [_cells(_question(question)) for question in questions]
    return csv_of(list(COLUMNS), [[row.get(name) for name in COLUMNS] for row in rows])


def questions_as_jsonl(questions: Sequence[Question]) -> bytes:
    """Questions as JSON Lines in the form that `read_questions` reads back, UTF-8."""
    lines = (json.dumps(_question(question), ensure_ascii=False) for question in questions)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", errors="replace")


def _question(question: Question) -> dict[str, Any]:
    """A question as an object without what says nothing."""
    gold = [{key: value for key, value in to_json(place).items() if value not in (None, "")} for place in question.gold]
    return {
        "id": question.id,
        "question": question.text,
        **({"answer": list(question.references)} if question.references else {}),
        **({"gold": gold} if gold else {}),
        **({} if question.answerable else {"answerable": False}),
        **({"note": question.note} if question.note else {}),
        "origin": question.origin,
    }


def _cells(values: dict[str, Any]) -> dict[str, Any]:
    """A question's values as cells: one place in columns of its own, several as JSON."""
    gold = values.pop("gold", [])
    places = gold[0] if len(gold) == 1 else {"gold": json.dumps(gold, ensure_ascii=False) if gold else ""}
    answer, answerable = joined(values.get("answer", ())), _yes(values.get("answerable", True))
    return {**values, **places, "answer": answer, "answerable": answerable}


def csv_of(head: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """A table as CSV, UTF-8 with a mark, its formulas defused."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([defused(cell) for cell in head])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8-sig", errors="replace")


def _cell(value: object) -> object:
    """A value as a cell: text defused, numbers as they are, nothing for what is none."""
    if isinstance(value, str):
        return defused(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else ""
    return "" if value is None else value


def _result(run: Run, result: Result) -> dict[str, object]:
    question, found = result.question, result.found
    return {
        "run": run.id, "configuration": run.configuration.name, "question_id": question.id, "question": question.text,
        "answerable": _yes(question.answerable), "references": joined(question.references),
        "gold": SEPARATOR.join(_place(gold) for gold in question.gold), "answer": result.answer,
        "abstained": _yes(result.abstained), "confidence": result.confidence,
        "found": SEPARATOR.join(f"{passage.title}, page {passage.page_label or passage.page}" for passage in found),
        "error": result.error, "notes": SEPARATOR.join(result.notes), **result.metrics,
        **{f"stage_{stage}_ms": spent for stage, spent in result.latency_ms.items()},
        **{f"tokens_{kind}": number for kind, number in result.tokens.items()},
    }  # fmt: skip


def _place(gold: Gold) -> str:
    return gold.document if gold.page is None else f"{gold.document}, page {gold.page}"


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
