"""Cutting after a count of characters: at paragraphs, else at lines, else at words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_core.chunking.base import PageText, Span, Strategy
from rag_core.chunking.recursive import SEPARATORS, split


class Characters(Strategy):
    """At most `size` characters, neighbours sharing up to `overlap`; sections are not looked at."""

    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """Cut each page as LangChain's RecursiveCharacterTextSplitter does."""
        return [list(self._spans(page)) for page in pages]

    def _spans(self, page: PageText) -> Iterator[Span]:
        if page.parts:
            begin, end = page.parts[0].start, page.parts[-1].end
            sizes, separators = (self._settings.size, self._settings.overlap), SEPARATORS[self._settings.separators]
            for start, stop in split(page.text[begin:end], *sizes, separators):
                yield begin + start, begin + stop
