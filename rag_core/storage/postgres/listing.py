"""Which documents a filter leaves: looked up in PostgreSQL, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from rag_core.domain import DocumentFilter
from rag_core.storage.postgres.database import Database, literal, storable
from rag_core.storage.postgres.people import TAGGED, VISIBLE
from rag_core.storage.postgres.rows import YEAR

# What knows capitals beyond A to Z: PostgreSQL's own since 17, or ICU's. A database's default may know none.
_COLLATIONS = ("pg_c_utf8", "und-x-icu")
# Every tag and name of a collection once, tags by steps through the index: they are few, and many documents have one.
_TAGS = """
    WITH RECURSIVE found AS (
        (SELECT tag FROM document_tags ORDER BY tag LIMIT 1)
        UNION ALL
        SELECT (SELECT t.tag FROM document_tags t WHERE t.tag > found.tag ORDER BY t.tag LIMIT 1)
        FROM found WHERE found.tag IS NOT NULL
    ) SELECT tag FROM found WHERE tag IS NOT NULL UNION SELECT name FROM collections WHERE removed_at IS NULL
"""
_TAGGED = "EXISTS (SELECT FROM document_tags t WHERE t.document_id = documents.id AND t.tag = ANY(%s))"
_NAMES = "title || ' ' || coalesce((SELECT string_agg(name, ' ') FROM sources WHERE document_id = documents.id), '')"
# Of SQL, and its value, or a tuple of its values.
Condition = tuple[str, object]


class Lists:
    """Says what documents a filter leaves, as a condition of SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._collation: str | None = None

    def where(self, wanted: DocumentFilter) -> tuple[str, tuple[object, ...]]:
        """The condition, this module's own text, and its values. Raises StoreUnavailable."""
        found = [("state <> 'removing'", None), *self._tagged(wanted), *self._worded(wanted.words), *_plain(wanted)]
        given = (value for _, value in found if value is not None)
        values = tuple(chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in given))
        return "WHERE " + " AND ".join(text for text, _ in found), values

    def _tagged(self, wanted: DocumentFilter) -> Iterator[Condition]:
        """Tags are alike whose case alone differs, as Python says it: by that one document is seen or not, too."""
        groups = [*([wanted.seen] if wanted.seen else []), *([tag] for tag in wanted.tags)]
        spellings = [row[0] for row in self._database.rows(_TAGS)] if groups else []
        for group in groups:
            names = {tag.casefold() for tag in group}
            tagged = [tag for tag in spellings if tag.casefold() in names]
            if wanted.viewer:
                viewer = storable(wanted.viewer)
                yield f"id IN ({TAGGED.format(names='%s', viewer='%s')})", (tagged, viewer, tagged, viewer)
            else:
                yield _TAGGED, tagged
        if wanted.seen and not wanted.viewer:
            yield "owner = ''", None  # a key that is narrowed to tags sees nothing that is a person's

    def _worded(self, words: Sequence[str]) -> Iterator[Condition]:
        if words:
            in_any_case = self._in_any_case()
            patterns = [f"%{literal(word)}%" for word in words]
            lowered = f"ARRAY(SELECT lower(word{in_any_case}) FROM unnest(%s::text[]) AS w (word))"
            yield f"lower(({_NAMES}){in_any_case}) LIKE ALL({lowered})", patterns

    def _in_any_case(self) -> str:
        if self._collation is None:
            rows = self._database.rows(
                "SELECT collname FROM pg_collation WHERE collname = ANY(%s)", (list(_COLLATIONS),)
            )
            known = {row[0] for row in rows}
            self._collation = next((f' COLLATE "{name}"' for name in _COLLATIONS if name in known), "")
        return self._collation


def _plain(wanted: DocumentFilter) -> Iterator[Condition]:
    if wanted.viewer:
        yield f"id IN ({VISIBLE.format('%s')})", storable(wanted.viewer)
    if wanted.ids is not None:
        yield "id = ANY(%s)", [storable(one) for one in wanted.ids]
    if wanted.state is not None:
        yield "state = %s", wanted.state
    if wanted.year is not None:
        yield f"{YEAR} = %s", wanted.year
    if wanted.media_type:
        yield "starts_with(media_type, %s)", storable(wanted.media_type)
