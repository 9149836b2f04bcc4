"""A scope to the chunks that it leaves to be searched: the one place where filters are looked up in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rag_core.domain import Scope
from rag_core.storage.indexes.dense import Within
from rag_core.storage.postgres.database import Database, storable
from rag_core.storage.postgres.people import TAGGED, VISIBLE
from rag_core.storage.postgres.rows import YEAR

Condition = tuple[str, dict[str, object]]
# Any change of a row gives it another xmin, the number of the transaction that wrote it.
_STATE = """
    WITH within AS MATERIALIZED (SELECT id, xmin FROM documents d WHERE {where})
    SELECT concat_ws(' ',
        (SELECT md5(string_agg(id || xmin, ',' ORDER BY id)) FROM within),
        (SELECT string_agg(document_id || number || t.xmin, ',' ORDER BY document_id, number)
            FROM table_readings t JOIN within ON id = document_id),
        (SELECT string_agg(index_name || document_id, ',' ORDER BY index_name, document_id)
            FROM index_waiting JOIN within ON id = document_id
            WHERE server = %(server)s AND index_name = ANY(%(indexes)s)))"""


def documents_within(database: Database, scope: Scope) -> dict[str, int]:
    """The ready documents that a scope leaves, with how many chunks each has. Raises StoreUnavailable."""
    where, values = _where(scope)
    rows = database.rows(f"SELECT id, chunk_count FROM documents d WHERE {where}".encode(), values)
    return {row[0]: row[1] for row in rows}


def state_within(database: Database, scope: Scope, indexes: Sequence[str]) -> str:
    """A text that changes with whatever changes of the ready documents that a scope leaves: one that comes or goes,
    its text, title or tables, and what some indexes have yet to follow of it. Raises StoreUnavailable."""
    where, values = _where(scope)
    row = database.row(
        _STATE.format(where=where).encode(), {**values, "server": database.server, "indexes": list(indexes)}
    )
    return str(row[0]) if row else ""


def narrowed(found: Mapping[str, Sequence[int]]) -> Within:
    """Some chunks of each document."""
    rows = {key: np.asarray(indexes, dtype=np.intp) for key, indexes in found.items() if len(indexes)}
    return Within(rows, sum(map(len, rows.values())))


def _where(scope: Scope) -> Condition:
    """What a ready document of a scope fulfils, with the values of its names."""
    conditions = [("state = 'ready'", {}), *_conditions(scope)]
    return " AND ".join(text for text, _ in conditions), {
        name: value for _, named in conditions for name, value in named.items()
    }


def _conditions(scope: Scope) -> list[Condition]:
    """What a document must be, as this module's own SQL with named values."""
    found: list[Condition] = []
    if scope.viewer:
        found.append((f"id IN ({VISIBLE.format('%(viewer)s')})", {"viewer": scope.viewer}))
    if scope.documents:
        found.append(("id = ANY(%(documents)s)", {"documents": [storable(one) for one in scope.documents]}))
    if scope.folders:
        held = (
            "EXISTS (SELECT FROM sources s, unnest(%(folders)s::text[]) AS f (path)"
            " WHERE s.document_id = d.id AND starts_with(s.name, f.path))"
        )
        found.append((held, {"folders": [storable(one) for one in scope.folders]}))
    if scope.added_since is not None:
        found.append(("added_at::date >= %(since)s", {"since": scope.added_since}))
    if scope.added_until is not None:
        found.append(("added_at::date <= %(until)s", {"until": scope.added_until}))
    return found + _of_cards(scope)


def _of_cards(scope: Scope) -> list[Condition]:
    """What documents' cards and tags say."""
    found: list[Condition] = []
    if scope.years:
        found.append((f"{YEAR} = ANY(%(years)s)", {"years": list(scope.years)}))
    if scope.tags:
        tags = [storable(one) for one in scope.tags]
        if scope.viewer:
            held = f"id IN ({TAGGED.format(names='%(tags)s', viewer='%(viewer)s')})"
        else:
            held = "EXISTS (SELECT FROM document_tags t WHERE t.document_id = d.id AND t.tag = ANY(%(tags)s))"
        found.append((held, {"tags": tags}))
    return found
