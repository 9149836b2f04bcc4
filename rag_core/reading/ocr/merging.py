"""What text recognition read, put in the place of what a file's own text says; boxes of spans of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rag_core.domain import Box, Line, Page
from rag_core.reading import wire
from rag_core.reading.base import RawPage
from rag_core.reading.garbled import is_garbled
from rag_core.reading.ocr.picture_words import with_words

# A page's own text is kept where recognition read less than this share of it: a photograph with a caption.
_LEAST_SHARE = 0.8
_NARROW, _WIDE = frozenset("iljtfr.,:;!|'`()[] I1"), frozenset("mwMW@%—")


def page_content(raw: RawPage) -> wire.Message:
    """A recognised page as plain values, to be kept."""
    return wire.page_out(raw)


def recognised_page(number: int, content: wire.Message) -> RawPage:
    """A page that was kept, or failed: then `content` has its "error" alone."""
    if "text" not in content:
        return RawPage(Page(number, "", error=str(content["error"])))
    return wire.page_in(content)


def with_recognised(pages: Sequence[RawPage], recognised: Mapping[int, RawPage]) -> list[RawPage]:
    """The pages with what was recognised of them; those that recognition has yet to read still say so."""
    return [_merged(raw, recognised[raw.page.number]) if raw.page.number in recognised else raw for raw in pages]


def _merged(raw: RawPage, recognised: RawPage) -> RawPage:
    if not raw.pictures:
        return with_words(raw, recognised)
    own, read = raw.page.text, recognised.page.text
    is_poorer = not read.strip() or (len(read) < _LEAST_SHARE * len(own) and not is_garbled(own))
    if own.strip() and is_poorer:
        return replace(raw, pictures=False)
    if recognised.page.error:
        return replace(raw, page=replace(raw.page, error=recognised.page.error), pictures=False)
    return replace(recognised, pictures=False)


def span_boxes(page: Page, start: int, end: int) -> tuple[Box, ...]:
    """The boxes of a span of a page's text, one for each line or cell, cut by the usual widths of letters."""
    parts = (part for line in page.lines for part in line.cells or (line,))
    return tuple(_cut(page.text, part, start, end) for part in parts if part.start < end and part.end > start)


def _cut(text: str, line: Line, start: int, end: int) -> Box:
    ends = list(_ends(text[line.start : line.end]))
    first = ends[max(start - line.start, 0)]
    last = ends[min(end, line.end) - line.start]
    width = line.box.right - line.box.left
    return replace(line.box, left=line.box.left + first * width, right=line.box.left + last * width)


def _ends(text: str) -> Iterator[float]:
    """Where each letter of a line begins, and the last one ends, as fractions of the line's width."""
    widths = [0.5 if letter in _NARROW else 1.5 if letter in _WIDE else 1.0 for letter in text]
    total, so_far = sum(widths) or 1.0, 0.0
    yield 0.0
    for width in widths:
        so_far += width
        yield so_far / total
