"""Sources in PostgreSQL: where documents came from, what was seen there, and which of two versions is the newer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_core.domain import FollowedSource, KnownSource, LeftOut, Visit
from rag_core.storage.postgres.changes import append
from rag_core.storage.postgres.database import Database, retried, storable

_KNOWN = """
    SELECT DISTINCT ON (s.location) s.location, s.kind, s.root, s.size_bytes, s.modified_ns, s.etag, s.last_modified,
           s.name, s.document_id, d.state, d.byte_size, s.looked_at
    FROM sources s JOIN documents d ON d.id = s.document_id
    WHERE s.location <> '' AND d.state <> 'removing' AND {which}
    ORDER BY s.location, s.looked_at DESC
"""
_FOLLOWED = """
    SELECT location, kind, tags, depth, pages, delay_s, looked_at, problem, device,
           coalesce(held.documents, 0)
    FROM followed_sources f LEFT JOIN (
        SELECT root, count(DISTINCT document_id) AS documents FROM sources WHERE root <> '' GROUP BY root
    ) held ON held.root = f.location ORDER BY added_at, location
"""
# The older rows of places at which these documents, ready now, are the newest.
_OLDER = """
    DELETE FROM sources old USING sources new, documents d
    WHERE d.id = new.document_id AND d.state = 'ready' AND new.location <> '' AND (%(all)s OR d.id = ANY(%(ids)s))
      AND old.location <> '' AND md5(old.location) = md5(new.location) AND old.location = new.location
      AND old.document_id <> new.document_id AND old.looked_at < new.looked_at
    RETURNING old.document_id, new.document_id
"""
_INHERIT_TAGS = """
    INSERT INTO document_tags (document_id, tag)
    SELECT p.new, t.tag FROM unnest(%s::text[], %s::text[]) AS p (old, new)
    JOIN document_tags t ON t.document_id = p.old ON CONFLICT DO NOTHING
"""
_INHERIT_PLACES = """
    INSERT INTO collection_documents (collection_id, document_id)
    SELECT e.collection_id, p.new FROM unnest(%s::text[], %s::text[]) AS p (old, new)
    JOIN collection_documents e ON e.document_id = p.old ON CONFLICT DO NOTHING
"""
_INHERIT_TITLE = """
    UPDATE documents n SET title_by_user = o.title_by_user, title = o.title_by_user
    FROM unnest(%s::text[], %s::text[]) AS p (old, new) JOIN documents o ON o.id = p.old
    WHERE n.id = p.new AND n.title_by_user IS NULL AND o.title_by_user IS NOT NULL RETURNING n.id
"""
_LOOKED = """
    UPDATE sources s SET looked_at = clock_timestamp(), size_bytes = v.size_bytes, modified_ns = v.modified_ns,
        etag = coalesce(nullif(v.etag, ''), s.etag), last_modified = coalesce(nullif(v.last_modified, ''),
        s.last_modified)
    FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])
        AS v (document_id, location, size_bytes, modified_ns, etag, last_modified)
    WHERE s.document_id = v.document_id AND md5(s.location) = md5(v.location) AND s.location = v.location
