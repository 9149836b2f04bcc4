"""A table as it is asked: typed columns over all of its rows, each row with its place in the document."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal

import numpy as np

from rag_core.domain import ColumnType, Page, TableReading
from rag_core.tables.columns import LONGEST, Column, MappedColumns, Mask, normalised
from rag_core.tables.postings import Codes
from rag_core.tables.readings import GROUP, MOST_TOP, Fitted, at_top, fitted, heads_of
from rag_core.tables.values import as_said, typed
from rag_core.text.stems import stem
from rag_core.text.tables import cell_spans, count_heads, is_caption, is_rule, lines_of, runs_of_rows

_CELLS = re.compile(r"[\t|]")
_FACT = re.compile(r"[^:]{1,40}: .+")
_TOTAL = frozenset(("total", "totals", "sum", "subtotal", "grand total", "gesamt", "summe", "total général", "somme"))
FEWEST_LETTERS = 3
"""Letters of a word's beginning that may be a head's word: "temp" of "temperature"."""
MOST_COLUMNS = 16_384
"""Columns of a table that are asked, as many as the widest sheets have: each costs as much as a short table."""
_MOST_TITLE = 120  # characters of a line that is a title
_MOST_ABOVE = 30  # lines above a table that are looked at


@dataclass(frozen=True, eq=False)
class WholeTable:
    """Rows under one head. pages, starts, ends: where each row stands, int32 (n,). totals: rows that sum up others.

    name: what stands above it; "" where nothing does. top: its first rows as they stand, head: which of them is the
    last of its head, from 1 on. reading: what a person set right of it, as far as it still fits.
    above: the lines that stand over it, the first of them its sheet's name where that is said. left_out: how many
    columns it has beside those, known while it is read.
    """

    columns: Sequence[Column]
    pages: Codes
    starts: Codes
    ends: Codes
    totals: Mask
    name: str = ""
    head: int = 0
    top: tuple[tuple[str, ...], ...] = ()
    reading: TableReading | None = None
    above: tuple[str, ...] = ()
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.pages)

    @cached_property
    def heads(self) -> Sequence[str]:
        """What stands above each column."""
        return self.columns.heads if isinstance(self.columns, MappedColumns) else [one.head for one in self.columns]

    @cached_property
    def kinds(self) -> Sequence[str]:
        """What each column holds."""
        return self.columns.kinds if isinstance(self.columns, MappedColumns) else [one.kind for one in self.columns]

    @cached_property
    def by_head(self) -> dict[str, list[int]]:
        """Columns by the words of their heads, and by their stems."""
        found: dict[str, list[int]] = {}
        for place, head in enumerate(self.heads):
            words = normalised(head).split()
            for key in {*words, *map(stem, words)}:
                found.setdefault(key, []).append(place)
        return found

    @cached_property
    def context(self) -> frozenset[str]:
        """The stems of short lines above it, "Account holder: Lena Marsh": what they say holds of all its rows."""
        lines = [words for line in self.above if len(words := normalised(line).split()) <= LONGEST]
        return frozenset(stem(word) for words in lines for word in words if len(word) >= FEWEST_LETTERS)

    def text(self, row: int, column: int) -> str:
        """A cell as it stands in the document."""
        one = self.columns[column]
        return one.texts[int(one.codes[row])]


class _Cells:
    """The cells of a column as they are read: each distinct one once."""

    def __init__(self, rows: int = 0) -> None:
        self.known: dict[str, int] = {"": 0} if rows else {}
        self.codes = array("i", [0]) * rows

    def add(self, cell: str) -> None:
        """One more row's cell."""
        self.codes.append(self.known.setdefault(cell, len(self.known)))


