"""What derived indexes are made from: documents with their chunks, read from PostgreSQL without embedding anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import TupleRow

from rag_core.storage.postgres.database import Database, retried

_NOTHING = "''"


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as an index takes it. `text`, `section` and `page_label` are empty where texts were not asked for."""

    index: int
    page: int
    page_label: str
    section: str
    text: str
    md5: str


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document with its chunks in order. `vectors` is float32 (n, d), row i of chunk i, with no rows unasked.

    `source` is the name it came under first, `language` that of its card (ISO 639-1).
    """

    id: str
    title: str
    source: str
    language: str
    chunks: tuple[IndexedChunk, ...]
    vectors: NDArray[np.float32]

    @property
    def md5(self) -> list[str]:
        """The MD5 sums of its texts, hexadecimal, in order."""
        return [chunk.md5 for chunk in self.chunks]


class Contents:
    """Reads the tables. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    def of(self, ids: Sequence[str], *, texts: bool, vectors: bool) -> list[IndexedDocument]:
        """Some documents in the order given, with texts, vectors or both; one without chunks has none here either."""
        words = "c.section, c.text, p.label" if texts else f"{_NOTHING}, {_NOTHING}, {_NOTHING}"
        label = "LEFT JOIN pages p ON p.document_id = c.document_id AND p.number = c.page" if texts else ""
        vector = ", c.vector" if vectors else ""
        with self._database.transaction() as connection:
            known = connection.execute(
                "SELECT d.id, d.title, coalesce((SELECT name FROM sources s WHERE s.document_id = d.id"
                " ORDER BY added_at, name LIMIT 1), ''), coalesce(nullif(d.card ->> 'language', ''), 'en')"
                " FROM documents d WHERE d.id = ANY(%s)",
                (list(ids),),
            ).fetchall()
            rows = connection.execute(
                f"SELECT c.document_id, c.index, c.page, c.md5, {words}{vector} FROM chunks c {label}"
                " WHERE c.document_id = ANY(%s) ORDER BY c.document_id, c.index".encode(),
                (list(ids),),
                binary=True,
            ).fetchall()
        parts = {str(key): list(part) for key, part in groupby(rows, key=lambda row: str(row[0]))}
        names = {row[0]: (row[1], row[2], row[3]) for row in known}
        return [_document(key, *names[key], parts.get(key, []), vectors) for key in ids if key in names]


def _document(key: str, title: str, source: str, language: str, rows: list[TupleRow], vectors: bool) -> IndexedDocument:
    chunks = tuple(
        IndexedChunk(index=row[1], page=row[2], page_label=row[6] or "", section=row[4], text=row[5], md5=row[3])
        for row in rows
    )
    table = np.empty((0, 0), np.float32)
    if vectors and rows:
        table = np.stack([row[7].to_numpy() for row in rows]).astype(np.float32)
    return IndexedDocument(key, title, source, language, chunks, table)
