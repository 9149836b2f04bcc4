"""The whole tables of long documents as a derived index: one Arrow file each, mapped when a question asks them.

Those of short documents are made of their pages in the moment when they are asked.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from accelerator.atomic import write_by
from rag_core.domain import Document, Finding, Page, TableReading
from rag_core.errors import StoreUnavailable
from rag_core.runtime.low_priority import LowPriorityProcess, ProcessEnded
from rag_core.storage.indexes.base import DerivedIndex, IndexContext
from rag_core.storage.indexes.comparison import Comparison
from rag_core.storage.postgres.contents import IndexedDocument
from rag_core.tables.arrow import UnreadableTables, unpack, write
from rag_core.tables.doubts import table_notes
from rag_core.tables.table import TableReader, WholeTable, whole_tables
from rag_core.text.tables import is_of_long_table

_log = logging.getLogger(__name__)
LONG = 200  # chunks, from which on a document's tables have a file
_SUM_BYTES = 4
_EMBEDDED = (
    "Of a long table the first rows are embedded, and of the others what stands above its columns: they are found by"
    " their words, and by asking the whole table."
)


class TableIndex(DerivedIndex):
    """Writes the tables of long documents to the folder `tables`, and opens them."""

    name = "tables"
    label = "Tables"
    folders = ("tables",)
    lull_s = 1.0

    def __init__(self, surroundings: IndexContext) -> None:
        super().__init__(surroundings)
        self._folder = surroundings.folder / "tables"
        self._process = LowPriorityProcess()
        self._wake = surroundings.wake
        self._judged = threading.Event()
        self.is_writing = False
        """Whether the tables of a long document are being written: what takes as much memory waits for that."""

    def tables(self, document_id: str, readings: Sequence[TableReading] = ()) -> list[WholeTable] | None:
        """The tables of a long document, read so; None while they are being made. Raises StoreUnavailable."""
        try:
            return _opened(self._path(document_id), readings)
        except FileNotFoundError:
            return None
        except (OSError, UnreadableTables) as error:
            _log.warning("The tables of %s are made anew: %s", document_id, error)
            self._log.queue([self.name], [document_id])
            return None

    def stamp(self, document_id: str) -> int:
        """What changes with a document's file; 0 where it has none."""
        try:
            return self._path(document_id).stat().st_mtime_ns
        except OSError:
            return 0

    def read_anew(self, document: Document) -> None:
        """Make the tables of a document anew, of which something was set right; those of a long one in the background.

        Raises StoreUnavailable."""
        if document.chunk_count < LONG:
            self._note(document)
            return
        self._path(document.id).unlink(missing_ok=True)
        self._log.queue([self.name], [document.id])
        self._wake()

    def prepare(self) -> None:
        """Begin anew where its folder is gone."""
        if not self._judged.is_set():
            if not self._folder.is_dir() and self._documents.followed(self.name)[0]:
                self.rebuild("its folder is gone")
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._judged.set()

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Write the tables of those that are long, in a process of low priority, and note what is doubtful about any.
        Raises StoreUnavailable."""
        known = self._documents.some([document.id for document in documents])
        for document in documents:
            if len(document.chunks) < LONG:
                self._path(document.id).unlink(missing_ok=True)
                self._note(known.get(document.id))
                continue
            readings = self._documents.table_readings.of(document.id)
            try:
                notes = self._write(document.id, readings)
            except (OSError, ProcessEnded) as error:
                raise StoreUnavailable(f"The tables of {document.title} cannot be kept: {error}") from error
            self._documents.table_readings.note(document.id, notes if _is_noted(known.get(document.id)) else [])

    def _write(self, document_id: str, readings: Sequence[TableReading]) -> list[str]:
        """Have the tables of a document written, whose pages are given to the process some at a time: all of them are
        large. Returns what is doubtful. Raises OSError, ProcessEnded, StoreUnavailable."""
        path = self._path(document_id)
        self.is_writing = True
        try:
            self._process(begin_tables, path, readings)
            for pages in self._documents.pages_by_parts(document_id):
                self._process(read_tables, path, pages)
            return self._process(write_tables, path)
        finally:
            self.is_writing = False

    def remove(self, ids: Sequence[str]) -> None:
        """Remove the files of documents."""
        for document_id in ids:
            self._path(document_id).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Let the process's memory go."""
        self._process.rest()

    def count(self) -> int:
        """How many documents have a file: their chunks are not in it."""
        return len(list(self._files()))

    def verify(self, comparison: Comparison) -> Iterator[Finding]:
        """Open every file, and look which are missing or left over."""
        waiting = set(self._log.waiting_ids(self.name))
        for document_id in sorted(self._files().keys() - comparison.facts.keys() - waiting):
            yield comparison.finding(self.label, document_id, "A file is left of a document that is gone.")
        for item in comparison.ready():
            if item.chunk_count >= LONG and item.id not in waiting:
                try:
                    _opened(self._path(item.id), self._documents.table_readings.of(item.id))
                except (OSError, UnreadableTables) as error:
                    yield comparison.finding(self.label, item.id, f"The file of its tables cannot be used: {error}")

    def repair(self, findings: Sequence[Finding]) -> bool:
        """Make the files of documents anew; remove those of documents that are gone."""
        known = self._documents.ready({finding.document_id for finding in findings}).keys()
        self._log.queue([self.name], known)
        self.remove([finding.document_id for finding in findings if finding.document_id not in known])
        return False

    def rebuild(self, reason: str) -> None:
        """Remove every file and have every document given again. Raises StoreUnavailable."""
        with self.turn:
            _log.warning("The files of tables are made anew: %s", reason)
            self._take_all()
            self.remove(list(self._files()))

    def describe(self) -> str:
        """How many documents have one."""
        return f"those of {self.count():,} long documents"

    def stop(self) -> None:
        """End a file's making."""
        self._process.close()

    def _note(self, document: Document | None) -> None:
        """Say what is doubtful about the tables of a document that is short."""
        if document is not None and _is_noted(document):
            readings = self._documents.table_readings.of(document.id)
            tables = whole_tables(self._documents.pages(document.id), readings)
            self._documents.table_readings.note(document.id, table_notes(tables, readings))

    def _path(self, document_id: str) -> Path:
        return self._folder / f"{document_id}.arrow"

    def _files(self) -> dict[str, Path]:
        with suppress(OSError):
            return {path.stem: path for path in self._folder.glob("*.arrow")}
        return {}


