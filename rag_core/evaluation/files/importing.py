"""Reading files of questions: whatever a file holds, a report of what can be used and what is wrong with the rest."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from pydantic_core import from_json

from rag_core.domain import ImportReport, Question, RowProblem
from rag_core.evaluation.files.cells import original
from rag_core.evaluation.files.row_questions import COLUMNS, NAMES, question_of, shown

MAX_BYTES = 32 * 1024 * 1024
MAX_ROWS = 10_000
"""Most rows that are read, whether there is a question in them or not."""

HELP_TEXT = """\
One row for each question, in UTF-8. The first row of a **CSV** file names the columns, in any order; commas, semicolons
or tabs part them. **JSON Lines** has an object a line with the same names; a JSON list of such objects is read as well.

| Column | What it holds |
|---|---|
""" + "".join(f"| {name} | {told} |\n" for name, told in COLUMNS.items())
"""How a file of questions is written, as Markdown, for the page that takes them."""


class Unreadable(Exception):
    """Why no question can be read from a file, or from what is left of it."""


def read_questions(name: str, data: bytes) -> ImportReport:
    """Read a CSV, JSON Lines or JSON file of questions; `name` is the file's own. Never raises for what it holds.

    A row of a problem is a spreadsheet's row in CSV, the line in JSON Lines, and the place of a question, counted from
    1, in a JSON list; 0 where it is the file's.
    """
    taken: dict[str, tuple[Question, int]] = {}
    problems: list[RowProblem] = []
    notes: list[str] = []
    rows = 0
    try:
        for number, row in _rows_of(name.lower(), _decoded(data)):
            if rows == MAX_ROWS:
                notes.append(f"At most {MAX_ROWS:,} rows of a file are read: what follows was left out.")
                break
            rows += 1
            question = question_of(number, row)
            if isinstance(question, list):
                problems += question
            elif question.id in taken:
                wrong = f"The same id, or without ids the same question, as row {taken[question.id][1]}."
                problems.append(RowProblem(number, "id", wrong))
            else:
                taken[question.id] = question, number
        if not rows:
            raise Unreadable("There are no questions in the file.")
    except Unreadable as error:
        problems.append(RowProblem(0, "", str(error)))
    questions, lines = zip(*taken.values(), strict=True) if taken else ((), ())
    return ImportReport(questions, tuple(problems), rows, tuple(notes), lines)


def _decoded(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise Unreadable(f"The file has {len(data) / 1024**2:,.1f} MiB; at most {MAX_BYTES // 1024**2} are taken.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Unreadable("The file is no text in UTF-8: save a spreadsheet as “CSV UTF-8” first.")
    if not text.strip():
        raise Unreadable("The file is empty.")
    return text


def _rows_of(name: str, text: str) -> Iterator[tuple[int, object]]:
    """Rows by their numbers: a mapping by column, or a text of JSON."""
    begin = text.lstrip()[:1]
    if begin == "[":
        yield from enumerate(_listed(text), 1)
    elif begin == "{" or name.endswith((".json", ".jsonl")):
        yield from ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    else:
        yield from _csv_rows(text)


def _listed(text: str) -> list[object]:
    try:
        found: list[object] = from_json(text)
    except ValueError as error:
        raise Unreadable(f"This is not valid JSON: {error}.") from error
    return found


def _csv_rows(text: str) -> Iterator[tuple[int, object]]:
    """Rows below the first, which names the columns, numbered as a spreadsheet numbers them."""
    first = re.search(r"\S.*", text)
    separator = max(",;\t", key=first[0].count) if first else ","
    # Strict, so that a quotation mark that nothing closes is told and does not swallow the rest in silence.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    head: list[str] = []
    number = 0
    try:
        for number, row in enumerate(reader, 1):
            cells = [cell.strip() for cell in row]
            if head and any(cells):
                # Cells without a column are found by the name that no column has.
                named = zip_longest(head, cells, fillvalue="")
                yield number, {name: original(cell) for name, cell in named if cell}
            elif any(cells):
                head = _head(cells)
    except csv.Error as error:
        wrong = "no row can be read: is a quotation mark missing, or not doubled?"
        raise Unreadable(f"From row {number + 1} on, up to line {reader.line_num}, {wrong} ({error})") from error


def _head(cells: list[str]) -> list[str]:
    """The columns' names. Raises Unreadable where one is not known or stands twice, or the question's is not there."""
    names = [cell.casefold() for cell in cells]
    times = Counter(names)
    odd = [cell for cell, name in zip(cells, names, strict=True) if name and (name not in COLUMNS or times[name] > 1)]
    if odd or "question" not in names:
        wrong = (
            f"Not known, or there twice: {', '.join(map(shown, odd[:12]))}." if odd else "None is called “question”."
        )
        raise Unreadable(f"The first row names the columns. {wrong} There are {NAMES}.")
    return names
