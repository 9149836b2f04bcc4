"""Pages to chunks: each a span of one page, with its boxes and the section it stands in."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_core.chunking.split import split
from rag_core.domain import Box, Chunk, Page, ParsedDocument, Section

if TYPE_CHECKING:
    from rag_core.settings import ChunkingSettings


def chunk_document(document_id: str, parsed: ParsedDocument, settings: ChunkingSettings) -> list[Chunk]:
    """Return the document's chunks in reading order, numbered from 0, their tokens yet to be counted.

    A chunk's `text` is `page.text[start:end]` of its page, at most `settings.size` characters.
    """
    return [replace(chunk, index=index) for index, chunk in enumerate(_chunks(document_id, parsed, settings))]


def _chunks(document_id: str, parsed: ParsedDocument, settings: ChunkingSettings) -> Iterator[Chunk]:
    sections = sorted(parsed.sections, key=_place)
    places = [_place(section) for section in sections]
    for page in parsed.pages:
        for start, end in split(page.text, settings.size, settings.overlap):
            before = bisect_right(places, (page.number, start))
            text = page.text[start:end]
            yield Chunk(
                document_id=document_id,
                index=0,
                page=page.number,
                start=start,
                end=end,
                text=text,
                md5=hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest(),
                section=sections[before - 1].title if before else "",
                boxes=_boxes(page, start, end),
            )


def _boxes(page: Page, start: int, end: int) -> tuple[Box, ...]:
    """Return the boxes of the page's lines that the span touches."""
    first = bisect_right(page.lines, start, key=lambda line: line.end)
    last = bisect_left(page.lines, end, key=lambda line: line.start)
    return tuple(line.box for line in page.lines[first:last])


def _place(section: Section) -> tuple[int, int]:
    return section.page, section.start