"""


class SourceStore:
    """Reads and writes sources. Raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def at(self, locations: Sequence[str]) -> dict[str, KnownSource]:
        """What is known of some places, by location."""
        return self._known("md5(s.location) IN (SELECT md5(unnest(%s::text[])))", [storable(one) for one in locations])

    def below(self, prefix: str) -> dict[str, KnownSource]:
        """What is known of the places whose location begins so; of all where it is empty."""
        return self._known("starts_with(s.location, %s)", storable(prefix))

    def led_by(self, root: str) -> dict[str, KnownSource]:
        """What is known of the places that a followed source led to."""
        return self._known("s.root = %s", storable(root))

    def of(self, document_id: str) -> dict[str, KnownSource]:
        """What is known of the places that a document came from, by location."""
        return self._known("s.document_id = %s", document_id)

    def looked(self, visits: Iterable[tuple[str, Visit]]) -> None:
        """Note that documents, by id, were found unchanged at their places."""
        rows = [(key, v.location, v.size_bytes, v.modified_ns, v.etag, v.last_modified) for key, v in visits]
        if rows:
            self._database.execute(_LOOKED, [list(column) for column in zip(*rows, strict=True)])

    @retried
    def supersede(self, ids: Collection[str] | None = None) -> list[str]:
        """Have ready documents take the places of what their sources led to before; None asks for all.

        Tags, places in collections, and the title that a user gave, go over to them. Returns the documents that have no
        source any more; they are being removed.
        """
        with self._database.transaction() as connection:
            pairs = connection.execute(_OLDER, {"all": ids is None, "ids": list(ids or ())}).fetchall()
            if not pairs:
                return []
            columns = [[row[0] for row in pairs], [row[1] for row in pairs]]
            connection.execute(_INHERIT_TAGS, columns)
            connection.execute(_INHERIT_PLACES, columns)
            retitled = [row[0] for row in connection.execute(_INHERIT_TITLE, columns).fetchall()]
            gone = _let_go(connection, columns[0])
            append(connection, "describe", retitled)
            append(connection, "remove", gone)
        return gone

    @retried
    def forget(self, locations: Sequence[str]) -> list[str]:
        """Forget places that are no more. Returns the documents that no source leads to; they are being removed."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "DELETE FROM sources WHERE location <> '' AND md5(location) IN (SELECT md5(unnest(%s::text[])))"
                " RETURNING document_id",
                ([storable(one) for one in locations],),
            ).fetchall()
            gone = _let_go(connection, [row[0] for row in rows])
            append(connection, "remove", gone)
        return gone

    @retried
    def move(self, document_id: str, location: str, name: str, visit: Visit) -> None:
        """What a document was made of is found at another place now, under another name."""
        with self._database.transaction() as connection:
            insert_sources(connection, {document_id: (name, visit)})
            _delete(connection, document_id, location)

    @retried
    def settle(self, document_id: str, location: str) -> None:
        """A place is looked at no more. What it led to stays, as if it had been uploaded under its name."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE sources s SET location = '', kind = 'upload', root = ''"
                " WHERE document_id = %s AND md5(location) = md5(%s) AND location = %s AND NOT EXISTS"
                " (SELECT FROM sources o WHERE o.document_id = s.document_id AND o.name = s.name AND o.location = '')",
                (document_id, *[storable(location)] * 2),
            )
            _delete(connection, document_id, location)

    def leave_out(self, document_id: str) -> None:
        """Note that what a document was made of is not to be brought in again by itself."""
        self._database.execute(
            "INSERT INTO left_out_sources (location, size_bytes, modified_ns, document_id, owner)"
            " SELECT location, size_bytes, modified_ns, document_id, owner FROM sources s"
            " JOIN documents d ON d.id = document_id WHERE document_id = %s AND root <> ''"
            " ON CONFLICT (md5(location)) DO UPDATE SET size_bytes = excluded.size_bytes, owner = excluded.owner,"
            " modified_ns = excluded.modified_ns, document_id = excluded.document_id",
            (storable(document_id),),
        )

    def left_out(self) -> dict[str, LeftOut]:
        """What is not to be brought in, by location."""
        rows = self._database.rows("SELECT location, document_id, size_bytes, modified_ns FROM left_out_sources")
        return {row[0]: LeftOut(*row[1:]) for row in rows}

    def leave_out_still(self, visit: Visit) -> None:
        """Note that a file that is left out was touched and holds what it held."""
        self._database.execute(
            "UPDATE left_out_sources SET size_bytes = %s, modified_ns = %s WHERE md5(location) = md5(%s)",
            (visit.size_bytes, visit.modified_ns, storable(visit.location)),
        )

    def follow(self, source: FollowedSource) -> None:
        """Keep a followed source; one that is there is replaced."""
        self._database.execute(
            "INSERT INTO followed_sources (location, kind, tags, depth, pages, delay_s)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (location) DO UPDATE SET kind = excluded.kind,"
            " tags = excluded.tags, depth = excluded.depth, pages = excluded.pages, delay_s = excluded.delay_s",
            (storable(source.location), source.kind, list(source.tags), source.depth, source.pages, source.delay_s),
        )

    @retried
    def unfollow(self, location: str) -> bool:
        """Follow a source no longer; its documents stay. Returns whether it was followed."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE sources SET root = '' WHERE root = %s", (storable(location),))
            found = connection.execute(
                "DELETE FROM followed_sources WHERE location = %s RETURNING location", (storable(location),)
            ).fetchone()
        return found is not None

    def followed(self) -> list[FollowedSource]:
        """Watched folders and addresses that were added, in the order in which they were."""
        rows = self._database.rows(_FOLLOWED)
        return [FollowedSource(row[0], row[1], tuple(row[2]), *row[3:]) for row in rows]

    def note_look(self, location: str, problem: str, device: int) -> None:
        """Note that a followed source was looked at, what kept it from being followed, and its device unless 0."""
        self._database.execute(
            "UPDATE followed_sources SET looked_at = now(), problem = %s, device = coalesce(nullif(%s, 0), device)"
            " WHERE location = %s",
            (storable(problem), device, storable(location)),
        )

    def _known(self, which: str, value: str | list[str]) -> dict[str, KnownSource]:
        """The condition is this module's own text."""
        rows = self._database.rows(_KNOWN.format(which=which).encode(), (value,))
        return {row[0]: _known(row) for row in rows}


