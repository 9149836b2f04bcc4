"""Summaries and clusters in PostgreSQL: of each document, and of all documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_core.runtime.precedence import PRECEDENCE
from rag_core.storage.postgres.database import Database, retried, storable
from rag_core.storage.postgres.rows import clean

Floats = NDArray[np.float32]

# Summaries that fit their documents as they are now.
_SOUND = (
    "document_summaries s JOIN documents d ON d.id = s.document_id AND d.state = 'ready'"
    " AND d.generation = s.generation AND d.profile = s.profile"
)
_MISSING = (
    "FROM documents d WHERE d.state = 'ready' AND d.chunk_count > 0 AND NOT EXISTS (SELECT FROM document_summaries s"
    " WHERE s.document_id = d.id AND s.generation = d.generation AND s.profile = d.profile)"
)
_MOST_WORDS = 64
_PART = 2_000


@dataclass(frozen=True, slots=True)
class StaleSummary:
    """A document that is to be summarised: the generation and profile of its chunks."""

    document_id: str
    generation: int
    profile: str


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A cluster: the words that name it, its centroid, float32 (d,), and its members with weights.

    Members are indexes of chunks, or places in a list of documents. summary: sentences that tell of chunks.
    """

    terms: tuple[str, ...]
    centroid: Floats
    members: NDArray[np.int32]
    weights: Floats
    summary: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Summarised:
    """A document's summary, its vector, float32 (d,), its words with counts, and the clusters of its chunks."""

    due: StaleSummary
    summary: str
    written: bool
    vector: Floats
    words: Mapping[str, int]
    clusters: Sequence[Group]


@dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """Documents in the order of their ids, their vectors, float32 (n, d), and the words of each with counts."""

    ids: tuple[str, ...]
    vectors: Floats
    words: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentState:
    """How the clusters of documents stand: documents with a summary, documents when all were clustered, how many of
    those are members still, how many joined since."""

    documents: int
    built: int
    remaining: int
    joined: int


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """All that a search goes by. `chunks`: clusters with the place of their document in `summaries`."""

    summaries: Summaries
    documents: tuple[Group, ...]
    chunks: tuple[tuple[int, Group], ...]


