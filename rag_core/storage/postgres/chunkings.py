"""By which chunking each document was cut. A chunking is told by its settings' `key`."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.storage.postgres.database import Database

_OTHERWISE = "FROM documents WHERE state = 'ready' AND chunk_count > 0 AND chunking <> %s"


class Chunkings:
    """Reads and writes the column. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count_others(self, chunking: str) -> int:
        """How many ready documents were cut by another chunking than this one."""
        row = self._database.row(f"SELECT count(*) {_OTHERWISE}", (chunking,))
        return row[0] if row else 0

    def others(self, chunking: str, after: str, limit: int) -> list[str]:
        """The ids of such documents in their order, from the one behind `after` on."""
        found = self._database.rows(
            f"SELECT id {_OTHERWISE} AND id > %s ORDER BY id LIMIT %s", (chunking, after, limit)
        )  # fmt: skip
        return [row[0] for row in found]

    def put(self, chunking: str, ids: Sequence[str] | None = None) -> None:
        """Count these documents, or all that are ready, as cut by a chunking."""
        wanted = None if ids is None else list(ids)
        self._database.execute(
            "UPDATE documents SET chunking = %s WHERE state = 'ready' AND (%s::text[] IS NULL OR id = ANY(%s))",
            (chunking, wanted, wanted),
        )
