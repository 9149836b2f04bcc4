"""Which passages hold gold: by the overlap of spans, never by comparing texts.

A chunk and an excerpt belong together when the chunk holds at least half of the excerpt, or the excerpt fills at least
half of the chunk. Where no chunk does, the one that holds most of it belongs, so that however a document is cut some
chunk belongs to each excerpt in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Found, Hit
from rag_core.evaluation.gold.locating import Place
from rag_core.evaluation.measuring.ranking import Ranked
from rag_core.text.spans import united

_SHARE = 0.5
Spans = Mapping[str, NDArray[np.int64]]
"""Page, begin and end of every chunk of some documents, int64 (chunks, 3) by document."""


class Wanted:
    """The chunks that belong to the gold of one question. `spans` are those of the documents that it names."""

    def __init__(self, places: Sequence[Place], spans: Spans) -> None:
        self.places = places
        # All chunks of a whole document belong: they are counted, not listed.
        self._whole = {item.document_id: len(spans.get(item.document_id, ())) for item in places if _is_whole(item)}
        self._chunks = [(item, set() if _is_whole(item) else _belonging(item, spans)) for item in places]

    @property
    def total(self) -> int:
        """How many chunks of the library belong to any of it."""
        others = {
            (item.document_id, *chunk)
            for item, chunks in self._chunks
            for chunk in chunks
            if item.document_id not in self._whole
        }
        return sum(self._whole.values()) + len(others)

    def gold(self, hit: Hit) -> tuple[int, ...]:
        """The numbers of the gold that a hit holds."""
        at = (hit.page, hit.start, hit.end)
        of = ((item, chunks) for item, chunks in self._chunks if item.document_id == hit.document.id)
        return tuple(sorted({item.gold for item, chunks in of if _is_whole(item) or at in chunks}))


def found_of(hits: Sequence[Hit], wanted: Wanted) -> tuple[Found, ...]:
    """Hits in their order, each with the gold that it holds."""
    return tuple(_found(rank, hit, wanted) for rank, hit in enumerate(hits, start=1))


def ranked_of(found: Sequence[Found], wanted: Wanted) -> Ranked:
    """What the measures of a ranking need of one question."""
    places = wanted.places
    excerpts = _by_page((place.document_id, s.page, s.start, s.end) for place in places for s in place.spans)
    read = _by_page((item.document_id, item.page, item.start, item.end) for item in found)
    return Ranked(
        flags=tuple(bool(item.relevant) for item in found),
        relevant_total=wanted.total,
        gold_found=len({number for item in found for number in item.gold}),
        gold_total=len(places),
        span_chars=sum(end - start for parts in excerpts.values() for start, end in parts),
        span_chars_found=sum(_shared(parts, read.get(page, ())) for page, parts in excerpts.items()),
    )


def _found(rank: int, hit: Hit, wanted: Wanted) -> Found:
    gold = wanted.gold(hit)
    return Found(
        rank=rank, document_id=hit.document.id, title=hit.document.title, page=hit.page, page_label=hit.page_label,
        start=hit.start, end=hit.end, text=hit.text, score=hit.score, relevant=bool(gold) if wanted.places else None,
        gold=gold,
    )  # fmt: skip


def _is_whole(place: Place) -> bool:
    return place.page is None and not place.spans


def _belonging(place: Place, spans: Spans) -> set[tuple[int, int, int]]:
    """Page, begin and end of the chunks that belong to a place, which is not a whole document."""
    chunks = spans.get(place.document_id)
    if chunks is None or not len(chunks):
        return set()
    if not place.spans:
        chosen = chunks[:, 0] == place.page
    else:
        shared = np.zeros(len(chunks), dtype=np.int64)
        for span in place.spans:
            overlap = np.minimum(chunks[:, 2], span.end) - np.maximum(chunks[:, 1], span.start)
            shared += np.where(chunks[:, 0] == span.page, np.maximum(overlap, 0), 0)
        length = sum(span.end - span.start for span in place.spans)
        chosen = (shared > 0) & (shared >= _SHARE * np.minimum(chunks[:, 2] - chunks[:, 1], length))
        if not chosen.any():
            chosen = (shared > 0) & (shared == shared.max())
    return {(int(page), int(start), int(end)) for page, start, end in chunks[chosen]}


def _by_page(parts: Iterable[tuple[str, int, int, int]]) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Spans by document and page, merged."""
    pages: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for document_id, page, start, end in parts:
        pages.setdefault((document_id, page), []).append((start, end))
    return {page: united(spans) for page, spans in pages.items()}


def _shared(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Characters that two lists of merged intervals have in common."""
    return sum(max(0, min(end, last) - max(start, first)) for start, end in some for first, last in others)
