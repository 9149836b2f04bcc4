"""People: which documents and collections each may see and change. One function of PostgreSQL says what is visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_core.domain import Membership
from rag_core.storage.postgres.database import Database, storable

VISIBLE = "SELECT v FROM visible_documents({}) AS v"
"""The ids of the documents that a person may see; in its place stands how a statement names that person."""
COLLECTED = """SELECT k.document_id FROM collected k JOIN collections c ON c.id = k.collection_id
    WHERE lower(c.name) = ANY({names}) AND c.id IN (SELECT v FROM visible_collections({viewer}) AS v)"""
"""The ids of the documents of collections that a person sees and that have these names, in small letters: what editors
put into one need not have its name as a tag."""
_ROLE = f"""
    SELECT CASE
        WHEN d.owner = %(person)s AND %(person)s <> '' THEN 'owner'
        WHEN EXISTS (SELECT FROM collected k JOIN shared_with s USING (collection_id)
            WHERE k.document_id = d.id AND s.person = %(person)s AND s.role IN ('editor', 'owner')) THEN 'editor'
        WHEN d.id IN ({VISIBLE.format("%(person)s")}) THEN 'reader' END
    FROM documents d WHERE d.id = %(document)s AND d.state <> 'removing'"""


class PeopleStore:
    """Reads and writes whose things are, and with whom they are shared. Raises StoreUnavailable.

    A person is an address in small letters. `forget` is told of every document that becomes another one's.
    """

    def __init__(self, database: Database, forget: Callable[..., None]) -> None:
        self._database = database
        self._forget = forget

    def role(self, person: str, document_id: str) -> Membership | None:
        """What a person may do with a document; None where they may not even see it, or there is none."""
        row = self._database.row(_ROLE, {"person": storable(person), "document": storable(document_id)})
        return row[0] if row else None

    def membership(self, person: str, collection_id: str) -> Membership | None:
        """What a person may do with a collection; what is everybody's is read by each. None where they do not see
        it."""
        row = self._database.row(
            "SELECT coalesce((SELECT role FROM shared_with WHERE collection_id = c.id AND person = %s), 'reader')"
            " FROM collections c WHERE id = %s AND id IN (SELECT v FROM visible_collections(%s) AS v)",
            (storable(person), storable(collection_id), storable(person)),
        )
        return row[0] if row else None

    def owner_of_conversation(self, conversation_id: str) -> str | None:
        """Whose a conversation is, "" where it is nobody's in particular; None where there is none."""
        row = self._database.row("SELECT owner FROM conversations WHERE id = %s", (storable(conversation_id),))
        return row[0] if row else None

    def owner_of_message(self, message_id: str) -> str | None:
        """Whose the conversation of a message is."""
        row = self._database.row(
            "SELECT c.owner FROM messages m JOIN conversations c ON c.id = m.conversation_id WHERE m.id = %s",
            (storable(message_id),),
        )
        return row[0] if row else None

    def give(self, ids: Sequence[str], person: str) -> None:
        """Make documents a person's own; "" makes them everybody's."""
        self._database.execute(
            "UPDATE documents SET owner = %s WHERE id = ANY(%s)", (storable(person), [storable(one) for one in ids])
        )
        self._forget(*ids)

    def members(self, collection_id: str) -> dict[str, Membership]:
        """With whom a collection is shared, and what each may do, its owner not among them."""
        rows = self._database.rows(
            "SELECT person, role FROM collection_members WHERE collection_id = %s ORDER BY person",
            (storable(collection_id),),
        )
        return {row[0]: row[1] for row in rows}

    def share(self, collection_id: str, person: str, role: Membership) -> None:
        """Share a collection with a person, or let them do more or less with it."""
        self._database.execute(
            "INSERT INTO collection_members (collection_id, person, role) VALUES (%s, %s, %s)"
            " ON CONFLICT (collection_id, person) DO UPDATE SET role = excluded.role",
            (storable(collection_id), storable(person), role),
        )

    def unshare(self, collection_id: str, person: str) -> None:
        """Share a collection with a person no longer; what they put into it leaves it with them."""
        self._database.execute(
            "WITH gone AS (DELETE FROM collection_members WHERE collection_id = %s AND person = %s)"
            " DELETE FROM collection_documents e USING documents d WHERE e.collection_id = %s"
            " AND d.id = e.document_id AND d.owner = %s",
            (storable(collection_id), storable(person), storable(collection_id), storable(person)),
        )

    def put(self, collection_id: str, document_id: str) -> None:
        """Put a document of an editor into a collection."""
        self._database.execute(
            "INSERT INTO collection_documents (collection_id, document_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (storable(collection_id), storable(document_id)),
        )

    def take_out(self, collection_id: str, document_id: str) -> None:
        """Take such a document out again."""
        self._database.execute(
            "DELETE FROM collection_documents WHERE collection_id = %s AND document_id = %s",
            (storable(collection_id), storable(document_id)),
        )
