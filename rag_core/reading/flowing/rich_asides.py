"""What rich text (RTF) holds beside its text, which striprtf leaves out: notes, comments, boxes, heads and feet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rag_core.reading.flowing.blocks import Block, comment, running

# What a group is, by its first word; a star says that older programs may pass over it.
_ASIDE = re.compile(
    r"\{\s*(?:\\\*\s*)?\\(footnote|annotation|header[lrf]?|footer[lrf]?|shpgrp|shp|do|shptxt|dptxbxtext)(?![a-z])"
)
_NAMED = re.compile(r"^\s*(?:\\\*\s*)?\\[a-z]+ ?")
_BRACE = re.compile(r"\\[\\{}]|[{}]")
_AUTHOR = re.compile(r"\{\s*\\\*\s*\\atnauthor\s?([^{}]*)\}")
_BOXES = ("shptxt", "dptxbxtext")
_FIRST, _MOST = 0xE100, 0xE00  # signs that no font uses, one for each aside

Plain = Callable[[str], str]
"""The source of a group to its text."""


class _Group(NamedTuple):
    kind: str
    start: int
    end: int


class Asides:
    """The source of a text, each of its asides replaced by a sign that stands for `blocks`."""

    def __init__(self, source: str, plain: Plain) -> None:
        self._found: list[Block] = []
        self._around: list[tuple[str, str]] = []
        self._notes = 0
        self.source = "".join(self._replaced(source, plain))

    @property
    def around(self) -> Iterator[Block]:
        """What heads and feet of pages say."""
        return running(self._around)

    def parted(self, text: str) -> tuple[str, list[Block]]:
        """A text without signs, and the blocks for which they stand."""
        signs = [sign for sign in text if _FIRST <= ord(sign) < _FIRST + len(self._found)]
        bare = text.translate(dict.fromkeys(map(ord, signs)))
        return bare, [self._found[ord(sign) - _FIRST] for sign in signs]

    def _replaced(self, source: str, plain: Plain) -> Iterator[str]:
        position = 0
        for group in _groups(source):
            yield source[position : group.start]
            position = group.end
            inner = _inner(source, group)
            if group.kind == "footnote":
                self._notes += 1
                yield f"{{[{self._notes}]}}{self._sign(Block('note', f'[{self._notes}] {_line(plain(inner))}'))}"
            elif group.kind == "annotation":
                authors = _AUTHOR.findall(source, max(0, group.start - 1000), group.start)
                author = _line(plain(authors[-1])) if authors else ""
                yield self._sign(comment(_line(plain(inner)), author))
            elif group.kind.startswith(("header", "footer")):
                self._around.append((group.kind[:6].capitalize(), _line(plain(inner))))
            else:
                for box in _boxes(source, group):
                    yield self._sign(Block("paragraph", plain(_inner(source, box)).strip()))
        yield source[position:]

    def _sign(self, block: Block) -> str:
        """A sign for a block; nothing for one without text, and for more than there are signs."""
        if not block.text or len(self._found) == _MOST:
            return ""
        self._found.append(block)
        return rf"{{\uc0\u{_FIRST + len(self._found) - 1} }}"


def _groups(source: str) -> Iterator[_Group]:
    """The outermost groups of asides."""
    start = 0
    while found := _ASIDE.search(source, start):
        start = closed(source, found.start(), len(source))
        yield _Group(found[1], found.start(), start)


def _boxes(source: str, drawing: _Group) -> Iterator[_Group]:
    """The texts within a drawing."""
    for found in _ASIDE.finditer(source, drawing.start, drawing.end):
        if found[1] in _BOXES:
            yield _Group(found[1], found.start(), closed(source, found.start(), drawing.end))


def _inner(source: str, group: _Group) -> str:
    """What a group holds behind the word that says what it is."""
    return _NAMED.sub("", source[group.start + 1 : group.end - 1])


def closed(source: str, start: int, limit: int) -> int:
    """Where the group ends that begins at `start`."""
    depth = 0
    for brace in _BRACE.finditer(source, start, limit):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if not depth and brace[0] == "}":
            return brace.end()
    return limit


def _line(text: str) -> str:
    return " ".join(text.split())
