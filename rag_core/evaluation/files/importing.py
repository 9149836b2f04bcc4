"""Reading files of questions: whatever a file holds, a report of what can be used and what is wrong with the rest."""

from __future__ import annotations

from itertools import islice

from rag_core.domain import ImportReport, Question, RowProblem
from rag_core.evaluation.files.file_rows import Row, Unreadable, decode, rows_of
from rag_core.evaluation.files.row_questions import MAX_QUESTION_CHARS, column_of, question_of, shown

MAX_BYTES = 32 * 1024 * 1024
MAX_ROWS = 10_000
"""Most rows that are read, whether there is a question in them or not."""

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

    A row of a problem is a spreadsheet's row in CSV, the line in JSON Lines, and the place of a question, counted from
    1, in a JSON list.
    """
    taken: dict[str, tuple[Question, int]] = {}
    problems: list[RowProblem] = []
    notes: list[str] = []
    unused: dict[str, None] = {}
    rows = 0
    try:
        if len(data) > MAX_BYTES:
            raise Unreadable(f"The file has {len(data) / 1024**2:,.1f} MiB; at most {MAX_BYTES // 1024**2} are taken.")
        text, notes = decode(data)
        for row in rows_of(name, text):
            if rows == MAX_ROWS:
                notes.append(f"At most {MAX_ROWS:,} rows of a file are read: what follows was left out.")
                break
            rows += 1
            unused.update((column, None) for column in row.values if column and column_of(column) is None)
            problems += _take(row, taken)
        if not rows:
            raise Unreadable("There are no questions in the file.")
    except Unreadable as error:
        problems.append(RowProblem(0, "", str(error)))
    if unused:
        notes.append(f"Not used: {', '.join(map(shown, islice(unused, 12)))}{', ...' if len(unused) > 12 else '.'}")
    questions, lines = zip(*taken.values(), strict=True) if taken else ((), ())
    return ImportReport(questions, tuple(problems), rows, tuple(notes), lines)


def _take(row: Row, taken: dict[str, tuple[Question, int]]) -> list[RowProblem]:
    """Put the question of a row to those taken; what is wrong with the row."""
    if row.fault:
        return [RowProblem(row.number, "", row.fault)]
    question, problems = question_of(row.number, row.values)
    if question and question.id in taken:
        wrong = f"The same id, or without ids the same question, as row {taken[question.id][1]}."
        problems.append(RowProblem(row.number, "id", wrong))
    elif question:
        taken[question.id] = question, row.number
    return problems