@dataclass
class _Writing:
    """The tables of a document that are being read in this process."""

    reader: TableReader
    readings: Sequence[TableReading]
    has_long_table: bool = False


_writing: dict[Path, _Writing] = {}


def begin_tables(path: Path, readings: Sequence[TableReading] = ()) -> None:
    """Begin to read the tables that `path` is to have; what was begun before and never written is let go of."""
    _writing.clear()
    _writing[path] = _Writing(TableReader(readings), readings)


def read_tables(path: Path, pages: Sequence[Page]) -> None:
    """Read further pages. Raises OSError where they were not begun: the process was started anew."""
    one = _begun(path)
    for page in pages:
        one.reader.read(page)
    pieces = (piece for page in pages for piece in page.text.split("\n\n"))
    one.has_long_table = one.has_long_table or any(map(is_of_long_table, pieces))


def write_tables(path: Path) -> list[str]:
    """Write the tables of the pages that were read, with their checksum behind them. Returns what is doubtful about
    them, and what is embedded where rows stand together as those of long tables do. Raises OSError."""
    one = _begun(path)
    del _writing[path]
    tables = one.reader.all()

    def write_file(descriptor: int) -> None:
        with open(descriptor, "wb", closefd=False) as file:
            summed = _Summed(file)
            write(summed, tables, one.readings)
            file.write(summed.crc.to_bytes(_SUM_BYTES, "little"))

    write_by(path, write_file)
    return [*table_notes(tables, one.readings), *([_EMBEDDED] if one.has_long_table else [])]


def _begun(path: Path) -> _Writing:
    if path not in _writing:
        raise OSError("The process was started anew.")
    return _writing[path]


class _Summed:
    """A file that is written to, and the checksum of what was written."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.crc = file, 0

    def write(self, part: bytes | memoryview) -> int:
        """Write a part."""
        self.crc = zlib.crc32(part, self.crc)
        return self._file.write(part)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """The file is closed by whoever opened it."""


def _is_noted(document: Document | None) -> bool:
    """Whether its tables are what it is: of prose, what a table lacks is no matter."""
    return document is not None and document.is_sheet


def _opened(path: Path, readings: Sequence[TableReading]) -> list[WholeTable]:
    """The tables of a file, mapped. Raises OSError, UnreadableTables."""
    with pa.memory_map(str(path)) as mapped:
        whole = mapped.read_buffer()
    packed = whole.slice(0, max(whole.size - _SUM_BYTES, 0))
    if zlib.crc32(packed) != int.from_bytes(whole.slice(packed.size), "little"):
        raise UnreadableTables("Its checksum is another.")
    return unpack(packed, readings)
