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
from rag_core.chunking.rows import spans_of_rows
from rag_core.chunking.semantic import Semantic
from rag_core.chunking.sentences import Sentences
from rag_core.chunking.tokens import Tokens
from rag_core.domain import Box, Chunk, Page, ParsedDocument, Section
from rag_core.text.tables import is_of_long_table

if TYPE_CHECKING:
    from rag_core.settings import ChunkingSettings

_COUNTED = 20  # chunks of a long table whose tokens are counted

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
    of_rows = [[] if page.lines else spans_of_rows(text) for page, text in zip(parsed.pages, pages, strict=True)]
    cut = STRATEGIES[settings.strategy](settings, count_tokens, encode).cut
    others = iter(cut([text for text, rows in zip(pages, of_rows, strict=True) if not rows]))
    chunks = [
        _chunk(document_id, page, start, end, _section(text.parts, start, end))
        for page, text, rows in zip(parsed.pages, pages, of_rows, strict=True)
        for start, end in rows or next(others)
    ]
    counts = _counts(chunks, count_tokens)
    return [
        replace(chunk, index=index, token_count=count)
        for index, (chunk, count) in enumerate(zip(chunks, counts, strict=True))
    ]


def _counts(chunks: Sequence[Chunk], count_tokens: CountTokens) -> list[int]:
    """The tokens of each chunk; of rows of a long table, that is most of its text, by the first ones' share."""
    short = [chunk for chunk in chunks if not is_of_long_table(chunk.text)]
    sample = [chunk for chunk in chunks if is_of_long_table(chunk.text)][:_COUNTED]
    counted = count_tokens([chunk.text for chunk in (*short, *sample)])
    share = sum(counted[len(short) :]) / max(sum(len(chunk.text) for chunk in sample), 1)
    known = iter(counted)
    return [max(round(len(chunk.text) * share), 1) if is_of_long_table(chunk.text) else next(known) for chunk in chunks]


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