class _Rows:
    """A table being read. again: the rows that are its head as read, said again every few rows; above: the lines over
    it; number: which of the document's tables it is."""

    def __init__(
        self, again: Sequence[tuple[str, ...]], above: Sequence[str], number: int, readings: Sequence[TableReading]
    ) -> None:
        self.again, self.above = tuple(again), tuple(above)
        self._number, self._readings = number, readings
        self._top: list[tuple[tuple[str, ...], tuple[int, int, int]]] = []
        self._fitted: Fitted | None = None
        self._columns: list[_Cells] = []
        self._groups, self._group, self._is_grouped = _Cells(), "", False
        self._places, self._totals = array("i"), array("b")
        self._left_out = 0

    @property
    def name(self) -> str:
        """What stands right above it, several lines of what holds of it ("Account: 4711") and sentences aside."""
        facts = len([*takewhile(_FACT.fullmatch, reversed(self.above))])
        title = next(iter(self.above[::-1][facts if facts > 1 else 0 :]), "")
        is_prose = len(title) > _MOST_TITLE or (title.endswith(".") and not is_caption(title))
        return "" if is_prose else title

    def add(self, row: tuple[str, ...], place: tuple[int, int, int]) -> None:
        """One more row, those of its head too; cells at its end may be missing."""
        self._left_out = max(self._left_out, len(row) - MOST_COLUMNS)
        row = row[:MOST_COLUMNS]
        if self._fitted is not None:
            self._add(row, place)
            return
        self._top.append((row, place))
        if len(self._top) == MOST_TOP:
            self._begin()

    def whole(self) -> WholeTable | None:
        """All of it; None where it has no rows or one column."""
        known = self._fitted or self._begin()
        if len(self._columns) < 2 or not self._totals:
            return None
        kinds = {one.column: one.kind for one in known.reading.columns} if known.reading else {}
        heads = heads_of(known.heads, len(self._columns))
        read, self._columns = self._columns[::-1], []  # each is let go of as it is made: they may be of a million rows
        columns = [_column(head, read.pop(), kinds.get(place, "")) for place, head in enumerate(heads)]
        if self._is_grouped:
            columns.append(_column(GROUP, self._groups, kinds.get(len(columns), "")))
        where = np.frombuffer(self._places, np.int32).reshape(-1, 3)
        top = tuple(at_top(row) for row, _ in self._top)
        return WholeTable(
            tuple(columns), where[:, 0], where[:, 1], where[:, 2], np.array(self._totals, bool), self.name,
            known.head, top, known.reading, self.above, self._left_out,
        )  # fmt: skip

    def _begin(self) -> Fitted:
        """Its head is known now."""
        rows = [row for row, _ in self._top]
        self._fitted = known = fitted(self._readings, self._number, self.name, rows, len(self.again))
        self._columns = [_Cells() for _ in range(max(map(len, known.heads), default=0))]
        body = self._top[known.head :]
        self._is_grouped = bool(body) and len(body[0][0]) == 1
        for row, place in body:
            self._add(row, place)
        return known

    def _add(self, row: tuple[str, ...], place: tuple[int, int, int]) -> None:
        if len(row) == 1:  # it names those below it, where it is not said of a row that is empty
            self._is_grouped = self._is_grouped or row[0].endswith(":")
            self._group = row[0].rstrip(": ") if self._is_grouped else ""
            return
        self._columns += [_Cells(len(self._totals)) for _ in range(len(row) - len(self._columns))]
        for number, cells in enumerate(self._columns):
            cells.add(row[number] if number < len(row) else "")
        self._groups.add(self._group)
        self._places.extend(place)
        self._totals.append(normalised(next(filter(None, row), "")) in _TOTAL)


class TableReader:
    """Reads the tables of a document, page by page, with what a person set right: see `whole_tables`."""

    def __init__(self, readings: Sequence[TableReading] = ()) -> None:
        self._found: list[WholeTable] = []
        self._last: _Rows | None = None
        self._readings = readings

    def read(self, page: Page) -> None:
        """Read the next page."""
        lines = list(lines_of(page.text)) if _CELLS.search(page.text) else []
        behind = 0
        for first, last in runs_of_rows(lines):
            rows = [(start, line) for start, line in lines[first:last] if not is_rule(line)]
            self._take(page.number, rows, _above(lines[behind:first]))
            behind = last

    def _take(self, page: int, lines: Sequence[tuple[int, str]], above: tuple[str, ...]) -> None:
        """Add the rows of a run of lines to the table whose head they repeat, or as a new one."""
        cells = [tuple(line[start:end] for start, end in cell_spans(line)) for _, line in lines]
        last, first = self._last, 0
        # Another title between parts what looks alike; that of a head is said again with it.
        if last and _ends_with(last.above, above) and cells[: len(last.again)] == [*last.again]:
            first = len(last.again)
        else:
            count = count_heads(cells)
            while count > 1 and len(cells[count - 1]) == 1:  # the name of the first group
                count -= 1
            last = self._next(cells[:count], above)
        for (start, line), row in zip(lines[first:], cells[first:], strict=True):
            last.add(row, (page, start, start + len(line)))

    def all(self) -> list[WholeTable]:
        """Those that were found, once all pages were read."""
        self._close()
        return self._found

    def _next(self, heads: Sequence[tuple[str, ...]], above: Sequence[str]) -> _Rows:
        self._close()
        self._last = _Rows(heads, above, len(self._found), self._readings)
        return self._last

    def _close(self) -> None:
        if self._last and (table := self._last.whole()) is not None:
            self._found.append(table)
        self._last = None


def whole_tables(pages: Iterable[Page], readings: Sequence[TableReading] = ()) -> list[WholeTable]:
    """The tables in the texts of a document's pages, which say a long one's head again every few rows, with what a
    person set right.

    One with fewer than two columns is none.
    """
    found = TableReader(readings)
    for page in pages:
        found.read(page)
    return found.all()


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[str]], places: Sequence[tuple[int, int, int]], name: str = ""
) -> WholeTable:
    """A table of rows of cells, each with its page, start and end; empty cells at a row's end may be missing.

    Raises ValueError where it has no rows, or one column.
    """
    read = _Rows([tuple(heads)], (name,), 0, ())
    read.add(tuple(heads), (0, 0, 0))
    for row, place in zip(rows, places, strict=True):
        read.add(tuple(row[: len(heads)]), place)
    if (table := read.whole()) is None:
        raise ValueError("A table has rows and columns.")
    return table


def _above(lines: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """The last of the lines that stand above a table."""
    return tuple(line for _, text in lines[-_MOST_ABOVE:] if (line := text.strip()) and "\t" not in text)


def _ends_with(lines: tuple[str, ...], last: tuple[str, ...]) -> bool:
    return not last or lines[-len(last) :] == last


def _column(head: str, cells: _Cells, by_hand: ColumnType | Literal[""] = "") -> Column:
    codes, texts = np.frombuffer(cells.codes, np.int32), tuple(cells.known)
    if by_hand:
        kind, values, unit = as_said(texts, by_hand)
    else:
        kind, values, unit = typed(texts, np.bincount(codes, minlength=len(texts)).tolist())
    return Column(head, texts, codes, kind, values, unit, cells.known.get("", -1), by_hand)
