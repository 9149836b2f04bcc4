"""Recursive splitting that keeps exact places: every piece is a span of the text it came from.

The cuts are those of LangChain's RecursiveCharacterTextSplitter with the same separators; a test holds that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

SEPARATORS = {"words": ("\n\n", "\n", " ", ""), "sentences": ("\n\n", "\n", ". ", " ", "")}
"""Paragraphs, lines, words, characters: LangChain's own; and with the ends of sentences, VBRAG's."""

Span = tuple[int, int]


def split(text: str, size: int, overlap: int, separators: Sequence[str] = SEPARATORS["words"]) -> list[Span]:
    """Return spans of at most `size` characters without blanks at their ends, neighbours sharing up to `overlap`."""
    return [span for span in _split(text, 0, len(text), size, overlap, separators) if span[0] < span[1]]


def _split(text: str, start: int, end: int, size: int, overlap: int, separators: Sequence[str]) -> Iterator[Span]:
    at = next(index for index, separator in enumerate(separators) if text.find(separator, start, end) >= 0)
    finer = separators[at + 1 :]
    small: list[Span] = []
    for piece in _pieces(text, start, end, separators[at]):
        if piece[1] - piece[0] < size:
            small.append(piece)
            continue
        yield from _merge(text, small, size, overlap)
        small = []
        if finer:
            yield from _split(text, *piece, size, overlap, finer)
        else:
            yield piece
    yield from _merge(text, small, size, overlap)


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[Span]:
    """Yield pieces that touch each other, each after the first beginning with the separator."""
    if not separator:
        yield from ((index, index + 1) for index in range(start, end))
        return
    while start < end:
        cut = text.find(separator, start + len(separator) if text.startswith(separator, start) else start, end)
        cut = end if cut < 0 else cut
        yield start, cut
        start = cut


def _merge(text: str, pieces: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """Yield runs of pieces up to `size`, each beginning with as many of the last pieces as `overlap` holds."""
    first = 0
    for index, (_, end) in enumerate(pieces):
        if first < index and end - pieces[first][0] > size:
            stop = pieces[index - 1][1]
            yield _strip(text, pieces[first][0], stop)
            while first < index and (stop - pieces[first][0] > overlap or end - pieces[first][0] > size):
                first += 1
    if pieces:
        yield _strip(text, pieces[first][0], pieces[-1][1])


def _strip(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    blanks = len(piece) - len(piece.lstrip())
    return start + blanks, start + len(piece.rstrip()) if blanks < len(piece) else start + blanks
