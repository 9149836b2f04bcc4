"""What a search reads of its candidates, of any number of them in one statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.domain import Box
from rag_core.storage.postgres.database import Database, retried


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A chunk as a search needs it. `boxes` is the JSON text of its boxes, which few candidates' are read of."""

    document_id: str
    index: int
    page: int
    page_label: str
    section: str
    start: int
    end: int
    boxes: str
    text: str
    md5: str


class Passages:
    """Reads candidates of searches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    def rows(self, refs: Sequence[tuple[str, int]]) -> dict[tuple[str, int], PassageRow]:
        """Chunks of ready documents by document and index. Raises StoreUnavailable."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT c.document_id, c.index, c.page, p.label, c.section, c.span_start, c.span_end, c.boxes::text,"
                " c.text, c.md5 FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
                " JOIN chunks c USING (document_id, index)"
                " JOIN documents d ON d.id = c.document_id AND d.state = 'ready'"
                " JOIN pages p ON p.document_id = c.document_id AND p.number = c.page",
                ([ref[0] for ref in refs], [ref[1] for ref in refs]),
            ).fetchall()
        return {(row[0], row[1]): PassageRow(*row) for row in rows}


def boxes_of(row: PassageRow) -> tuple[Box, ...]:
    """The boxes of a chunk's lines."""
    return tuple(Box(*box) for box in json.loads(row.boxes))
