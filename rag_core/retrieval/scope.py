"""A scope to the chunks that it leaves to be searched: the one place where filters are looked up in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.domain import Scope
from rag_core.storage.indexes.dense import Within
from rag_core.storage.postgres.database import Database, storable
from rag_core.storage.postgres.rows import YEAR

Condition = tuple[str, dict[str, object]]


def documents_within(database: Database, scope: Scope) -> dict[str, int]:
    """The ready documents that a scope leaves, with how many chunks each has. Raises StoreUnavailable."""
    conditions = [("state = 'ready'", {}), *_conditions(scope)]
    where = " AND ".join(text for text, _ in conditions)
    values = {name: value for _, named in conditions for name, value in named.items()}
    rows = database.rows(f"SELECT id, chunk_count FROM documents d WHERE {where}".encode(), values)
    return {row[0]: row[1] for row in rows}


def sections_within(database: Database, documents: Sequence[str], titles: Sequence[str]) -> dict[str, list[int]]:
    """The chunks that stand under some sections' titles, in any case of letters, by document."""
    rows = database.rows(
        "SELECT document_id, array_agg(index ORDER BY index) FROM chunks"
        " WHERE document_id = ANY(%s) AND lower(section) = ANY(%s) GROUP BY document_id",
        (list(documents), [title.lower() for title in _storable(titles)]),
    )
    return {row[0]: row[1] for row in rows}


def narrowed(found: Mapping[str, Sequence[int]]) -> Within:
    """Some chunks of each document."""
    rows = {key: np.asarray(indexes, dtype=np.intp) for key, indexes in found.items() if len(indexes)}
    return Within(rows, sum(map(len, rows.values())))


def _conditions(scope: Scope) -> list[Condition]:
    """What a document must be, as this module's own SQL with named values."""
    found: list[Condition] = []
    if scope.documents:
        found.append(("id = ANY(%(documents)s)", {"documents": _storable(scope.documents)}))
    if scope.folders:
        held = (
            "EXISTS (SELECT FROM sources s, unnest(%(folders)s::text[]) AS f (path)"
            " WHERE s.document_id = d.id AND starts_with(s.name, f.path))"
        )
        found.append((held, {"folders": _storable(scope.folders)}))
    if scope.added_since is not None:
        found.append(("added_at::date >= %(since)s", {"since": scope.added_since}))
    if scope.added_until is not None:
        found.append(("added_at::date <= %(until)s", {"until": scope.added_until}))
    return found + _of_cards(scope)


def _storable(texts: Sequence[str]) -> list[str]:
    return [storable(text) for text in texts]


def _of_cards(scope: Scope) -> list[Condition]:
    """What documents' cards and tags say."""
    found: list[Condition] = []
    if scope.years:
        found.append((f"{YEAR} = ANY(%(years)s)", {"years": list(scope.years)}))
    if scope.tags:
        held = "EXISTS (SELECT FROM document_tags t WHERE t.document_id = d.id AND t.tag = ANY(%(tags)s))"
        found.append((held, {"tags": _storable(scope.tags)}))
    return found
