"""Vectors under another profile: kept beside those in use, in committed batches, until they take their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from accelerator.faults import reach
from rag_core.domain import Profile
from rag_core.errors import StoreCorrupt, StoreUnavailable
from rag_core.storage.postgres.changes import queue
from rag_core.storage.postgres.database import Database, lift_limits, retried
from rag_core.storage.postgres.edits import reembed_edits
from rag_core.storage.postgres.pieces import kept_form
from rag_core.storage.postgres.rows import PROFILE_KEY

_PROFILE = "p.id, p.name, p.revision, p.dimensions, p.pooling, p.precision"
# Documents whose chunks are searched, or will be as soon as their dump is written.
_KEPT = "d.state IN ('stored', 'ready')"
_BEGINNING = ("", -1)


@dataclass(frozen=True, slots=True)
class Text:
    """A chunk's text and where it belongs."""

    document_id: str
    index: int
    text: str
    md5: str
    title: str
    section: str


class NewVectors:
    """The vectors that a re-embedding has made so far. One profile at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def unfinished(self) -> tuple[Profile, str] | None:
        """The profile that a re-embedding was interrupted with, and where its model was found; None without one."""
        row = self._database.row(
            f"SELECT {_PROFILE}, p.model FROM embedding_profiles p"
            " WHERE EXISTS (SELECT FROM new_vectors n WHERE n.profile = p.id) LIMIT 1"
        )
        return (Profile(*row[:-1]), row[-1]) if row else None

    def model_of(self, profile: Profile) -> str:
        """Where a profile's model was found when it was used last; empty when that was never noted."""
        row = self._database.row("SELECT model FROM embedding_profiles WHERE id = %s", (profile.id,))
        return row[0] if row else ""

    @retried
    def note_model(self, profile: Profile, model: str) -> None:
        """Keep where a profile's model was found, so that it is found again when the settings name another."""
        with self._database.transaction() as connection:
            _note(connection, profile, model)

    def keep_only(self, profile: Profile | None) -> None:
        """Forget the vectors of every other profile; of all for None."""
        self._database.execute("DELETE FROM new_vectors WHERE profile IS DISTINCT FROM %s", (profile and profile.id,))

    def counts(self) -> tuple[int, int]:
        """Chunks that have their new vector, and chunks in all."""
        row = self._database.row(
            "SELECT count(n.index), count(*) FROM chunks c"
            f" JOIN documents d ON d.id = c.document_id AND {_KEPT}"
            " LEFT JOIN new_vectors n ON n.document_id = c.document_id AND n.index = c.index"
        )
        return (row[0], row[1]) if row else (0, 0)

    def missing(self, after: Text | None, limit: int) -> list[Text]:
        """Chunks without a new vector, in order, from behind one on."""
        rows = self._database.rows(
            "SELECT c.document_id, c.index, c.text, c.md5, coalesce(d.card->>'title', d.title), c.section"
            " FROM chunks c"
            f" JOIN documents d ON d.id = c.document_id AND {_KEPT}"
            " WHERE (c.document_id, c.index) > (%s, %s) AND NOT EXISTS"
            " (SELECT FROM new_vectors n WHERE n.document_id = c.document_id AND n.index = c.index)"
            " ORDER BY c.document_id, c.index LIMIT %s",
            (*(_BEGINNING if after is None else (after.document_id, after.index)), limit),
        )
        return [Text(*row) for row in rows]

    @retried
    def put(
        self,
        profile: Profile,
        model: str,
        texts: Sequence[Text],
        vectors: NDArray[np.float32],
        pieces: Sequence[NDArray[np.int8]],
    ) -> None:
        """Commit the vectors of texts, float32 (n, d), and of the pieces of each, int8 (p, d).

        A chunk that was removed or changed meanwhile is left out.
        """
        rows = zip(texts, vectors, map(kept_form, pieces), strict=True)
        made = {(text.document_id, text.index, text.md5): (row, kept) for text, row, kept in rows}
        with self._database.transaction() as connection:
            _note(connection, profile, model)
            found = connection.execute(
                "SELECT c.document_id, c.index, c.md5 FROM unnest(%s::text[], %s::int[]) AS wanted (document_id, index)"
                " JOIN chunks c USING (document_id, index) WHERE NOT EXISTS (SELECT FROM new_vectors n"
                " WHERE n.document_id = c.document_id AND n.index = c.index) FOR KEY SHARE OF c",
                ([text.document_id for text in texts], [text.index for text in texts]),
            ).fetchall()
            with (
                connection.cursor() as cursor,
                cursor.copy(
                    "COPY new_vectors (document_id, index, profile, vector, pieces) FROM STDIN (FORMAT BINARY)"
                ) as copy,
            ):
                copy.set_types(["text", "int4", "text", "vector", "bytea"])
                for document_id, index, md5 in found:
                    if (document_id, index, md5) in made:
                        copy.write_row((document_id, index, profile.id, *made[document_id, index, md5]))
        reach("reembedding.batch")

    def of(self, document_id: str) -> tuple[NDArray[np.float32], list[str]]:
        """New vectors, float32 (n, d), and MD5 sums of a document's chunks in order. Raises StoreCorrupt for none."""
        rows = self._database.rows(
            "SELECT n.vector, c.md5 FROM new_vectors n JOIN chunks c USING (document_id, index)"
            " WHERE document_id = %s ORDER BY index",
            (document_id,),
            binary=True,
        )
        if not rows:
            raise StoreCorrupt(f"The document {document_id} has no new vectors.")
        return np.stack([row[0].to_numpy() for row in rows]).astype(np.float32), [row[1] for row in rows]

    def documents(self) -> dict[str, str]:
        """The ready documents that have new vectors, each with an MD5 over those of its texts in order."""
        rows = self._database.rows(
            "SELECT document_id, md5(string_agg(c.md5, '' ORDER BY index)) FROM new_vectors"
            " JOIN chunks c USING (document_id, index) JOIN documents d ON d.id = document_id"
            " WHERE d.state = 'ready' GROUP BY document_id"
        )
        return {row[0]: row[1] for row in rows}

    def stale(self) -> list[Profile]:
        """Profiles that neither a document nor a re-embedding uses any longer; none while the library is empty."""
        rows = self._database.rows(
            f"SELECT {_PROFILE} FROM embedding_profiles p WHERE EXISTS (SELECT FROM documents WHERE profile IS NOT"
            " NULL) AND NOT EXISTS (SELECT FROM documents d WHERE d.profile = p.id)"
            " AND NOT EXISTS (SELECT FROM new_vectors n WHERE n.profile = p.id)"
        )
        return [Profile(*row) for row in rows]

    def forget(self, profile: Profile) -> None:
        """Forget a stale profile."""
        self._database.execute("DELETE FROM embedding_profiles WHERE id = %s", (profile.id,))


