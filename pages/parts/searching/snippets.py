"""The part of a passage that shows why it was found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.domain import Hit, Page
from rag_core.text.blocks import blocks_of

Mark = tuple[int, int]
_MARKDOWN = re.compile(r"\*\*|`+|^#{1,6}\s+", re.MULTILINE)


def plain(hit: Hit) -> tuple[str, list[Mark]]:
    """A hit's text as running text, and its matches there: no marks of Markdown, cells apart, headings on lines of
    their own but for the section's, which is said anyway."""
    shown, marks = "", []
    for before, start, end in _pieces(hit):
        shown += before if shown else ""
        moved = len(shown) - start
        marks += [(max(a, start) + moved, min(b, end) + moved) for a, b in hit.matches if max(a, start) < min(b, end)]
        shown += " ".join(hit.text[start:end].split("\n"))
    return (shown, marks) if shown.strip() else (hit.text, list(hit.matches))


def _pieces(hit: Hit) -> Iterator[tuple[str, int, int]]:
    """The spans of a hit's text that are shown, each with what stands before it."""
    is_markdown = hit.document.media_type == "text/markdown"
    for before, (at, end) in _spans(hit):
        for mark in _MARKDOWN.finditer(hit.text, at, end) if is_markdown else ():
            yield before, at, mark.start()
            at, before = mark.end(), ""
        yield before, at, end


def _spans(hit: Hit) -> Iterator[tuple[str, Mark]]:
    """What a hit's text is made of, marks and all."""
    sections = [
        replace(section, start=section.start - hit.start)
        for section in hit.document.sections
        if section.page == hit.page and section.start >= hit.start and not hit.corrected
    ]
    apart = False
    for block in blocks_of(Page(hit.page, hit.text), sections):
        if block.kind == "heading" and hit.text[block.start : block.end].strip("# ") == hit.section:
            continue
        apart, was_apart = block.kind in ("heading", "table"), apart
        for cells in [row.cells for row in block.rows] or [((block.start, block.end),)]:
            for number, cell in enumerate(cells):
                yield " · " if number else "\n" if apart or was_apart else " ", cell


def snippet(text: str, matches: Sequence[Mark], length: int) -> tuple[str, list[Mark]]:
    """At most about `length` characters of a text, where most of its matches stand, and the matches within."""
    if len(text) <= length:
        return text, list(matches)
    start = _best_start(matches, length)
    start = 0 if start < length // 4 else text.rfind(" ", 0, max(start - length // 5, 1)) + 1
    end = min(start + length, len(text))
    end = end if end == len(text) else max(text.rfind(" ", start, end), start + length // 2)
    head = "… " if start else ""
    shown = head + text[start:end] + (" …" if end < len(text) else "")
    shift = len(head) - start
    return shown, [(a + shift, b + shift) for a, b in matches if start <= a and b <= end]


def _best_start(matches: Sequence[Mark], length: int) -> int:
    """The match from which on most others stand within `length` characters."""
    starts = [start for start, _ in matches]
    reach = length * 3 // 4
    return max(starts, key=lambda first: (sum(first <= other < first + reach for other in starts), -first), default=0)
