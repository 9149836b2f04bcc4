"""Pages to chunks: each a span of one page, with its boxes and the section it stands in."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rag_core.chunking.base import CountTokens, Encode, PageText, Part, Strategy
from rag_core.chunking.characters import Characters
from rag_core.chunking.paragraphs import Paragraphs
from rag_core.chunking.semantic import Semantic
from rag_core.chunking.sentences import Sentences
from rag_core.chunking.tokens import Tokens
from rag_core.domain import Box, Chunk, Page, ParsedDocument, Section

if TYPE_CHECKING:
    from rag_core.settings import ChunkingSettings

STRATEGIES: dict[str, type[Strategy]] = {
    "sentences": Sentences,
    "paragraphs": Paragraphs,
    "semantic": Semantic,
    "tokens": Tokens,
    "characters": Characters,
}


def chunk_document(
    document_id: str,
    parsed: ParsedDocument,
    settings: ChunkingSettings,
    count_tokens: CountTokens,
    encode: Encode | None = None,
) -> list[Chunk]:
    """The document's chunks in reading order, numbered from 0. A chunk's `text` is `page.text[start:end]` of its page.

    count_tokens, encode: of the embedding model, as a `Strategy` takes them; whatever they raise is raised.
    """
    sections = sorted(parsed.sections, key=_place)
    pages = [PageText(page.text, tuple(_parts(page, sections))) for page in parsed.pages]
    spans = STRATEGIES[settings.strategy](settings, count_tokens, encode).cut(pages)
    chunks = [
        _chunk(document_id, page, start, end, _section(text.parts, start, end))
        for page, text, found in zip(parsed.pages, pages, spans, strict=True)
        for start, end in found
    ]
    counts = count_tokens([chunk.text for chunk in chunks])
    return [
        replace(chunk, index=index, token_count=count)
        for index, (chunk, count) in enumerate(zip(chunks, counts, strict=True))
    ]


def _parts(page: Page, sections: Sequence[Section]) -> Iterator[Part]:
    """The page's body in parts, one for each section that it has text of."""
    begin, stop = page.body or (0, len(page.text))
    first = bisect_left(sections, (page.number, 1), key=_place)
    last = bisect_left(sections, (page.number + 1, 0), key=_place)
    here = [(min(max(section.start, begin), stop), section.title) for section in sections[first:last]]
    starts = [(begin, sections[first - 1].title if first else ""), *here, (stop, "")]
    for (start, section), (end, _) in pairwise(starts):
        if start < end:
            yield Part(start, end, section)


def _section(parts: Sequence[Part], start: int, end: int) -> str:
    """The section that most of a span stands in."""
    first = bisect_right(parts, start, key=lambda part: part.end)
    last = bisect_left(parts, end, key=lambda part: part.start)
    return max(parts[first:last], key=lambda part: min(part.end, end) - max(part.start, start)).section


def _chunk(document_id: str, page: Page, start: int, end: int, section: str) -> Chunk:
    text = page.text[start:end]
    return Chunk(
        document_id=document_id,
        index=0,
        page=page.number,
        start=start,
        end=end,
        text=text,
        md5=hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest(),
        section=section,
        boxes=_boxes(page, start, end),
        hidden=any(span.start < end and start < span.end for span in page.hidden),
    )


def _boxes(page: Page, start: int, end: int) -> tuple[Box, ...]:
    """The boxes of the page's lines that the span touches; of a table's row those of its cells."""
    first = bisect_right(page.lines, start, key=lambda line: line.end)
    last = bisect_left(page.lines, end, key=lambda line: line.start)
    parts = (part for line in page.lines[first:last] for part in line.cells or (line,))
    return tuple(part.box for part in parts if part.start < end and part.end > start)


def _place(section: Section) -> tuple[int, int]:
    return section.page, section.start
