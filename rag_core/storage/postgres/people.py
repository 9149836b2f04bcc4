"""People: which documents and collections each may see and change. One function of PostgreSQL says what is visible."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import LiteralString

from rag_core.domain import Document, Membership, address_of
from rag_core.errors import ConfigurationError
from rag_core.storage.postgres.database import Database, storable

VISIBLE = "SELECT v FROM visible_documents({}) AS v"
"""The ids of the documents that a person may see; in its place stands how a statement names that person."""
TAGGED = """SELECT t.document_id FROM document_tags t JOIN documents o ON o.id = t.document_id
    WHERE t.tag = ANY({names}) AND o.owner IN ('', {viewer})
    UNION ALL
    SELECT k.document_id FROM collected k JOIN collections c ON c.id = k.collection_id
    WHERE lower(c.name) IN (SELECT lower(n) FROM unnest({names}::text[]) AS n (n))
    AND c.id IN (SELECT v FROM visible_collections({viewer}) AS v)"""
"""The ids of the documents that have one of some tags for a person: the tags of what is theirs or everybody's, and the
names of collections that they see. Other tags of what is shared with them are its owner's alone."""
_TAGS = """SELECT t.document_id, t.tag FROM document_tags t JOIN documents o ON o.id = t.document_id
    WHERE o.owner IN ('', %(viewer)s)
    UNION
    SELECT k.document_id, c.name FROM collected k JOIN collections c ON c.id = k.collection_id
    WHERE c.id IN (SELECT v FROM visible_collections(%(viewer)s) AS v)"""
_ROLE = f"""
    SELECT CASE
        WHEN d.owner = %(person)s AND %(person)s <> '' THEN 'owner'
        WHEN EXISTS (SELECT FROM collected k JOIN shared_with s USING (collection_id)
            WHERE k.document_id = d.id AND s.person = %(person)s AND s.role IN ('editor', 'owner')) THEN 'editor'
        WHEN d.id IN ({VISIBLE.format("%(person)s")}) THEN 'reader' END
    FROM documents d WHERE d.id = %(document)s AND d.state <> 'removing'"""

# Whose the document last seen at a place was, and whose the one of an id is.
_PLACED = """
    SELECT coalesce((SELECT d.owner FROM sources s JOIN documents d ON d.id = s.document_id
            WHERE s.location <> '' AND md5(s.location) = md5(%(location)s) AND s.location = %(location)s
            ORDER BY s.looked_at DESC LIMIT 1),
            (SELECT owner FROM left_out_sources WHERE md5(location) = md5(%(location)s))),
        (SELECT owner FROM documents WHERE id = %(document)s AND state <> 'removing')"""


