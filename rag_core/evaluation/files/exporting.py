"""Question sets and results as files: CSV that a spreadsheet opens safely, JSON Lines, and JSON with everything."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence

from rag_core.domain import Gold, Question, Result, Run
from rag_core.evaluation.files.cells import SEPARATOR, defused, joined
from rag_core.plain import plain

FORMAT = 1
"""The version of the JSON file's form."""

_PLACE = ("document", "page", "excerpt")


def as_csv(runs: Sequence[tuple[Run, Sequence[Result]]]) -> bytes:
    """Results as CSV: one row a question and run, UTF-8 with a mark so that spreadsheets know it.

    Metrics, milliseconds by stage and tokens have a column each. A text that a spreadsheet would run as a formula has
    an apostrophe in front; numbers stay numbers.
    """
    results = [result for _, several in runs for result in several]
    metrics, stages, counts = (_keys(results, name) for name in ("metrics", "latency_ms", "tokens"))
    head = [
        "run", "configuration", "question_id", "question", "answerable", "references", "gold", "answer", "abstained",
        "confidence", "found", *metrics, *(f"stage_{stage}_ms" for stage in stages),
        *(f"tokens_{count}" for count in counts), "error", "notes",
    ]  # fmt: skip
    rows: list[list[object]] = []
    for run, several in runs:
        for result in several:
            numbers = [
                *(result.metrics.get(key) for key in metrics),
                *(result.latency_ms.get(key) for key in stages),
                *(result.tokens.get(key) for key in counts),
            ]
            rows.append([run.id, run.configuration.name, *_result_cells(result), *numbers, *_remarks(result)])
    return csv_of(head, rows)


def as_json(runs: Sequence[tuple[Run, Sequence[Result]]]) -> bytes:
    """Runs with all their settings, versions and results as one JSON object, UTF-8. What is no number is null."""
    whole = {"format": FORMAT, "runs": [{**plain(run), "results": plain(several)} for run, several in runs]}
    return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", errors="replace")


def questions_as_csv(questions: Sequence[Question]) -> bytes:
    """Questions as CSV in the form that `read_questions` reads back, UTF-8 with a mark.

    It comes back equal where texts have neither control characters nor white space at their ends, and a question no
    line breaks: as every question has that was read or typed.
    """
    most = max((len(question.gold) for question in questions), default=0)
    numbered = [name if place == 1 else f"{name}_{place}" for place in range(1, max(most, 1) + 1) for name in _PLACE]
    rows = [
        [
            question.id,
            question.text,
            joined(question.references),
            "yes" if question.answerable else "no",
            *(cell for gold in question.gold for cell in (gold.document, gold.page, gold.excerpt)),
            *[""] * (3 * (max(most, 1) - len(question.gold))),
            question.note,
            question.origin,
        ]
        for question in questions
    ]
    return csv_of(["id", "question", "answer", "answerable", *numbered, "note", "origin"], rows)


def questions_as_jsonl(questions: Sequence[Question]) -> bytes:
    """Questions as JSON Lines in the form that `read_questions` reads back, UTF-8."""
    lines = (json.dumps(_question(question), ensure_ascii=False) for question in questions)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", errors="replace")


def _question(question: Question) -> dict[str, object]:
    """A question as an object without what says nothing."""
    gold = [{key: value for key, value in plain(place).items() if value not in (None, "")} for place in question.gold]
    return {
        "id": question.id,
        "question": question.text,
        **({"answer": list(question.references)} if question.references else {}),
        **({"gold": gold} if gold else {}),
        **({} if question.answerable else {"answerable": False}),
        **({"note": question.note} if question.note else {}),
        "origin": question.origin,
    }


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


def _keys(results: Sequence[Result], name: str) -> list[str]:
    """The keys of a mapping over all results, in the order in which they come."""
    return list(dict.fromkeys(key for result in results for key in getattr(result, name)))


def _result_cells(result: Result) -> list[object]:
    question = result.question
    return [
        question.id,
        question.text,
        _yes(question.answerable),
        joined(question.references),
        SEPARATOR.join(_place(gold) for gold in question.gold),
        result.answer,
        _yes(result.abstained),
        result.confidence,
        SEPARATOR.join(f"{found.title}, page {found.page_label or found.page}" for found in result.found),
    ]


def _remarks(result: Result) -> list[object]:
    return [result.error, SEPARATOR.join(result.notes)]


def _place(gold: Gold) -> str:
    return gold.document if gold.page is None else f"{gold.document}, page {gold.page}"


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
