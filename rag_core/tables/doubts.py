"""What is doubtful about tables, in sentences for a document's notes: their heads, cells that are not what their column
holds, what is not asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from rag_core.domain import TableReading
from rag_core.tables.columns import Column
from rag_core.tables.narrowing import MOST_AT_ONCE, MOST_WHOLE
from rag_core.tables.readings import lost
from rag_core.tables.table import WholeTable
from rag_core.tables.values import dates_in, numbers_in, says_nothing

_MOST_NOTES, _NAME_CHARS, _SAMPLE = 12, 60, 200
_MOST_COLUMNS = 2_000  # that are looked at
_SOME = 0.2  # of a column's cells are of a kind that it is not read as
_FIRST = 5  # rows below the head of which one may be it


def table_notes(tables: Sequence[WholeTable], readings: Iterable[TableReading] = ()) -> list[str]:
    """What a document's notes say of its tables, the first dozen."""
    notes = [
        f"{_called(reading.table, reading.name, len(tables))} has no longer what was set right by hand:"
        f" {gone} is as read."
        for reading, gone in lost(readings, [table.reading for table in tables])
    ]
    every = (
        f"{_called(number, table.name, len(tables))}: {doubt}"
        for number, table in enumerate(tables)
        for doubt in _doubts(table)
    )
    notes += islice(every, _MOST_NOTES + 1 - min(len(notes), _MOST_NOTES))
    return notes if len(notes) <= _MOST_NOTES else [*notes[:_MOST_NOTES], "More is doubtful about its tables."]


def _called(number: int, name: str, count: int) -> str:
    if name:
        return f"The table “{name[:_NAME_CHARS]}”"
    return f"Table {number + 1}" if count > 1 else "The table"


def _doubts(table: WholeTable) -> Iterator[str]:
    if table.left_out:
        every, first = len(table.columns) + table.left_out, len(table.columns)
        yield f"it has {every:,} columns, of which the first {first:,} are asked; the others are found by their words."
    if len(table.columns) > MOST_WHOLE:
        yield (
            f"it has {len(table.columns):,} columns; a question goes over {MOST_AT_ONCE} of them: those whose heads it"
            " names, and the first."
        )
    if not (table.reading and table.reading.head):
        yield from _of_head(table)
    for column in table.columns[:_MOST_COLUMNS]:
        yield from _of_column(column)


def _of_head(table: WholeTable) -> Iterator[str]:
    """That another row may be its head, or none is."""
    if not any(table.heads):
        yield "no head was found; questions cannot name its columns."
        return
    figures = [column for column in table.columns if column.kind != "text"]
    for row in range(min(_FIRST, len(table) - 1)):
        cells = [column.texts[int(column.codes[row])] for column in figures]
        if len(figures) > 1 and all(cells) and all(np.isnan(column.numbers[row]) for column in figures):
            yield f"row {table.head + row + 1} may be its head, not row {table.head}."
            return
    repeated = [column.head for column in table.columns if column.head and column.head in column.texts[:_SAMPLE]]
    if repeated and not figures:
        yield f"its first row may be no head: “{repeated[0][:_NAME_CHARS]}” is a cell below it too."


def _of_column(column: Column) -> Iterator[str]:
    """How many cells are not what most are."""
    if column.by_hand in ("text", "choice", "yes/no") or not len(column.codes):
        return
    counts = np.bincount(column.codes, minlength=len(column.texts))
    counts = counts * np.array([not says_nothing(text) for text in column.texts], int)
    every, head = int(counts.sum()), column.head[:_NAME_CHARS] or "–"
    if column.kind != "text":
        others = int(counts[np.isnan(column.values)].sum())
        if others:
            what = "number" if column.kind == "number" else "day"
            are = f"are not {what}s, and are" if others > 1 else f"is not a {what}, and is"
            yield f"{others:,} of {every:,} cells of “{head}” {are} in no sum or comparison."
        return
    sample = [text for text in column.texts[:_SAMPLE] if not says_nothing(text)]
    for what, worth in (("numbers", lambda texts: numbers_in(texts)[0]), ("days", dates_in)):
        if sample and np.mean(~np.isnan(worth(sample))) >= _SOME / 2:
            known = int(counts[~np.isnan(worth(column.texts))].sum())
            if known >= _SOME * every and known < every:
                yield f"{every - known:,} of {every:,} cells of “{head}” are not {what}; it is read as text."
                return