class PeopleStore:
    """Reads and writes whose things are, and with whom they are shared. Thread-safe. Raises StoreUnavailable.

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

    def seen(self, viewer: str, documents: Sequence[Document]) -> list[Document]:
        """Documents that a person sees, with the tags that they have for that person."""
        rows = self._database.rows(
            f"SELECT document_id, array_agg(tag ORDER BY lower(tag), tag) FROM ({_TAGS}) AS t"
            " WHERE document_id = ANY(%(ids)s) GROUP BY document_id",
            {"viewer": storable(viewer), "ids": [document.id for document in documents]},
        )
        tags = {row[0]: tuple(row[1]) for row in rows}
        return [replace(document, tags=tags.get(document.id, ())) for document in documents]

    def tags(self, viewer: str) -> list[tuple[str, int]]:
        """The tags that documents have for a person, with how many have each, in alphabetical order."""
        rows = self._database.rows(
            f"SELECT tag, count(*) FROM ({_TAGS}) AS t JOIN documents d ON d.id = document_id"
            f" WHERE state <> 'removing' AND document_id IN ({VISIBLE.format('%(viewer)s')})"
            " GROUP BY tag ORDER BY lower(tag), tag",
            {"viewer": storable(viewer)},
        )
        return [(row[0], row[1]) for row in rows]

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

    def place_of(self, document_id: str, owner: str, location: str) -> tuple[str, str]:
        """The id and the owner of what comes in for an owner, by the id that its content has.

        What follows at a place is whose the one before was, and what is added from another place whose it is already:
        nothing that was given away becomes everybody's. An id that another owner's document has is another one.
        """
        location = storable(location)
        row = self._database.row(_PLACED, {"location": location, "document": document_id})
        before, held = row or (None, None)
        if location and not owner:
            owner = (held if before is None else before) or ""
        while held is not None and held != owner:
            document_id = hashlib.sha256(document_id.encode()).hexdigest()[:32]
            row = self._database.row(_PLACED, {"location": "", "document": document_id})
            held = row[1] if row else None
        return document_id, owner

    def give(self, ids: Sequence[str], person: str) -> None:
        """Make documents a person's own; "" makes them everybody's. Raises ConfigurationError for no address."""
        owner = address_of(person) if person else ""
        self._database.execute(
            "UPDATE documents SET owner = %s WHERE id = ANY(%s)", (storable(owner), [storable(one) for one in ids])
        )
        self._forget(*ids)

    def owned(self, person: str, ids: Sequence[str]) -> set[str]:
        """Which of these documents are a person's own, those among them that are being removed."""
        if not ids:
            return set()
        rows = self._database.rows(
            "SELECT id FROM documents WHERE owner = %s AND id = ANY(%s)",
            (storable(person), [storable(one) for one in ids]),
        )
        return {row[0] for row in rows}

    def members(self, collection_id: str) -> dict[str, Membership]:
        """With whom a collection is shared, and what each may do, its owner not among them."""
        rows = self._database.rows(
            "SELECT person, role FROM collection_members WHERE collection_id = %s ORDER BY person",
            (storable(collection_id),),
        )
        return {row[0]: row[1] for row in rows}

    def share(self, collection_id: str, person: str, role: Membership) -> None:
        """Share a collection with a person as a reader or an editor; its owner does whatever they want.

        Raises ConfigurationError.
        """
        if role not in ("reader", "editor"):
            raise ConfigurationError(f"There is no role {role} in a collection.", help="Take reader or editor.")
        self._database.execute(
            "INSERT INTO collection_members (collection_id, person, role)"
            " SELECT id, %(person)s, %(role)s FROM collections WHERE id = %(id)s AND owner <> %(person)s"
            " ON CONFLICT (collection_id, person) DO UPDATE SET role = excluded.role",
            {"id": storable(collection_id), "person": storable(address_of(person)), "role": role},
        )

    def unshare(self, collection_id: str, person: str) -> None:
        """Share a collection with a person no longer; what they put into it leaves it with them."""
        person = address_of(person)
        self._database.execute(
            "WITH gone AS (DELETE FROM collection_members WHERE collection_id = %s AND person = %s)"
            " DELETE FROM collection_documents e USING documents d WHERE e.collection_id = %s"
            " AND d.id = e.document_id AND d.owner = %s",
            (storable(collection_id), storable(person), storable(collection_id), storable(person)),
        )

    def put(self, collection_id: str, document_id: str) -> None:
        """Put a document into a collection: an editor's to the others, one of its owner's by its name as a tag."""
        self._place(
            "WITH placed AS (INSERT INTO collection_documents SELECT c.id, d.id FROM collections c, documents d"
            " WHERE c.id = %(collection)s AND d.id = %(document)s AND d.owner <> c.owner ON CONFLICT DO NOTHING)"
            " INSERT INTO document_tags SELECT d.id, c.name FROM collections c, documents d"
            " WHERE c.id = %(collection)s AND d.id = %(document)s AND d.owner = c.owner ON CONFLICT DO NOTHING",
            collection_id, document_id,
        )  # fmt: skip

    def take_out(self, collection_id: str, document_id: str) -> None:
        """Take a document out again."""
        self._place(
            "WITH gone AS (DELETE FROM collection_documents"
            " WHERE collection_id = %(collection)s AND document_id = %(document)s)"
            " DELETE FROM document_tags t USING collections c, documents d WHERE c.id = %(collection)s"
            " AND d.id = %(document)s AND d.owner = c.owner AND t.document_id = d.id AND t.tag = c.name",
            collection_id, document_id,
        )  # fmt: skip

    def _place(self, statement: LiteralString, collection_id: str, document_id: str) -> None:
        values = {"collection": storable(collection_id), "document": storable(document_id)}
        self._database.execute(statement, values)
        self._forget(document_id)
