"""A document's whole tables as an Arrow file: mapped into memory, and asked without being read.

A record batch holds one column; the first one of a table also says where its rows stand. Words lead to cells by sorted
lists, so that opening a table of a million rows builds nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_core.domain import TableReading
from rag_core.domain.serialiser import from_json, to_json
from rag_core.tables.columns import Column, MappedColumns
from rag_core.tables.postings import Postings, Texts
from rag_core.tables.table import WholeTable

VERSION = b"2"
_CODES, _TEXTS = pa.list_(pa.int32()), pa.list_(pa.large_string())
_POSTINGS = pa.list_(_CODES)
_SCHEMA = pa.schema(
    {
        "table": pa.int32(), "name": pa.string(), "head": pa.string(), "kind": pa.string(), "unit": pa.string(),
        "blank": pa.int32(), "texts": _TEXTS, "codes": _CODES, "values": pa.list_(pa.float64()), "same": _TEXTS,
        "same_codes": _POSTINGS, "words": _TEXTS, "word_codes": _POSTINGS, "pages": _CODES, "starts": _CODES,
        "ends": _CODES, "totals": _CODES, "by_hand": pa.string(), "told": pa.string(),
    },
    metadata={"version": VERSION},
)  # fmt: skip


class UnreadableTables(ValueError):
    """Bytes that hold no tables, or those of another version."""


def pack(tables: Iterable[WholeTable], readings: Sequence[TableReading] = ()) -> pa.Buffer:
    """Tables as an Arrow file, made with what a person set right of them."""
    sink = pa.BufferOutputStream()
    write(sink, tables, readings)
    return sink.getvalue()


def write(sink: Any, tables: Iterable[WholeTable], readings: Sequence[TableReading] = ()) -> None:
    """Write tables as an Arrow file to what has a method `write`, a column at a time. Raises what that raises."""
    schema = _SCHEMA.with_metadata({"version": VERSION, "readings": _stamp(readings)})
    with pa.ipc.new_file(sink, schema) as writer:
        for number, table in enumerate(tables):
            for place, column in enumerate(table.columns):
                # Of a copy: what a column finds its words by is as large as itself, and is not asked here.
                writer.write_batch(_batch(number, table, replace(column), is_first=place == 0))


def unpack(packed: pa.Buffer, readings: Sequence[TableReading] = ()) -> list[WholeTable]:
    """The tables of an Arrow file, whose columns stay where they are.

    Raises UnreadableTables, also where they were made with other readings."""
    try:
        reader = pa.ipc.open_file(packed)
        known = reader.schema.metadata or {}
        if known.get(b"version") != VERSION:
            raise UnreadableTables("The tables are of another version.")
        if known.get(b"readings") != _stamp(readings):
            raise UnreadableTables("They were set right since.")
        return list(_tables(reader))
    except UnreadableTables:
        raise
    except (pa.ArrowException, OSError, KeyError, IndexError, ValueError) as error:
        raise UnreadableTables(f"The tables cannot be read: {error}") from error


def _tables(reader: Any) -> Iterator[WholeTable]:
    """The tables of a file, of which columns are read when they are asked for: a wide table has thousands."""
    at, reading = 0, threading.Lock()

    def batch(place: int) -> pa.RecordBatch:
        with reading:
            return reader.get_batch(place)

    while at < reader.num_record_batches:
        first = batch(at)
        first.validate(full=True)
        told = json.loads(first["told"][0].as_py())
        yield _table(first, told, partial(_column_at, batch, at, len(first["pages"][0])))
        at += len(told["heads"])
    if at > reader.num_record_batches:
        raise UnreadableTables("Columns are missing.")


def _column_at(batch: Callable[[int], pa.RecordBatch], begin: int, rows: int, place: int) -> Column:
    return _column(batch(begin + place), rows)


def _stamp(readings: Sequence[TableReading]) -> bytes:
    return json.dumps(to_json(list(readings))).encode()


@dataclass(frozen=True, eq=False)
class _MappedColumn(Column):
    """A column with its words in sorted lists."""

    same: Postings = field(kw_only=True)
    words: Postings = field(kw_only=True)

    @property
    def by_text(self) -> Postings:  # type: ignore[override]
        return self.same

    @property
    def by_word(self) -> Postings:  # type: ignore[override]
        return self.words


def _batch(number: int, table: WholeTable, column: Column, *, is_first: bool) -> pa.RecordBatch:
    same, words = column.by_text, column.by_word
    places = [table.pages, table.starts, table.ends, table.totals.astype(np.int32)] if is_first else [None] * 4
    arrays = [
        *([value] for value in (number, table.name, column.head, column.kind, column.unit, column.blank)),
        _listed(pa.array(column.texts, pa.large_string())), _listed(pa.array(column.codes)),
        _listed(pa.array(column.values)), _listed(same.keys_array), _listed(same.codes), _listed(words.keys_array),
        _listed(words.codes),
        *([None] if some is None else _listed(pa.array(some, pa.int32())) for some in places),
        [column.by_hand], [_told(table) if is_first else None],
    ]  # fmt: skip
    return pa.record_batch([pa.array(one, field.type) if isinstance(one, list) else one
                            for one, field in zip(arrays, _SCHEMA, strict=True)], schema=_SCHEMA)  # fmt: skip


def _told(table: WholeTable) -> str:
    """What is known of a table as a whole."""
    return json.dumps({
        "head": table.head, "top": table.top, "reading": to_json(table.reading), "heads": list(table.heads),
        "kinds": list(table.kinds), "above": table.above,
    })  # fmt: skip


def _listed(values: pa.Array) -> pa.Array:
    """All of an array as a list in one row."""
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def _table(first: pa.RecordBatch, told: dict[str, Any], make: Callable[[int], Column]) -> WholeTable:
    pages, starts, ends, totals = (_numbers(first, name) for name in ("pages", "starts", "ends", "totals"))
    if len({len(pages), len(starts), len(ends), len(totals)}) != 1:
        raise UnreadableTables("The columns of a table differ in length.")
    columns = MappedColumns(told["heads"], told["kinds"], make)
    top = tuple(map(tuple, told["top"]))
    reading = from_json(TableReading, told["reading"]) if told["reading"] else None
    return WholeTable(
        columns, pages, starts, ends, totals.astype(bool), first["name"][0].as_py(), told["head"], top, reading,
        tuple(told.get("above", ())),
    )  # fmt: skip


def _column(batch: pa.RecordBatch, rows: int) -> Column:
    codes, values, texts = _numbers(batch, "codes"), _numbers(batch, "values"), batch["texts"][0].values
    if len(codes) != rows:
        raise UnreadableTables("The columns of a table differ in length.")
    if len(texts) != len(values) or (len(codes) and not (int(codes.min()) >= 0 and int(codes.max()) < len(texts))):
        raise UnreadableTables("A column has cells that are not there.")
    return _MappedColumn(
        **{name: batch[name][0].as_py() for name in ("head", "kind", "unit", "blank", "by_hand")},
        texts=Texts(texts), codes=codes, values=values,
        same=Postings(batch["same"][0].values, batch["same_codes"][0].values),
        words=Postings(batch["words"][0].values, batch["word_codes"][0].values),
    )  # fmt: skip


def _numbers(batch: pa.RecordBatch, name: str) -> NDArray[Any]:
    found: NDArray[Any] = batch[name][0].values.to_numpy()
    return found
