"""Removals that can be undone for a while: rows and files stay, and the log tells the indexes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accelerator.faults import reach
from rag_core.storage.postgres.changes import append
from rag_core.storage.postgres.database import Database, retried

_SET_ASIDE = """
    UPDATE documents SET state = 'removing', kept_until = now() + make_interval(secs => %s)
    WHERE id = ANY(%s) AND state = 'ready' RETURNING id
"""
# One that lost its chunks meanwhile, or whose vectors are another model's, cannot come back as it was.
_TAKE_BACK = """
    UPDATE documents d SET state = 'stored', generation = DEFAULT, kept_until = NULL
    WHERE id = ANY(%s) AND state = 'removing' AND kept_until > now()
      AND chunk_count = (SELECT count(*) FROM chunks WHERE document_id = d.id)
      AND NOT EXISTS (SELECT FROM documents o WHERE o.state = 'ready' AND o.profile <> d.profile) RETURNING id
"""
_FORGET_LEFT_OUT = """
    DELETE FROM left_out_sources l USING sources s
    WHERE s.document_id = ANY(%s) AND s.location <> '' AND md5(l.location) = md5(s.location)
"""


class RemovalStore:
    """Sets documents aside and takes them back. `forget` is told of each. Raises StoreUnavailable."""

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    @retried
    def set_aside(self, ids: Sequence[str], seconds: float) -> list[str]:
        """Take ready documents out of sight, to be removed for good after so many seconds. Returns those there were."""
        with self._database.transaction() as connection:
            found = [row[0] for row in connection.execute(_SET_ASIDE, (seconds, list(ids))).fetchall()]
            append(connection, "remove", found)
            reach("aside.uncommitted")
        reach("aside.committed")
        self._forget(*found)
        return found

    @retried
    def take_back(self, ids: Sequence[str]) -> list[str]:
        """Have documents that were set aside taken by every index again. Returns those that could be."""
        with self._database.transaction() as connection:
            found = [row[0] for row in connection.execute(_TAKE_BACK, (list(ids),)).fetchall()]
            connection.execute(_FORGET_LEFT_OUT, (found,))
            append(connection, "remove", found)
            reach("back.uncommitted")
        reach("back.committed")
        self._forget(*found)
        return found
