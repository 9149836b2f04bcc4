"""A table as it is asked: typed columns over all of its rows, each row with its place in the document."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Page
from rag_core.tables.postings import Codes, Postings
from rag_core.tables.values import Numbers, dates_in, numbers_in, says_nothing
from rag_core.text.stems import fold, stem
from rag_core.text.tables import cell_spans, count_heads, is_rule, lines_of, runs_of_rows

Kind = Literal["number", "date", "text"]
_CELLS = re.compile(r"[\t|]")
_WORD = re.compile(r"[^\W_]+")
Mask = NDArray[np.bool_]
_MOSTLY = 0.8  # of a column's cells are of its kind
_SAMPLE = 200  # cells of which half must be numbers for all to be looked at
_CHOICE = 0.34  # of a column's rows, as many different cells as there are at most where they are chosen from a few
_TOTAL = frozenset(("total", "totals", "sum", "subtotal", "grand total", "gesamt", "summe", "total général", "somme"))
_LONGEST, _MOST_LETTERS = 12, 200  # words and letters of a cell that is a value, and no text
"""Longer cells are looked for nowhere."""


def normalised(text: str) -> str:
    """A text as cells and questions are compared: its words in small letters, without accents and signs."""
    return " ".join(fold(word) for word in _WORD.findall(text.casefold()))


@dataclass(frozen=True, eq=False)
class Column:
    """A column of n rows. texts: the distinct cells; codes: which of these each row has, int32 (n,).

    values: what each distinct cell is worth, in days since 1970 where it is a date, NaN where it is nothing. blank: the
    code of the empty cell, -1 where none is empty.
    """

    head: str
    texts: Sequence[str]
    codes: Codes
    kind: Kind
    values: Numbers
    unit: str = ""
    blank: int = -1

    @cached_property
    def by_text(self) -> Postings:
        """The distinct cells that are values, and no texts, by their words."""
        return Postings.of(self._said())

    @cached_property
    def by_word(self) -> Postings:
        """The distinct cells of words by each of their stems."""
        said = self._said() if self.kind == "text" else ()
        return Postings.of((word, code) for text, code in said for word in {stem(word) for word in text.split()})

    def _said(self) -> Iterator[tuple[str, int]]:
        for code, text in enumerate(self.texts):
            if text and len(text) <= _MOST_LETTERS and (words := normalised(text)).count(" ") < _LONGEST:
                yield words, code

    @cached_property
    def numbers(self) -> Numbers:
        """What each row's cell is worth, float64 (n,)."""
        found: Numbers = self.values[self.codes]
        return found

    @cached_property
    def is_key(self) -> bool:
        """Whether no two rows have the same cell."""
        return len(self.texts) == len(self.codes)

    @cached_property
    def variety(self) -> Literal["key", "choice", "many"]:
        """Whether each row has a cell of its own, or many share one of a few."""
        if self.is_key:
            return "key"
        return "choice" if len(self.texts) <= _CHOICE * len(self.codes) else "many"

    @cached_property
    def is_whole(self) -> bool:
        """Whether its figures are whole numbers, as what is counted is."""
        known = self.values[~np.isnan(self.values)]
        return self.kind == "number" and bool(len(known)) and bool((known == np.round(known)).all())

    def rows_of(self, codes: Sequence[int]) -> Mask:
        """The rows whose cell is one of some distinct ones."""
        wanted = np.zeros(len(self.texts), bool)
        wanted[list(codes)] = True
        found: Mask = wanted[self.codes]
        return found


@dataclass(frozen=True, eq=False)
class WholeTable:
    """Rows under one head. pages, starts, ends: where each row stands, int32 (n,). totals: rows that sum up others.

    name: what stands above it; "" where nothing does.
    """

    columns: tuple[Column, ...]
    pages: Codes
    starts: Codes
    ends: Codes
    totals: Mask
    name: str = ""

    def __len__(self) -> int:
        return len(self.pages)

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
    """A table being read. places: page, begin and end of each row, one behind the other."""

    def __init__(self, heads: Sequence[tuple[str, ...]], name: str) -> None:
        self.heads, self.name = heads, name
        self.columns = [_Cells() for _ in range(max(map(len, heads), default=0))]
        self.places, self.totals = array("i"), array("b")

    def add(self, row: Sequence[str], place: tuple[int, int, int]) -> None:
        """One more row; cells at its end may be missing."""
        self.columns += [_Cells(len(self.totals)) for _ in range(len(row) - len(self.columns))]
        for number, cells in enumerate(self.columns):
            cells.add(row[number] if number < len(row) else "")
        self.places.extend(place)
        self.totals.append(normalised(next(filter(None, row), "")) in _TOTAL)

    def whole(self) -> WholeTable | None:
        """All of it; None where it has no rows or one column."""
        if len(self.columns) < 2 or not self.totals:
            return None
        heads = _heads(self.heads, len(self.columns))
        columns = tuple(_column(head, cells) for head, cells in zip(heads, self.columns, strict=True))
        where = np.array(self.places, np.int32).reshape(-1, 3)
        return WholeTable(columns, where[:, 0], where[:, 1], where[:, 2], np.array(self.totals, bool), self.name)


