"""The whole tables of documents: mapped files of long ones, of the others made of the texts of their pages as they are
kept, and remembered while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Document
from rag_core.storage import Storage
from rag_core.storage.indexes.table_index import LONG, TableIndex
from rag_core.tables.joins import JoinedTable, joined_between, joined_tables
from rag_core.tables.periods import PeriodTable, period_tables
from rag_core.tables.table import WholeTable, whole_tables

# Chunks up to which the tables of a document are made in a moment where there is no file of them yet.
_MADE_AT_ONCE = 1_000
_MOST_CELLS, _MOST_DOCUMENTS = 50_000_000, 2_000  # those of long tables are mapped


@dataclass(frozen=True, eq=False)
class DocumentTables:
    """A document's tables. chunks: page, begin and end of each of its chunks, int64 (chunks, 3)."""

    tables: Sequence[WholeTable]
    chunks: NDArray[np.int64]

    @cached_property
    def derived(self) -> list[JoinedTable | PeriodTable]:
        """Those of its tables that have keys of others, with what these say, and those with a column for each month or
        year, with a row for each."""
        return [*joined_tables(self.tables), *period_tables(self.tables)]

    def joined_with(self, other: DocumentTables, titles: tuple[str, str]) -> list[JoinedTable]:
        """Those that have keys of another document's, with what these say; both are called by their titles."""
        if other not in self._between:
            self._between[other] = joined_between(self.tables, other.tables, titles)
        return self._between[other]

    @cached_property
    def _between(self) -> WeakKeyDictionary[DocumentTables, list[JoinedTable]]:
        return WeakKeyDictionary()

    @property
    def cells(self) -> int:
        """How many cells they have."""
        return sum(len(table) * len(table.columns) for table in self.tables)

    def chunk_at(self, page: int, start: int) -> int | None:
        """The chunk that holds a place, or None: it was left out, or is being cut anew."""
        pages, starts, ends = self.chunks.T
        found = np.flatnonzero((pages == page) & (starts <= start) & (start < ends))
        return int(found[0]) if len(found) else None


_NONE_YET = DocumentTables((), np.empty((0, 3), np.int64))


class TableCache:
    """Makes them when they are first asked for. Thread-safe."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._index = storage.index(TableIndex)
        self._known: OrderedDict[Hashable, DocumentTables] = OrderedDict()
        self._lock = threading.Lock()

    def tables(self, document: Document) -> DocumentTables:
        """The tables of a document; none while those of a long one are being made. Raises StoreUnavailable."""
        is_long = document.chunk_count >= LONG
        stamp = self._index.stamp(document.id) if is_long else 0
        readings = self._storage.documents.table_readings.of(document.id)
        key = (document.id, document.added_at, document.chunk_count, document.to_recognise, stamp, readings)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
            tables = self._index.tables(document.id, readings) if is_long else None
            if tables is None and document.chunk_count <= _MADE_AT_ONCE:
                tables = whole_tables(self._storage.documents.pages(document.id), readings)
            if tables is None:
                return _NONE_YET
            chunks = self._storage.documents.spans([document.id]).get(document.id, np.empty((0, 3), np.int64))
            made = self._known[key] = DocumentTables(tables, chunks)
            self._forget()
            return made

    def are_made(self, document: Document) -> bool:
        """Whether the tables of a document can be asked by now."""
        return document.chunk_count <= _MADE_AT_ONCE or bool(self._index.stamp(document.id))

    def _forget(self) -> None:
        """Forget the tables that were not asked for longest, where there are too many."""
        cells = sum(one.cells for one in self._known.values())
        while len(self._known) > 1 and (cells > _MOST_CELLS or len(self._known) > _MOST_DOCUMENTS):
            cells -= self._known.popitem(last=False)[1].cells
