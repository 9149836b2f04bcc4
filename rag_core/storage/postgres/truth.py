"""What PostgreSQL says of every document, read in batches, for those who compare the other stores with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from rag_core.storage.postgres.database import Database

_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Facts:
    """A document's row. Two readings are equal as long as the document was not changed, removed or added again."""

    id: str
    title: str
    state: str
    sha256: str
    byte_size: int
    page_count: int
    chunk_count: int
    profile: str | None
    added_at: datetime


@dataclass(frozen=True, slots=True)
class Rows:
    """Chunks of one document, in order. hashes: uint8 (n, 16), MD5 as kept; vectors: float32 (n, d) where asked for."""

    document_id: str
    indexes: list[int]
    hashes: NDArray[np.uint8]
    vectors: NDArray[np.float32] | None = None


class Truth:
    """Reads the tables; writes nothing. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def facts(self) -> dict[str, Facts]:
        """Every document in whatever state, by id."""
        rows = self._database.rows(
            "SELECT id, title, state, sha256, byte_size, page_count, chunk_count, profile, added_at FROM documents"
        )
        return {row[0]: Facts(*row) for row in rows}

    def batches(self, documents: Collection[Facts]) -> Iterator[list[str]]:
        """Ids of documents in parts of about as many chunks each."""
        batch: list[str] = []
        rows = 0
        for document in documents:
            batch.append(document.id)
            rows += document.chunk_count + 1
            if rows >= _ROWS:
                yield batch
                batch, rows = [], 0
        if batch:
            yield batch

    def counted(self, ids: Sequence[str], dimensions: int) -> Iterator[tuple[str, int, int, int]]:
        """Of each document its id, its pages, its chunks, and the chunks without right index, page, MD5 or width."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT d.id, (SELECT count(*) FROM pages p WHERE p.document_id = d.id),"
                " (SELECT count(*) FROM chunks c WHERE c.document_id = d.id),"
                " (SELECT count(*) FROM chunks c WHERE c.document_id = d.id AND (c.index < 0"
                "  OR c.index >= d.chunk_count OR c.md5 !~ '^[0-9a-f]{32}$' OR vector_dims(c.vector) <> %s"
                "  OR NOT EXISTS (SELECT FROM pages p WHERE p.document_id = d.id AND p.number = c.page)))"
                " FROM documents d WHERE d.id = ANY(%s)",
                (dimensions, list(ids)),
            ).fetchall()
        yield from rows

    def mistaken(self, ids: Sequence[str]) -> list[str]:
        """The documents among some that have a text of another MD5 than is kept with it."""
        rows = self._database.rows(
            "SELECT DISTINCT document_id FROM chunks WHERE document_id = ANY(%s)"
            " AND md5 <> md5(convert_to(text, 'UTF8'))",
            (list(ids),),
        )
        return [row[0] for row in rows]

    def rows(self, ids: Sequence[str], *, vectors: bool) -> Iterator[Rows]:
        """All chunks of some documents. Documents without chunks are left out."""
        vector = ", vector" if vectors else ""
        return self._read(
            f"SELECT document_id, index, md5{vector} FROM chunks WHERE document_id = ANY(%s) ORDER BY 1, 2",
            (list(ids),),
        )

    def rows_at(self, places: Collection[tuple[str, int]]) -> Iterator[Rows]:
        """Some chunks by document and index, with vectors."""
        return self._read(
            "SELECT document_id, index, md5, vector FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
            " JOIN chunks USING (document_id, index) ORDER BY 1, 2",
            ([place[0] for place in places], [place[1] for place in places]),
        )

    def _read(self, query: str, values: tuple[object, ...]) -> Iterator[Rows]:
        with self._database.transaction() as connection:
            found = connection.execute(query.encode(), values, binary=True).fetchall()
        for document_id, group in groupby(found, key=lambda row: str(row[0])):
            part = list(group)
            hashes = np.frombuffer(bytes.fromhex("".join(row[2] for row in part)), np.uint8).reshape(-1, 16)
            table = np.stack([row[3].to_numpy() for row in part]).astype(np.float32) if len(part[0]) > 3 else None
            yield Rows(document_id, [row[1] for row in part], hashes, table)
