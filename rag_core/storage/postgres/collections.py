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
    SELECT c.id, c.name, c.instructions, c.settings, c.created_at, {documents}, c.owner
    FROM collections c WHERE c.removed_at IS NULL """
_COUNTED = _COLLECTIONS.format(
    documents="""(SELECT count(DISTINCT k.document_id) FROM collected k JOIN documents d ON d.id = k.document_id
        WHERE k.collection_id = c.id AND d.state <> 'removing')"""
)
# The collection that a person means by a name: their own before one that is shared with them.
CALLED = (
    "(SELECT o.id FROM collections o WHERE lower(o.name) = lower(%(tag)s)"
    " AND o.id IN (SELECT v FROM visible_collections(%(viewer)s) AS v)"
    " ORDER BY o.owner = %(viewer)s DESC, o.owner, o.id LIMIT 1)"
)
_KEPT = "1 day"  # what was removed, for whoever takes it back
_TAKEN = "Another collection or tag has this name."


class CollectionStore:
    """Reads and writes collections. Raises ValueError for a name that another one has.

    `forget` is told of every document whose tag is called otherwise.
    """

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    def all(self, viewer: str = "") -> list[Collection]:
        """Every collection, or those that a viewer may see, in alphabetical order, with how many documents each has."""
        seen = "AND c.id IN (SELECT v FROM visible_collections(%(viewer)s) AS v) " if viewer else ""
        rows = self._database.rows(f"{_COUNTED}{seen}ORDER BY lower(c.name), c.owner", {"viewer": storable(viewer)})
        return [Collection(*row) for row in rows]

    def in_effect(self, conversation_id: str | None, scope: Scope) -> Collection | None:
        """That of a conversation, or else the one that a scope is, if any; its documents are not counted."""
        tag = scope.tags[0] if len(scope.tags) == 1 else ""
        viewer = storable(scope.viewer)
        row = self._database.row(
            _COLLECTIONS.format(documents="0")
            + "AND c.id = coalesce((SELECT v.collection FROM conversations v JOIN collections o"
            " ON o.id = v.collection AND o.removed_at IS NULL WHERE v.id = %(conversation)s"
            " AND (%(viewer)s = '' OR o.id IN (SELECT s FROM visible_collections(%(viewer)s) AS s))),"
            f" {CALLED})",
            {"conversation": storable(conversation_id or ""), "tag": storable(tag), "viewer": viewer},
        )
        return Collection(*row) if row else None

    @retried
    def make(self, name: str, instructions: str, settings: Mapping[str, object], owner: str = "") -> str:
        """A new one, called as a tag of its owner's is that is the same in any case of letters. Returns its id."""
        collection_id, name, owner = uuid.uuid4().hex, storable(name), storable(owner)
        with self._database.transaction() as connection:
            _check_free(connection, name, "", owner)
            connection.execute(
                "INSERT INTO collections (id, name, instructions, settings, owner) VALUES (%s, coalesce("
                "(SELECT min(tag) FROM document_tags JOIN documents d ON d.id = document_id"
                " WHERE lower(tag) = lower(%s) AND d.owner = %s), %s), %s, %s, %s)",
                (collection_id, name, owner, name, storable(instructions), Jsonb(dict(settings)), owner),
            )
        return collection_id

    @retried
    def change(self, collection_id: str, name: str, instructions: str, settings: Mapping[str, object]) -> None:
        """Call it otherwise, and its tag wherever that is named, and give it these instructions and settings."""
        collection_id, name = storable(collection_id), storable(name)
        tagged: list[TupleRow] = []
        with self._database.transaction() as connection:
            row = connection.execute("SELECT name, owner FROM collections WHERE id = %s", (collection_id,)).fetchone()
            _check_free(connection, name, collection_id, row[1] if row else "")
            if row is not None and row[0] != name:
                tagged = _retag(connection, row[0], name, row[1])
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
            found = connection.execute("SELECT name, owner FROM collections WHERE id = %s", (storable(collection_id),))
            row = found.fetchone()
            if row is not None:
                _check_free(connection, row[0], storable(collection_id), row[1])
            connection.execute("UPDATE collections SET removed_at = NULL WHERE id = %s", (storable(collection_id),))
        return row is not None

    def is_owned(self, collection_id: str, person: str) -> bool:
        """Whether a collection is a person's own, also one that was removed and can be taken back."""
        row = self._database.row("SELECT owner FROM collections WHERE id = %s", (storable(collection_id),))
        return row is not None and row[0] == person

    def move(self, conversation_id: str, collection: str | None) -> None:
        """Put a conversation into a collection, or into none."""
        self._database.execute(
            "UPDATE conversations SET collection = (SELECT id FROM collections WHERE id = %s) WHERE id = %s",
            (storable(collection or ""), storable(conversation_id)),
        )


def _check_free(connection: Connection[TupleRow], name: str, but: str, owner: str) -> None:
    """Nobody else makes one of this name before the end of the transaction, and none of its owner's has it."""
    connection.execute("LOCK TABLE collections IN SHARE ROW EXCLUSIVE MODE")
    if connection.execute(
        "SELECT id FROM collections WHERE lower(name) = lower(%s) AND id <> %s AND owner = %s AND removed_at IS NULL",
        (name, but, owner),
    ).fetchone():
        raise ValueError(_TAKEN)


def _retag(connection: Connection[TupleRow], before: str, name: str, owner: str) -> list[TupleRow]:
    """Another name for a tag of an owner's, wherever it is kept. Returns the ids of the documents that have it."""
    taken = connection.execute(
        "SELECT tag FROM document_tags JOIN documents d ON d.id = document_id"
        " WHERE lower(tag) = lower(%s) AND d.owner = %s",
        (name, owner),
    ).fetchone()
    if taken and before.lower() != name.lower():
        raise ValueError(_TAKEN)
    for table in ("followed_sources", "access_keys") if not owner else ():  # which are of what is everybody's
        connection.execute(f"UPDATE {table} SET tags = array_replace(tags, %s, %s)".encode(), (before, name))
    connection.execute(
        "UPDATE conversations SET scope = jsonb_set(scope, '{tags}', (SELECT jsonb_agg(CASE tag WHEN to_jsonb(%s::text)"
        " THEN to_jsonb(%s::text) ELSE tag END) FROM jsonb_array_elements(scope -> 'tags') AS t (tag)))"
        " WHERE scope -> 'tags' ? %s AND owner = %s",
        (before, name, before, owner),
    )
    return connection.execute(
        "UPDATE document_tags SET tag = %s FROM documents d WHERE d.id = document_id AND d.owner = %s AND tag = %s"
        " RETURNING document_id",
        (name, owner, before),
    ).fetchall()
