"""Summaries and clusters in Chroma: a second collection beside the chunks, for clients that search there.

Lectern itself goes by those in PostgreSQL, from which this one is brought up to date in the background.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accelerator.atomic import write_atomically
from rag_core.domain import Profile
from rag_core.storage.indexes.chroma import ChromaBatch, ChromaStore
from rag_core.storage.postgres.database import Database

_log = logging.getLogger(__name__)
_SEEN = "hierarchy.seen"
_SOUND = (
    "document_summaries s JOIN documents d ON d.id = s.document_id AND d.state = 'ready'"
    " AND d.generation = s.generation AND d.profile = s.profile AND s.profile = %(profile)s"
)
_ROWS = f"""SELECT 'summary', s.document_id, 0, s.summary, s.vector FROM {_SOUND}
    UNION ALL SELECT 'chunks', s.document_id, c.number, array_to_string(c.terms, ', '), c.centroid
    FROM chunk_clusters c JOIN {_SOUND} ON c.document_id = s.document_id
    UNION ALL SELECT 'documents', '', c.number, array_to_string(c.terms, ', '), c.centroid FROM document_clusters c
    WHERE c.profile = %(profile)s"""
# A row that is written again has another xmin; clusters of chunks are written with their document's summary.
_SUM = "count(*) || ' ' || coalesce(bit_xor(hashtextextended(%s || ' ' || s.xmin::text, 0)), 0)"
_NOTHING = " 0 0 0 0"
_STATE = f"""SELECT (SELECT {_SUM % "s.document_id"} FROM {_SOUND}) || ' ' ||
    (SELECT {_SUM % "s.number"} FROM document_clusters s WHERE s.profile = %(profile)s)"""


@dataclass(frozen=True, eq=False)
class _Row:
    """A summary of a document, or a cluster of its chunks or of documents by its words. vector: float32 (d,)."""

    kind: str
    document_id: str
    number: int
    text: str
    vector: NDArray[np.float32]

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.document_id}:{self.number}"

    @cached_property
    def digest(self) -> str:
        return hashlib.md5(self.text.encode() + self.vector.tobytes(), usedforsecurity=False).hexdigest()

    @property
    def metadata(self) -> dict[str, str | int]:
        return {"kind": self.kind, "document": self.document_id, "number": self.number, "digest": self.digest}


class ChromaHierarchy:
    """The collection. Whoever calls holds the index's turn. All raise ChromaUnavailable and StoreUnavailable."""

    def __init__(self, database: Database, store: ChromaStore) -> None:
        self._database = database
        self._store = store
        self._seen = ""

    def follow(self, profile: Profile, *, again: bool = False) -> None:
        """Write what differs from PostgreSQL, where something changed there since the last time, or `again`."""
        state, last = self._known(profile), self._last()
        if (state == last or (not last and state.endswith(_NOTHING))) and not again:
            return
        lacking, wrong = self._difference(profile)
        if lacking or wrong:
            batch = ChromaBatch(
                [row.id for row in lacking], [row.metadata for row in lacking], [row.text for row in lacking],
                [row.vector for row in lacking],
            )  # fmt: skip
            self._store.change_hierarchy(profile, wrong, batch)
        self._note(state)

    def is_damaged(self, profile: Profile) -> bool:
        """Whether it differs from what was written last; what it has yet to follow is no damage."""
        state = self._known(profile)
        return state == self._last() and any(self._difference(profile)) and state == self._known(profile)

    def _difference(self, profile: Profile) -> tuple[list[_Row], list[str]]:
        """The rows that Chroma lacks, and the ids of those that it has and that are others or belong to nothing."""
        rows = {row.id: row for row in self._rows(profile)}
        held = {key: str((record or {}).get("digest")) for key, record in self._store.hierarchy(profile)}
        sound = {key for key, row in rows.items() if held.get(key) == row.digest}
        return [row for key, row in rows.items() if key not in sound], sorted(held.keys() - sound)

    def _rows(self, profile: Profile) -> list[_Row]:
        rows = self._database.rows(_ROWS.encode(), {"profile": profile.id}, binary=True)
        found = [_Row(kind, key, number, text, vector.to_numpy()) for kind, key, number, text, vector in rows]
        return [row for row in found if row.vector.any()]  # one without direction would be taken for damage

    def _known(self, profile: Profile) -> str:
        """A text that is another once any of PostgreSQL's rows is."""
        row = self._database.row(_STATE.encode(), {"profile": profile.id})
        return f"{profile.id} {row[0] if row else ''}"

    def _last(self) -> str:
        """The state that was written last. With the index's own folder it is lost as that is."""
        if self._store.folder is None:
            return self._seen
        try:
            return (self._store.folder / _SEEN).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    def _note(self, state: str) -> None:
        self._seen = state
        if self._store.folder is not None and self._store.folder.is_dir():
            try:
                write_atomically(self._store.folder / _SEEN, [state.encode()])
            except OSError as error:  # it is compared once more the next time
                _log.warning("What Chroma has of summaries cannot be noted: %s", error)