def whole_tables(pages: Sequence[Page]) -> list[WholeTable]:
    """The tables in the texts of a document's pages, which say a long one's head again every few rows.

    One with fewer than two columns is none.
    """
    found: list[_Rows] = []
    for page in pages:
        lines = list(lines_of(page.text)) if _CELLS.search(page.text) else []
        behind = 0
        for first, last in runs_of_rows(lines):
            rows = [(start, line) for start, line in lines[first:last] if not is_rule(line)]
            _take(found, page.number, rows, _name(lines[behind:first]))
            behind = last
    return [table for one in found if (table := one.whole()) is not None]


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[str]], places: Sequence[tuple[int, int, int]], name: str = ""
) -> WholeTable:
    """A table of rows of cells, each with its page, start and end; empty cells at a row's end may be missing.

    Raises ValueError where it has no rows, or one column.
    """
    read = _Rows([tuple(heads)], name)
    for row, place in zip(rows, places, strict=True):
        read.add(row[: len(heads)], place)
    if (table := read.whole()) is None:
        raise ValueError("A table has rows and columns.")
    return table


def _take(found: list[_Rows], page: int, lines: Sequence[tuple[int, str]], name: str) -> None:
    """Add the rows of a run of lines to the table whose head they repeat, or as a new one."""
    cells = [tuple(line[start:end] for start, end in cell_spans(line)) for _, line in lines]
    goes_on = bool(found) and not name and cells[: len(found[-1].heads)] == found[-1].heads
    if not goes_on:  # a title between parts what looks alike
        found.append(_Rows(cells[: count_heads(cells)], name))
    count = len(found[-1].heads)
    for (start, line), row in zip(lines[count:], cells[count:], strict=True):
        if len(row) > 1:  # one cell names a group of rows
            found[-1].add(row, (page, start, start + len(line)))


def _heads(rows: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
    """One head for each column, of all the rows above it; one that has none is called by its number."""
    parts = [[row[place] for row in rows if place < len(row) and row[place]] for place in range(width)]
    return tuple(" ".join(dict.fromkeys(part)) for part in parts)


def _name(lines: Sequence[tuple[int, str]]) -> str:
    """What stands right above a table."""
    return next((text.strip() for _, text in reversed(lines) if text.strip() and "\t" not in text), "")


def _column(head: str, cells: _Cells) -> Column:
    codes, texts = np.array(cells.codes, np.int32), tuple(cells.known)
    kind, values, unit = _typed(texts, np.bincount(codes, minlength=len(texts)).tolist())
    return Column(head, texts, codes, kind, values, unit, cells.known.get("", -1))


def _typed(texts: Sequence[str], counts: Sequence[int]) -> tuple[Kind, Numbers, str]:
    """What most cells of a column are, and what each distinct one is worth."""
    weights = np.array([count * (not says_nothing(text)) for text, count in zip(texts, counts, strict=True)])
    sample = np.flatnonzero(weights)[:_SAMPLE]
    some = [texts[place] for place in sample]
    if np.mean(~np.isnan(dates_in(some)) if some else 0.0) >= _MOSTLY / 2:
        values = dates_in(texts)
        if weights @ ~np.isnan(values) >= _MOSTLY * weights.sum():
            return "date", values, ""
    if np.mean(~np.isnan(numbers_in(some)[0]) if some else 0.0) >= _MOSTLY / 2:
        values, unit = numbers_in(texts)
        if weights @ ~np.isnan(values) >= _MOSTLY * weights.sum():
            return "number", values, unit
    return "text", np.full(len(texts), np.nan), ""
