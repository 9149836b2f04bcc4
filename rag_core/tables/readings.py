"""What a person set right of how tables were read: which row is the head, what columns hold.

It goes by what stood there: in a new version of a document a table is known by its number or its name, its head by its
cells, and a column by its head. What is not there any more is left out, and told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.domain import ColumnReading, TableReading

MOST_TOP = 20
"""The first rows of a table, of which one is its head."""
GROUP = "Group"
"""The head of the column of what rows of one cell say of those below them."""
Cells = tuple[str, ...]


_TOP_CELLS, _TOP_CHARS = 1000, 80


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table's heads, the number of the last row that is one, and the reading that says so, as far as it fits."""

    heads: tuple[Cells, ...]
    head: int
    reading: TableReading | None = None


def fitted(readings: Sequence[TableReading], number: int, name: str, top: Sequence[Cells], count: int) -> Fitted:
    """The head of a table by its first rows, of which so many were read as its head."""
    as_read = Fitted(tuple(top[:count]), count)
    reading = next((one for one in readings if one.table == number and one.name == name), None) or next(
        (one for one in readings if one.table == number or (name and one.name == name)), None
    )
    if reading is None:
        return as_read
    head = _head(reading, top)
    known = Fitted((top[head - 1],), head) if head else as_read
    columns = _columns(reading.columns, known.heads)
    if not head and not columns:
        return as_read
    kept = replace(reading, table=number, name=name, head=head, heads=reading.heads if head else (), columns=columns)
    return replace(known, reading=kept)


def lost(
    readings: Iterable[TableReading], applied: Sequence[TableReading | None]
) -> Iterator[tuple[TableReading, str]]:
    """The readings of which something fits no table, with what: "its head", "what “Code” holds"."""
    known = [one for one in applied if one is not None]
    for reading in readings:
        kept = next((one for one in known if one.table == reading.table or one.name == reading.name != ""), None)
        there = {one.head for one in kept.columns} if kept else set()
        gone = [f"what “{one.head or one.column + 1}” holds" for one in reading.columns if one.head not in there]
        if reading.head and not (kept and kept.head):
            gone.insert(0, "its head")
        if gone:
            yield reading, " and ".join(gone)


def _head(reading: TableReading, top: Sequence[Cells]) -> int:
    """The number of the row that is the head, the one where it was before others; 0 where none has its cells."""
    wanted = {cell for cell in reading.heads if cell}
    fits = [place for place, row in enumerate(top[:-1], 1) if len(row) > 1 and wanted <= {*at_top(row)}]
    return min(fits, key=lambda place: abs(place - reading.head)) if reading.head and fits else 0


def _columns(columns: Iterable[ColumnReading], heads: Sequence[Cells]) -> tuple[ColumnReading, ...]:
    """Those that are still there, each where it stands now."""
    names = at_top(heads_of(heads))
    found = []
    for one in columns:
        at = [place for place, name in enumerate(names) if name == one.head] if one.head else [one.column]
        if at or (one.column >= len(names) and one.head == GROUP):
            found.append(replace(one, column=min(at, key=lambda place: abs(place - one.column), default=one.column)))
    return tuple(found)


def at_top(row: Sequence[str]) -> Cells:
    """A row as it is kept of the first ones, of which people choose the head: not all of what is very wide or long."""
    return tuple(cell[:_TOP_CHARS] for cell in row[:_TOP_CELLS])


def heads_of(rows: Sequence[Cells], width: int = 0) -> Cells:
    """One head for each column, of all the rows above it; "" for one that has none."""
    width = width or max(map(len, rows), default=0)
    parts = [[row[place] for row in rows if place < len(row) and row[place]] for place in range(width)]
    return tuple(" ".join(dict.fromkeys(part)) for part in parts)
