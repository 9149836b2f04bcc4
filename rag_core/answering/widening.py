"""Passages for a prompt, widened by the chunks around them as far as there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_core.answering.passages import merge_hits
from rag_core.domain import Hit


def text_of(hit: Hit) -> str:
    """A hit's text with that of the chunks around it, in the order of the pages; what they share stands once."""
    parts = merge_hits([hit, *hit.around])
    return "\n".join(part.text for part in sorted(parts, key=lambda part: (part.hits[0].page, part.start)))


def widened(hits: Sequence[Hit], room: int, count: Callable[[str], int]) -> list[Hit]:
    """Hits, each with those of the chunks around it that fit into `room` tokens more, the best hits' first.

    A chunk that is a hit itself, or stands beside a better one already, is left out.
    """
    told = {hit.chunk_id for hit in hits}
    found: list[Hit] = []
    for hit in hits:
        kept = replace(hit, around=())
        for chunk in hit.around:
            if chunk.chunk_id in told:
                continue
            more = replace(kept, around=(*kept.around, chunk))
            tokens = count(text_of(more)) - count(text_of(kept))
            if tokens > room:
                break  # what is further off says less without it
            kept, room = more, room - tokens
            told.add(chunk.chunk_id)
        found.append(kept)
    return found
