"""Collections: tags that have instructions, settings of search, and conversations."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.domain import Collection, Scope
from rag_core.storage.postgres.database import Database, retried, storable

_COLLECTIONS = """
    SELECT c.id, c.name, c.instructions, c.settings, c.created_at, (SELECT count(*) FROM document_tags t
        JOIN documents d ON d.id = t.document_id WHERE t.tag = c.name AND d.state <> 'removing')
    FROM collections c WHERE c.removed_at IS NULL """
_KEPT = "1 day"  # what was removed, for whoever takes it back
_TAKEN = "Another collection or tag has this name."


class CollectionStore:
    """Reads and writes collections. Raises ValueError for a name that another one has.

    `forget` is told of every document whose tag is called otherwise.
    """

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    def all(self) -> list[Collection]:
        """Every collection, in alphabetical order."""
        return [Collection(*row) for row in self._database.rows(_COLLECTIONS + "ORDER BY lower(c.name)")]

    def in_effect(self, conversation_id: str | None, scope: Scope) -> Collection | None:
        """That of a conversation, or else the one that a scope is, if any."""
        tag = scope.tags[0] if len(scope.tags) == 1 else ""
        row = self._database.row(
            _COLLECTIONS + "AND c.id = coalesce((SELECT v.collection FROM conversations v JOIN collections o"
            " ON o.id = v.collection AND o.removed_at IS NULL WHERE v.id = %s),"
            " (SELECT id FROM collections WHERE removed_at IS NULL AND lower(name) = lower(%s)))",
            (storable(conversation_id or ""), storable(tag)),
        )
        return Collection(*row) if row else None

    @retried
    def make(self, name: str, instructions: str, settings: Mapping[str, object]) -> str:
        """A new one, called as a tag is that is the same in any case of letters. Returns its id."""
        collection_id, name = uuid.uuid4().hex, storable(name)
        with self._database.transaction() as connection:
            _check_free(connection, name, "")
            connection.execute(
                "INSERT INTO collections (id, name, instructions, settings) VALUES (%s, coalesce("
                "(SELECT min(tag) FROM document_tags WHERE lower(tag) = lower(%s)), %s), %s, %s)",
                (collection_id, name, name, storable(instructions), Jsonb(dict(settings))),
            )
        return collection_id

    @retried
    def change(self, collection_id: str, name: str, instructions: str, settings: Mapping[str, object]) -> None:
        """Call it otherwise, and its tag wherever that is named, and give it these instructions and settings."""
        collection_id, name = storable(collection_id), storable(name)
        tagged: list[TupleRow] = []
        with self._database.transaction() as connection:
            _check_free(connection, name, collection_id)
            row = connection.execute("SELECT name FROM collections WHERE id = %s", (collection_id,)).fetchone()
            if row is not None and row[0] != name:
                tagged = _retag(connection, row[0], name)
            connection.execute(
                "UPDATE collections SET name = %s, instructions = %s, settings = %s WHERE id = %s",
                (name, storable(instructions), Jsonb(dict(settings)), collection_id),
            )
        self._forget(*(row[0] for row in tagged))

    @retried
    def remove(self, collection_id: str) -> None:
        """Remove one, for now; what was removed long ago goes for good."""
        with self._database.transaction() as connection:
            connection.execute(f"DELETE FROM collections WHERE removed_at < now() - interval '{_KEPT}'".encode())
            connection.execute("UPDATE collections SET removed_at = now() WHERE id = %s", (storable(collection_id),))

    @retried
    def take_back(self, collection_id: str) -> bool:
        """Undo that. Returns whether it was still there."""
        with self._database.transaction() as connection:
            found = connection.execute("SELECT name FROM collections WHERE id = %s", (storable(collection_id),))
            row = found.fetchone()
            if row is not None:
                _check_free(connection, row[0], storable(collection_id))
            connection.execute("UPDATE collections SET removed_at = NULL WHERE id = %s", (storable(collection_id),))
        return row is not None

    def move(self, conversation_id: str, collection_id: str | None) -> None:
        """Put a conversation into a collection, or into none."""
        self._database.execute(
            "UPDATE conversations SET collection = (SELECT id FROM collections WHERE id = %s) WHERE id = %s",
            (storable(collection_id or ""), storable(conversation_id)),
        )


def _check_free(connection: Connection[TupleRow], name: str, but: str) -> None:
    """Nobody else makes one of this name before the end of the transaction, and none has it."""
    connection.execute("LOCK TABLE collections IN SHARE ROW EXCLUSIVE MODE")
    if connection.execute(
        "SELECT id FROM collections WHERE lower(name) = lower(%s) AND id <> %s AND removed_at IS NULL", (name, but)
    ).fetchone():
        raise ValueError(_TAKEN)


def _retag(connection: Connection[TupleRow], before: str, name: str) -> list[TupleRow]:
    """Another name for a tag, wherever it is kept. Returns the ids of the documents that have it."""
    taken = connection.execute("SELECT tag FROM document_tags WHERE lower(tag) = lower(%s)", (name,)).fetchone()
    if taken and before.lower() != name.lower():
        raise ValueError(_TAKEN)
    for table in ("followed_sources", "access_keys"):
        connection.execute(f"UPDATE {table} SET tags = array_replace(tags, %s, %s)".encode(), (before, name))
    connection.execute(
        "UPDATE conversations SET scope = jsonb_set(scope, '{tags}', (SELECT jsonb_agg(CASE tag WHEN to_jsonb(%s::text)"
        " THEN to_jsonb(%s::text) ELSE tag END) FROM jsonb_array_elements(scope -> 'tags') AS t (tag)))"
        " WHERE scope -> 'tags' ? %s",
        (before, name, before),
    )
    return connection.execute(
        "UPDATE document_tags SET tag = %s WHERE tag = %s RETURNING document_id", (name, before)
    ).fetchall()
