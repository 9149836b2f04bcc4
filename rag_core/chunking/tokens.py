"""Cutting into windows of equal length in the model's own tokens, whatever stands in them: the seeds' 512 and 50."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_core.chunking.base import PageText, Span, Strategy

_WORD = re.compile(r"\S+")
# A word of more tokens is cut: some languages do without blanks.
_MOST_CHARS = 40


class Tokens(Strategy):
    """Windows of at most `tokens` tokens, neighbours sharing up to `overlap_tokens`, cut between words; sections are
    not looked at."""

    def cut(self, pages: Sequence[PageText]) -> list[list[Span]]:
        """Cut each page; each word's tokens are counted once, as often as it is there."""
        words = [list(_words(page)) for page in pages]
        known = list({page.text[start:end] for page, found in zip(pages, words, strict=True) for start, end in found})
        counts = dict(zip(known, self._count_tokens(known), strict=True))
        return [
            list(self._windows(found, [max(counts[page.text[start:end]], 1) for start, end in found]))
            for page, found in zip(pages, words, strict=True)
        ]

    def _windows(self, words: Sequence[Span], counts: Sequence[int]) -> Iterator[Span]:
        first = held = 0
        for index, count in enumerate(counts):
            if held and held + count > self._settings.tokens:
                yield words[first][0], words[index - 1][1]
                while first < index and (held > self._settings.overlap_tokens or held + count > self._settings.tokens):
                    held -= counts[first]
                    first += 1
            held += count
        if words:
            yield words[first][0], words[-1][1]


def _words(page: PageText) -> Iterator[Span]:
    if page.parts:
        for word in _WORD.finditer(page.text, page.parts[0].start, page.parts[-1].end):
            for start in range(word.start(), word.end(), _MOST_CHARS):
                yield start, min(start + _MOST_CHARS, word.end())
