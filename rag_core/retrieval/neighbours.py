"""The chunks around a passage: a written answer's prompt may be widened by them, and a table's rows need their head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_core.domain import Hit, Scope
from rag_core.retrieval.hits import hit_of
from rag_core.retrieval.indexes import Indexes
from rag_core.retrieval.query import Query
from rag_core.storage.indexes.dense import Ref, Within
from rag_core.storage.postgres.passages import PassageRow
from rag_core.text.tables import begins_in_table


def surrounded(query: Query, hits: Sequence[Hit], count: int, indexes: Indexes) -> tuple[Hit, ...]:
    """Hits with the chunks around them that there are within the query's scope: `count` before and behind each.

    One that begins amid a table has the two before it in any case. Raises StoreUnavailable.
    """
    wanted = {hit.chunk_id: _refs(hit, count, query.within) for hit in hits}
    if not any(wanted.values()):
        return tuple(hits)
    rows = indexes.rows(sorted({ref for refs in wanted.values() for ref in refs}))
    return tuple(replace(hit, around=_around(hit, wanted[hit.chunk_id], rows)) for hit in hits)


def with_texts_beside(hits: Sequence[Hit], scope: Scope, indexes: Indexes) -> tuple[Hit, ...]:
    """Hits with the texts before and behind them in the scope, without what they share. Raises StoreUnavailable."""
    within = indexes.within(scope) if scope.sections else None
    refs = {ref for hit in hits for ref in _refs(hit, 1, within)}
    rows = indexes.rows(sorted(refs)) if refs else {}
    return tuple(
        replace(
            hit, preceding_text=_before(hit, rows.get((hit.document.id, hit.index - 1))),
            following_text=_behind(hit, rows.get((hit.document.id, hit.index + 1))),
        )
        for hit in hits
    )  # fmt: skip


def _before(hit: Hit, row: PassageRow | None) -> str:
    if row is None:
        return ""
    shared = row.end - hit.start if row.page == hit.page and not row.corrected else 0
    return row.text[: len(row.text) - max(shared, 0)].rstrip()


def _behind(hit: Hit, row: PassageRow | None) -> str:
    if row is None:
        return ""
    shared = hit.end - row.start if row.page == hit.page and not row.corrected else 0
    return row.text[max(shared, 0) :].lstrip()


def _refs(hit: Hit, count: int, within: Within | None) -> list[Ref]:
    """The nearest first."""
    places = [hit.index + side * step for step in range(1, count + 1) for side in (-1, 1)]
    if not count and begins_in_table(hit.text):
        places = [hit.index - 1, hit.index - 2]
    allowed = None if within is None else within.rows[hit.document.id]
    return [(hit.document.id, place) for place in places if place >= 0 and (allowed is None or place in allowed)]


def _around(hit: Hit, refs: Sequence[Ref], rows: Mapping[Ref, PassageRow]) -> tuple[Hit, ...]:
    return tuple(_beside(hit, rows[ref]) for ref in refs if ref in rows)


def _beside(hit: Hit, row: PassageRow) -> Hit:
    """A chunk as a hit, with the score of the one that it stands beside."""
    return hit_of(hit.document, row, hit.score, score_kind=hit.score_kind, called=hit.called)
