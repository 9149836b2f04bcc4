"""Which passages hold gold: by the overlap of spans, never by comparing texts.

A passage and an excerpt belong together when the passage holds at least half of the excerpt, or the excerpt fills at
least half of the passage. However a document is cut, some chunk then belongs to each excerpt in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_core.domain import Found, Hit
from rag_core.evaluation.locating import Place
from rag_core.evaluation.ranking import Ranked

_SHARE = 0.5
Spans = Mapping[str, NDArray[np.int64]]
"""Page, begin and end of every chunk of some documents, int64 (chunks, 3) by document."""


def found_of(hits: Sequence[Hit], places: Sequence[Place]) -> tuple[Found, ...]:
    """Hits in their order, each with the gold that it holds."""
    return tuple(_found(rank, hit, places) for rank, hit in enumerate(hits, start=1))


def ranked_of(found: Sequence[Found], places: Sequence[Place], spans: Spans) -> Ranked:
    """What the measures of a ranking need of one question. `spans` are those of the gold's documents."""
    wanted = _by_page((place.document_id, span.page, span.start, span.end) for place in places for span in place.spans)
    read = _by_page((item.document_id, item.page, item.start, item.end) for item in found)
    return Ranked(
        flags=tuple(bool(item.relevant) for item in found),
        relevant_total=_relevant(places, spans),
        gold_found=len({number for item in found for number in item.gold}),
        gold_total=len(places),
        span_chars=sum(end - start for parts in wanted.values() for start, end in parts),
        span_chars_found=sum(_shared(parts, read.get(page, ())) for page, parts in wanted.items()),
    )


def _found(rank: int, hit: Hit, places: Sequence[Place]) -> Found:
    span = np.array([[hit.page, hit.start, hit.end]], dtype=np.int64)
    gold = tuple(
        place.gold for place in places if place.document_id == hit.document.id and _belonging(span, place).any()
    )
    return Found(
        rank=rank, document_id=hit.document.id, title=hit.document.title, page=hit.page, page_label=hit.page_label,
        start=hit.start, end=hit.end, text=hit.text, score=hit.score, relevant=bool(gold) if places else None,
        gold=tuple(sorted(set(gold))),
    )  # fmt: skip


def _relevant(places: Sequence[Place], spans: Spans) -> int:
    """How many chunks of the library belong to any of the gold."""
    total = 0
    for document_id in {place.document_id for place in places}:
        chunks = spans.get(document_id)
        if chunks is not None:
            belonging = [_belonging(chunks, place) for place in places if place.document_id == document_id]
            total += int(np.logical_or.reduce(belonging).sum())
    return total


def _belonging(chunks: NDArray[np.int64], place: Place) -> NDArray[np.bool_]:
    """Of chunks (n, 3) of the place's document: which belong to it, bool (n,)."""
    if not place.spans:
        whole: NDArray[np.bool_] = np.ones(len(chunks), dtype=bool)
        return whole if place.page is None else chunks[:, 0] == place.page
    belonging: NDArray[np.bool_] = np.zeros(len(chunks), dtype=bool)
    for span in place.spans:
        shared = np.minimum(chunks[:, 2], span.end) - np.maximum(chunks[:, 1], span.start)
        shorter = np.minimum(chunks[:, 2] - chunks[:, 1], span.end - span.start)
        belonging |= (chunks[:, 0] == span.page) & (shared > 0) & (shared >= _SHARE * shorter)
    return belonging


def _by_page(parts: Iterable[tuple[str, int, int, int]]) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Spans by document and page, merged."""
    pages: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for document_id, page, start, end in parts:
        pages.setdefault((document_id, page), []).append((start, end))
    return {page: _merged(spans) for page, spans in pages.items()}


def _merged(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Intervals without overlaps, in order."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _shared(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Characters that two lists of merged intervals have in common."""
    return sum(max(0, min(end, last) - max(start, first)) for start, end in some for first, last in others)