class HierarchyStore:
    """The tables. Raises StoreUnavailable.

    `published` counts the updates that are to be seen: what was read before one is out of date after it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.published = 0

    def publish(self) -> None:
        """Have those who hold what was read read it anew."""
        self.published += 1

    def missing(self) -> int:
        """How many ready documents have no summary of their chunks as they are."""
        row = self._database.row(f"SELECT count(*) {_MISSING}".encode())
        return row[0] if row else 0

    def due(self, after: str, limit: int) -> list[StaleSummary]:
        """Documents that are to be summarised, in the order of their ids, behind one on."""
        rows = self._database.rows(
            f"SELECT d.id, d.generation, d.profile {_MISSING} AND d.id > %s ORDER BY d.id LIMIT %s".encode(),
            (after, limit),
        )
        return [StaleSummary(*row) for row in rows]

    def chunks(self, document_id: str) -> tuple[list[str], list[int], Floats]:
        """Texts, numbers of tokens and vectors, float32 (n, d), of a document's chunks in order.

        Read part by part: no statement of a long table comes near its limit of time, and questions go in between.
        """
        texts: list[str] = []
        tokens: list[int] = []
        vectors: list[Floats] = []
        while len(texts) % _PART == 0:
            PRECEDENCE.give_way()
            rows = self._database.rows(
                "SELECT text, token_count, vector FROM chunks WHERE document_id = %s AND index >= %s ORDER BY index"
                " LIMIT %s",
                (document_id, len(texts), _PART),
                binary=True,
            )
            if not rows:
                break
            texts += [row[0] for row in rows]
            tokens += [row[1] for row in rows]
            vectors.append(_matrix([row[2] for row in rows]))
        return texts, tokens, np.concatenate(vectors) if vectors else _matrix([])

    @retried
    def put(self, made: Summarised, made_by: str = "") -> bool:
        """Keep a document's summary and clusters in the place of older ones; it joins the nearest cluster of documents.

        made_by: the settings that it was made by (`forget_others`). Returns whether it was kept: not where the document
        was removed or changed meanwhile.
        """
        due = made.due
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT 1 FROM documents WHERE id = %s AND state = 'ready' AND generation = %s AND profile = %s"
                " FOR KEY SHARE",
                (due.document_id, due.generation, due.profile),
            ).fetchone()
            if row is None:
                return False
            _replace(connection, made, made_by)
            _join_nearest(connection, due, made.vector)
        return True

    def standing(self) -> DocumentState:
        """How the clusters of documents stand. Those of another profile count as none."""
        row = self._database.row(
            f"""SELECT (SELECT count(*) FROM {_SOUND}),
                (SELECT coalesce(sum(built), 0)::bigint FROM document_clusters
                 WHERE profile IN (SELECT profile FROM documents WHERE state = 'ready')),
                (SELECT count(DISTINCT document_id) FROM document_memberships WHERE NOT joined),
                (SELECT count(DISTINCT document_id) FROM document_memberships WHERE joined)""".encode()
        )
        return DocumentState(*row) if row else DocumentState(0, 0, 0, 0)

    @retried
    def summaries(self) -> Summaries:
        """The summaries' vectors and words of all documents that have one that fits."""
        with self._database.transaction() as connection:
            return _summaries(connection, words=True)

    @retried
    def put_document_clusters(self, ids: Sequence[str], groups: Sequence[Group]) -> None:
        """Put clusters of documents, whose members are places in `ids`, in the place of the old ones.

        A document that was removed meanwhile is left out.
        """
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM document_clusters")
            rows = connection.execute(
                "SELECT document_id, profile FROM document_summaries WHERE document_id = ANY(%s) FOR KEY SHARE",
                (list(ids),),
            ).fetchall()
            profiles = dict(rows)
            strongest = _strongest(groups)
            for number, group in enumerate(groups):
                members = [
                    (ids[place], float(weight))
                    for place, weight in zip(group.members, group.weights, strict=True)
                    if ids[place] in profiles
                ]
                if members:
                    built = sum(strongest[int(place)] == number for place in group.members)
                    _insert_cluster(connection, number, profiles[members[0][0]], group, built)
                    _insert_members(connection, number, members)

    @retried
    def held(self) -> Held:
        """All that a search goes by, as one transaction sees it."""
        with self._database.transaction() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            summaries = _summaries(connection, words=False)
            places = {key: place for place, key in enumerate(summaries.ids)}
            documents = _document_groups(connection, places)
            rows = connection.execute(
                "SELECT document_id, terms, centroid, members, weights, summary FROM chunk_clusters ORDER BY 1, number",
                binary=True,
            ).fetchall()
        chunks = [(places[row[0]], _group(row[1:])) for row in rows if row[0] in places]
        return Held(summaries, tuple(documents), tuple(chunks))

    @retried
    def document_groups(self) -> tuple[tuple[str, ...], list[Group]]:
        """Ids of the documents, and their clusters, whose members are places among them."""
        with self._database.transaction() as connection:
            ids = _summaries(connection, words=False).ids
            return ids, _document_groups(connection, {key: place for place, key in enumerate(ids)})

    def chunk_groups(self, document_id: str) -> list[Group]:
        """The clusters of a document's chunks, the largest first."""
        rows = self._database.rows(
            "SELECT terms, centroid, members, weights, c.summary FROM chunk_clusters c"
            f" JOIN {_SOUND} USING (document_id) WHERE c.document_id = %s ORDER BY number".encode(),
            (storable(document_id),),
            binary=True,
        )
        return [_group(row) for row in rows]

    def summary(self, document_id: str) -> str:
        """A document's summary; empty where it has none yet."""
        row = self._database.row(
            f"SELECT s.summary FROM {_SOUND} WHERE s.document_id = %s".encode(), (storable(document_id),)
        )
        return row[0] if row else ""

    @retried
    def forget_others(self, made_by: str) -> None:
        """Forget what was made by other settings: those documents are due again, and all are clustered again."""
        with self._database.transaction() as connection:
            if connection.execute("DELETE FROM document_summaries WHERE made_by <> %s", (made_by,)).rowcount:
                connection.execute("DELETE FROM document_clusters")

    @retried
    def clear(self) -> None:
        """Forget all of it: what is derived is rebuilt."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM document_clusters")
            connection.execute("DELETE FROM document_summaries")
        self.publish()


def _replace(connection: Connection[TupleRow], made: Summarised, made_by: str) -> None:
    """Write a document's summary and clusters in the place of older ones, in the transaction that is open."""
    due = made.due
    most_frequent = dict(sorted(made.words.items(), key=lambda item: (-item[1], item[0]))[:_MOST_WORDS])
    connection.execute("DELETE FROM document_summaries WHERE document_id = %s", (due.document_id,))
    connection.execute(
        "INSERT INTO document_summaries (document_id, generation, profile, summary, written, words, vector,"
        " made_by) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        (
            due.document_id, due.generation, due.profile, storable(made.summary), made.written,
            Jsonb(clean(most_frequent)), made.vector, made_by,
        ),
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO chunk_clusters (document_id, number, terms, centroid, members, weights, summary)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    due.document_id, number, clean(group.terms), group.centroid, group.members.tolist(),
                    group.weights.tolist(), storable(group.summary),
                )
                for number, group in enumerate(made.clusters)
            ],
        )  # fmt: skip


