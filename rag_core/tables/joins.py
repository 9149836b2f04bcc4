"""Tables of a document that are joined where the cells of one are keys of another: each driver with his salary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np

from rag_core.tables.columns import Column, normalised
from rag_core.tables.postings import Codes
from rag_core.tables.table import WholeTable

_MOST_TABLES, _MOST_ROWS, _MOST_COLUMNS, _SAMPLE, _FIRST = 12, 20_000, 100, 200, 10
_NOTHING = np.empty(0, np.int32)
_FEWEST, _MOSTLY = 3, 0.8  # different cells that are keys of the other table, and their share


@dataclass(frozen=True, eq=False, kw_only=True)
class JoinedTable(WholeTable):
    """The rows of a table, each with what a row of another says of one of its cells.

    own: how many columns are its own; the others are of `other`, whose column `key` has the cells of `by`, and is left
    out. matches: the row of `other` for each row, int32 (n,), -1 where it has none.
    """

    own: int
    by: int
    other: WholeTable
    key: int
    matches: Codes

    def column_of_other(self, column: int) -> int:
        """The column of the other table that one is, negative for one of its own."""
        place = column - self.own
        return place + (place >= self.key)

    def is_needed_for(self, columns: Sequence[int]) -> bool:
        """Whether some columns are of both tables."""
        return min(columns, default=self.own) < self.own <= max(columns, default=-1)


def joined_tables(tables: Sequence[WholeTable]) -> list[JoinedTable]:
    """Each table with each other that has a row for most of its cells in a column."""
    return [table for one, other in permutations(_some(tables), 2) for table in _joined(one, other)]


def joined_between(
    tables: Sequence[WholeTable], others: Sequence[WholeTable], titles: tuple[str, str]
) -> list[JoinedTable]:
    """Each table of a document with each of another that has a row for most of its cells in a column."""
    pairs = product(_some(tables), _some(others))
    return [table for one, other in pairs for table in _joined(one, other, titles)]


def _some(tables: Sequence[WholeTable]) -> list[WholeTable]:
    return [one for one in tables[:_MOST_TABLES] if len(one) <= _MOST_ROWS and len(one.columns) <= _MOST_COLUMNS]


def _joined(one: WholeTable, other: WholeTable, titles: tuple[str, str] = ("", "")) -> Iterator[JoinedTable]:
    keys = [place for place, column in enumerate(other.columns) if column.is_key and column.kind == "text"]
    shares = {
        (share, -place, -key)
        for key in keys
        for place, column in enumerate(one.columns)
        if column.kind == "text" and (share := _share(column, other.columns[key])) >= _MOSTLY
    }
    if shares:
        _, place, key = max(shares)
        yield _join(one, -place, other, -key, titles)


def _share(column: Column, key: Column) -> float:
    """Of a column's different cells the share that are cells of a key."""
    said = [words for text in column.texts[:_SAMPLE] if (words := normalised(text))]
    if not any(words in key.by_text for words in said[:_FIRST]):
        return 0.0
    found = sum(words in key.by_text for words in said)
    return found / len(said) if found >= _FEWEST else 0.0


def _join(one: WholeTable, place: int, other: WholeTable, key: int, titles: tuple[str, str]) -> JoinedTable:
    by, of = one.columns[place], other.columns[key]
    row_of = np.full(len(of.texts), -1, np.int32)
    row_of[of.codes] = np.arange(len(other))
    codes = [of.by_text.get(normalised(text), _NOTHING) for text in by.texts]
    matches = np.array([row_of[found[0]] if len(found) == 1 else -1 for found in codes], np.int32)[by.codes]
    heads = {column.head for column in one.columns}
    more = [
        _taken(replace(column, head=f"{column.head} of {by.head}") if column.head in heads else column, matches)
        for number, column in enumerate(other.columns) if number != key
    ]  # fmt: skip
    name = f"{titles[0] or _sheet(one, 'a table')} with {titles[1] or _sheet(other, 'another')} by {by.head}"
    return JoinedTable(
        (*one.columns, *more), one.pages, one.starts, one.ends, one.totals, name,
        above=(*one.above, *other.above), own=len(one.columns), by=place, other=other, key=key, matches=matches,
    )  # fmt: skip


def _sheet(table: WholeTable, other: str) -> str:
    return table.above[0] if table.above else other


def _taken(column: Column, rows: Codes) -> Column:
    """A column's cells of some rows, empty where these are -1."""
    texts, values, blank = tuple(column.texts), column.values, column.blank
    if blank < 0 and (rows < 0).any():
        texts, values, blank = (*texts, ""), np.append(values, np.nan), len(texts)
    codes = np.where(rows >= 0, column.codes[np.maximum(rows, 0)], blank).astype(np.int32)
    return Column(column.head, texts, codes, column.kind, values, column.unit, blank)
