"""Documents that are being removed, at once or after a while in which they can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accelerator.faults import reach
from rag_core.storage.postgres.changes import append
from rag_core.storage.postgres.database import Database, retried, storable

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
    """Takes documents out of sight, back, and away for good. `forget` is told of each. Raises StoreUnavailable."""

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    @retried
    def start(self, document_id: str) -> bool:
        """Take a document out of sight and log its removal. Returns whether there was one in sight."""
        with self._database.transaction() as connection:
            found = connection.execute(
                "UPDATE documents SET state = 'removing' WHERE id = %s AND state <> 'removing' RETURNING id",
                (storable(document_id),),
            ).fetchone()
            if found:
                append(connection, "remove", [document_id])
            reach("removal.uncommitted")
        reach("removal.committed")
        self._forget(document_id)
        return found is not None

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

    def started(self) -> list[str]:
        """The documents that are being removed, but for those that can be taken back still."""
        rows = self._database.rows(
            "SELECT id FROM documents WHERE state = 'removing' AND coalesce(kept_until, '-infinity') <= now()"
            " ORDER BY id"
        )
        return [row[0] for row in rows]

    @retried
    def sweep(self, ids: Sequence[str]) -> None:
        """Delete the rows of documents that are being removed; others stay."""
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM documents WHERE id = ANY(%s) AND state = 'removing'"
                " AND coalesce(kept_until, '-infinity') <= now()",
                (list(ids),),
            )
            reach("removal.unswept")
        reach("removal.swept")
        self._forget(*ids)
