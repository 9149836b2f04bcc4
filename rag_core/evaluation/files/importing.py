"""Reading files of questions: whatever a file holds, a report of what can be used and what is wrong with the rest.

One row is one question. Columns go by name, in any order and case. A question with several places has them in columns
with numbers (`document_2`, `page_2`, `excerpt_2`) in CSV and in a list `gold` in JSON; the same id twice is a fault.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from rag_core.domain import ImportReport, Question, RowProblem
from rag_core.evaluation.files.file_rows import MOST_COLUMNS, Row, Table, csv_table, decode
from rag_core.evaluation.files.json_rows import array_rows, object_rows
from rag_core.evaluation.files.row_questions import MAX_QUESTION_CHARS, column_of, question_of

MAX_BYTES = 32 * 1024 * 1024
MAX_QUESTIONS = 10_000
MAX_ROWS = 50_000
"""Most rows that are read, whether there is a question in them or not."""
MAX_PROBLEMS = 200
"""Most problems that are told one by one; the rest are counted in a note."""
MAX_UNUSED = 12

_LIST = re.compile(r"\ufeff?\s*\[\s*[\[{\]]")

HELP_TEXT = f"""\
One row for each question. The first row of a **CSV** file names the columns, in any order; commas, semicolons or tabs
part them. **JSON Lines** has one object a line with the same names; a JSON list of such objects, and SQuAD's form, are
read as well.

| Column | Also called | What it holds |
|---|---|---|
| question | query | The question, at most {MAX_QUESTION_CHARS:,} characters. The one column that must be there |
| answer | reference, ground_truth | A right answer; several are parted by ` || `, or a list in JSON |
| document | source, file | Where the answer stands: a document's file name, title or id |
| page | | Its page, counted from 1 |
| excerpt | passage, context | Words of the document that hold the answer, as they stand there |
| answerable | unanswerable | `no` where the documents hold no answer |
| id | | Names the question; made from its words where it is missing |
| note | | Anything you like |

A second place goes into `document_2`, `page_2` and `excerpt_2`; in JSON `gold` may be a list of objects with
`document`, `page` and `excerpt`.
"""
"""How a file of questions is written, as Markdown, for the page that takes them."""


def read_questions(name: str, data: bytes) -> ImportReport:
    """Read a CSV, JSON Lines or JSON file of questions; `name` is the file's own. Never raises for what it holds.

    A row of a problem is the line in JSON Lines, the line on which an object of a JSON list begins, a spreadsheet's
    row in CSV, and the place of a question, counted from 1, where an object holds the list.
    """
    if len(data) > MAX_BYTES:
        most = MAX_BYTES // 1024**2
        return _nothing(f"The file has {len(data) / 1024**2:,.1f} MiB; at most {most} are taken. Cut it into parts.")
    text, note, refused = decode(data)
    if refused or not text.strip("\ufeff \t\r\n\x00"):
        return _nothing(refused or "The file is empty.")
    table = _table(name, text)
    if table.columns and ("question", 1) not in map(column_of, table.columns):
        return _nothing(_headless(table), row=table.head, note=note)
    taking = _Taking()
    taking.take(table)
    return taking.report(note)


def _table(name: str, text: str) -> Table:
    """The rows of a file in their order. What it is written in is told by its first characters, then by its name."""
    if _LIST.match(text) or (name.lower().endswith(".json") and text.lstrip("\ufeff \t\r\n").startswith("[")):
        return Table(array_rows(text, text.index("[") + 1))
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Table(object_rows(text))
    return csv_table(text)


class _Taking:
    """Rows being taken one by one, and what is told of them."""

    def __init__(self) -> None:
        self._questions: dict[str, Question] = {}
        self._first: dict[str, int] = {}
        self._problems: list[RowProblem] = []
        self._untold = 0
        self._rows = 0
        self._unused: Counter[str] = Counter()
        self._notes: list[str] = []

    def take(self, table: Table) -> None:
        """Take rows until they end or a limit is reached."""
        self._see(table.columns)
        if len(table.columns) >= MOST_COLUMNS:
            self._notes.append(f"At most {MOST_COLUMNS:,} columns of a file are read.")
        for row in table.rows:
            if len(self._questions) >= MAX_QUESTIONS:
                self._notes.append(f"A set holds at most {MAX_QUESTIONS:,} questions: what follows was left out.")
                return
            if self._rows >= MAX_ROWS:
                self._notes.append(f"At most {MAX_ROWS:,} rows of a file are read: what follows was left out.")
                return
            self._rows += 1
            if isinstance(row, RowProblem):
                self._tell(row)
            else:
                self._row(row)
        if not self._rows:
            self._tell(RowProblem(table.head, "", "There are columns, but no questions below them."))

    def report(self, note: str) -> ImportReport:
        """What was taken, and every note."""
        if self._untold:
            self._notes.append(f"{self._untold:,} more problems are not listed.")
        if unused := list(self._unused)[:MAX_UNUSED]:
            more = f" and {len(self._unused) - MAX_UNUSED:,} more" if len(self._unused) > MAX_UNUSED else ""
            self._notes.append(f"Not used: {', '.join(unused)}{more}.")
        notes = (note, *self._notes) if note else tuple(self._notes)
        lines = tuple(self._first[question_id] for question_id in self._questions)
        return ImportReport(tuple(self._questions.values()), tuple(self._problems), self._rows, notes, lines)

    def _row(self, row: Row) -> None:
        if not row.cells:
            self._see(tuple(islice(row.values, MOST_COLUMNS)))
        question, problems = question_of(row)
        for problem in problems:
            self._tell(problem)
        if question is None:
            return
        if question.id in self._first:
            first = self._first[question.id]
            self._tell(RowProblem(row.number, "id", f"The same id, or without ids the same question, as row {first}."))
            return
        self._first[question.id] = row.number
        self._questions[question.id] = question

    def _see(self, columns: tuple[str, ...]) -> None:
        """Remember columns that mean nothing here."""
        for column in columns:
            if column and column_of(column) is None and len(self._unused) < 10_000:
                self._unused[_short(column)] += 1

    def _tell(self, problem: RowProblem) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(problem)
        else:
            self._untold += 1


def _nothing(message: str, row: int = 0, note: str = "") -> ImportReport:
    return ImportReport((), (RowProblem(row, "", message),), 0, (note,) if note else ())


def _headless(table: Table) -> str:
    named = ", ".join(_short(column) for column in table.columns[:MAX_UNUSED] if column)
    return f"No column is called “question”. The first row must name the columns; it holds: {named}."


def _short(text: str) -> str:
    """A column's name for a message."""
    plain = " ".join("".join(character for character in text[:200] if character.isprintable()).split())
    return plain if len(plain) <= 40 else f"{plain[:40]}…"