def take_over(connection: Connection[TupleRow], profile: Profile, indexes: Sequence[str]) -> set[str]:
    """Put the new vectors in the place of the old ones, and have indexes take every document; nothing is committed.

    Returns the ready documents, which stay locked until the transaction ends. Raises StoreUnavailable when some chunk
    has no new vector.
    """
    lift_limits(connection)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (PROFILE_KEY,))
    rows = connection.execute(
        "UPDATE documents SET profile = %s WHERE profile IS NOT NULL RETURNING id, state", (profile.id,)
    ).fetchall()
    connection.execute("DELETE FROM chunks c USING documents d WHERE d.id = c.document_id AND d.state = 'removing'")
    chunks = connection.execute("SELECT count(*) FROM chunks").fetchone()
    replaced = connection.execute(
        "UPDATE chunks c SET vector = n.vector, pieces = n.pieces FROM new_vectors n WHERE n.profile = %s"
        " AND n.document_id = c.document_id AND n.index = c.index",
        (profile.id,),
    ).rowcount
    if chunks is None or replaced != chunks[0]:
        raise StoreUnavailable(
            "Documents came in while the library was to cut over.", help="Start it again: it goes on."
        )
    reembed_edits(connection, profile)
    queue(connection, None, indexes)
    connection.execute("DELETE FROM new_vectors")
    return {row[0] for row in rows if row[1] == "ready"}


def _note(connection: Connection[TupleRow], profile: Profile, model: str) -> None:
    connection.execute(
        "INSERT INTO embedding_profiles (id, name, revision, dimensions, pooling, precision, model)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET model = excluded.model",
        (
            profile.id, profile.name, profile.revision, profile.dimensions, profile.pooling, profile.precision, model,
        ),
    )  # fmt: skip