def _join_nearest(connection: Connection[TupleRow], due: StaleSummary, vector: Floats) -> None:
    connection.execute(
        "INSERT INTO document_memberships (document_id, cluster, weight, joined)"
        " SELECT %s, number, 1, true FROM document_clusters WHERE profile = %s"
        " ORDER BY centroid <=> %s, number LIMIT 1",
        (due.document_id, due.profile, vector),
    )


def _strongest(groups: Sequence[Group]) -> dict[int, int]:
    """The cluster that each place belongs to most."""
    best: dict[int, tuple[float, int]] = {}
    for number, group in enumerate(groups):
        for place, weight in zip(group.members, group.weights, strict=True):
            best[int(place)] = max(best.get(int(place), (0.0, 0)), (float(weight), -number))
    return {place: -number for place, (_, number) in best.items()}


def _insert_cluster(connection: Connection[TupleRow], number: int, profile: str, group: Group, built: int) -> None:
    connection.execute(
        "INSERT INTO document_clusters (number, profile, terms, centroid, built) VALUES (%s, %s, %s, %s, %s)",
        (number, profile, clean(group.terms), group.centroid, built),
    )


def _insert_members(connection: Connection[TupleRow], number: int, members: Sequence[tuple[str, float]]) -> None:
    connection.execute(
        "INSERT INTO document_memberships (document_id, cluster, weight, joined)"
        " SELECT id, %s, weight, false FROM unnest(%s::text[], %s::real[]) AS members (id, weight)",
        (number, [key for key, _ in members], [weight for _, weight in members]),
    )


def _summaries(connection: Connection[TupleRow], *, words: bool) -> Summaries:
    """Those that fit their documents, by id."""
    columns = "s.document_id, s.vector, s.words" if words else "s.document_id, s.vector"
    rows = connection.execute(f"SELECT {columns} FROM {_SOUND} ORDER BY 1".encode(), binary=True).fetchall()
    counts = tuple(row[2] for row in rows) if words else ()
    return Summaries(tuple(row[0] for row in rows), _matrix([row[1] for row in rows]), counts)


def _document_groups(connection: Connection[TupleRow], places: Mapping[str, int]) -> list[Group]:
    """The clusters that have members among some documents, the largest first."""
    rows = connection.execute(
        "SELECT c.terms, c.centroid, array_agg(m.document_id ORDER BY m.document_id),"
        " array_agg(m.weight ORDER BY m.document_id) FROM document_clusters c"
        " JOIN document_memberships m ON m.cluster = c.number GROUP BY c.number",
        binary=True,
    ).fetchall()
    groups = []
    for terms, centroid, ids, weights in rows:
        kept = [(places[key], weight) for key, weight in zip(ids, weights, strict=True) if key in places]
        if kept:
            groups.append(_group((terms, centroid, [place for place, _ in kept], [weight for _, weight in kept])))
    return sorted(groups, key=lambda group: (-len(group.members), group.terms))


def _group(row: Sequence[object]) -> Group:
    terms, centroid, members, weights, *summary = row
    assert isinstance(terms, list) and isinstance(centroid, Vector)  # noqa: S101  the columns' types
    return Group(
        tuple(terms), centroid.to_numpy().astype(np.float32), np.asarray(members, dtype=np.int32),
        np.asarray(weights, dtype=np.float32), "".join(map(str, summary)),
    )  # fmt: skip


def _matrix(vectors: Sequence[Vector]) -> Floats:
    if not vectors:
        return np.empty((0, 0), dtype=np.float32)
    return np.stack([vector.to_numpy() for vector in vectors]).astype(np.float32)
