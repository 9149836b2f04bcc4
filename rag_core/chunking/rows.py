"""Rows of a long table, which reading has set together in pieces under their head: each piece is a chunk, whatever the
strategy. None of its sentences is looked for, and its tokens are not counted."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.chunking.base import PageText, Span
from rag_core.text.tables import is_of_long_table


def spans_of_rows(page: PageText) -> list[Span]:
    """The pieces of a page that is one long table from its beginning to its end; none of any other."""
    if len(page.parts) != 1 or (page.parts[0].start, page.parts[0].end) != (0, len(page.text)):
        return []
    head = page.text.partition("\n")[0]
    spans = list(_paragraphs(page.text))
    is_long = len(spans) > 1 and all(page.text.startswith(head, start) for start, _ in spans)
    return spans if is_long and all(is_of_long_table(page.text[start:end]) for start, end in spans[:-1]) else []


def _paragraphs(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = text.find("\n\n", start)
        end = len(text) if end < 0 else end
        if start < end:
            yield start, end
        start = end + 2
