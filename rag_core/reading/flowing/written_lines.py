"""Texts whose lines say what they are, as in Org and AsciiDoc: the blocks that lines which go on make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from rag_core.reading.flowing.blocks import Block


def joined(lines: Iterable[Block | None]) -> Iterator[Block]:
    """Blocks of lines: a paragraph's behind its own or an item's belong to it, rows to their table.

    lines: each as a block of its own; None for what ends one, as an empty line does.
    """
    held: list[Block] = []
    for line in chain(lines, [None]):
        if held and (line is None or not _goes_on(held[0], line)):
            yield _whole(held)
            held = []
        held += [line] if line else []


def _goes_on(first: Block, line: Block) -> bool:
    return (line.kind == "paragraph" and first.kind in ("paragraph", "item")) or line.kind == first.kind == "table"


def _whole(lines: list[Block]) -> Block:
    if lines[0].kind == "table":
        return Block("table", rows=[row for line in lines for row in line.rows])
    return replace(lines[0], text=" ".join(line.text for line in lines))


def until(lines: Iterator[str], end: str) -> list[str]:
    """The lines before one that is nothing but an end, in whatever case; all that there are where none is."""
    found = []
    for line in lines:
        if line.strip().casefold() == end.casefold():
            break
        found.append(line)
    return found


def code(lines: list[str]) -> Iterator[Block | None]:
    """Lines that stay as they are, apart from what is around them."""
    yield from (None, Block("paragraph", "\n".join(lines)), None)