def insert_sources(connection: Connection[TupleRow], rows: Mapping[str, tuple[str, Visit]]) -> None:
    """Note names and visits of documents, by id, in the transaction that is open."""
    values = [
        (key, name, v.location, v.kind, v.root, v.size_bytes, v.modified_ns, v.etag, v.last_modified)
        for key, (name, v) in rows.items()
    ]
    connection.execute(
        "INSERT INTO sources AS s (document_id, name, location, kind, root, size_bytes, modified_ns, etag,"
        " last_modified, looked_at) SELECT *, clock_timestamp() FROM unnest(%s::text[], %s::text[], %s::text[],"
        " %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])"
        " ON CONFLICT (document_id, name, md5(location))"
        " DO UPDATE SET root = coalesce(nullif(excluded.root, ''), s.root),"
        " size_bytes = excluded.size_bytes, modified_ns = excluded.modified_ns, etag = excluded.etag,"
        " last_modified = excluded.last_modified, looked_at = excluded.looked_at",
        [[storable(v) if isinstance(v, str) else v for v in column] for column in zip(*values, strict=True)],
    )
    connection.execute(
        "DELETE FROM left_out_sources WHERE md5(location) IN (SELECT md5(unnest(%s::text[])))",
        ([storable(visit.location) for _, visit in rows.values()],),
    )


def _delete(connection: Connection[TupleRow], document_id: str, location: str) -> None:
    connection.execute(
        "DELETE FROM sources WHERE document_id = %s AND md5(location) = md5(%s) AND location = %s",
        (document_id, *[storable(location)] * 2),
    )


def _let_go(connection: Connection[TupleRow], ids: Sequence[str]) -> list[str]:
    """Take those of some documents out of sight that no source leads to; their removal is to be logged."""
    rows = connection.execute(
        "UPDATE documents SET state = 'removing' WHERE id = ANY(%s) AND state <> 'removing'"
        " AND NOT EXISTS (SELECT FROM sources WHERE document_id = documents.id) RETURNING id",
        (list(ids),),
    ).fetchall()
    return [row[0] for row in rows]


def _known(row: TupleRow) -> KnownSource:
    visit = Visit(row[0], row[1], row[2], row[3], row[4], row[5], row[6])
    return KnownSource(visit, *row[7:])
