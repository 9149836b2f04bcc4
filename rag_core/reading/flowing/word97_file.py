"""What a Word file of 1997 to 2003 holds (MS-DOC): its characters, piece by piece, and how they are set.

A character's place (CP) counts UTF-16 units over all texts of the file, one behind the other: the main one, footnotes,
heads and feet, comments, endnotes, boxes. How it is set stands by its place in the stream (FC).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from rag_core.errors import LimitExceeded, UnreadableDocument, UnsupportedDocument
from rag_core.reading.flowing import compound
from rag_core.reading.flowing.compound import number

_WORD_97, _OLDER = 0xA5EC, 0xA5DC
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
# Places in the file's first block (FIB): lengths of its texts, and of the lists that say where things are.
_LENGTHS = {"main": 76, "notes": 80, "around": 84, "macros": 88, "comments": 92, "endnotes": 96, "boxes": 100}
_LISTS = 154
NOTE_REFS, NOTES, COMMENT_REFS, COMMENTS, AROUND = 2, 3, 4, 5, 11
_CHARACTERS, _PARAGRAPHS, _PIECES, OWNERS, END_REFS, ENDNOTES = 12, 13, 33, 36, 46, 47
_PIECE, _PAGE_BYTES = 8, 512
_PACKED = 0x40000000
_OPERANDS = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}  # bytes behind a property's number, by its highest bits
_LONG = 0xD608  # the definition of a table says its length in two bytes

Properties = dict[int, int]
"""What is set, by the number of the property (sprm); the style is under 0."""


class _Piece(NamedTuple):
    start: int  # CP
    end: int
    place: int  # FC
    width: int  # bytes for each character


class _Run(NamedTuple):
    start: int  # FC
    end: int
    properties: Properties


class WordFile:
    """The texts of an opened file. Raises UnsupportedDocument for one with a password, or older than Word 97."""

    def __init__(self, file: Any, max_chars: int) -> None:
        self._main = compound.stream(file, "WordDocument")
        self._check()
        self._table = compound.stream(file, "1Table" if self._flags & _SECOND_TABLE else "0Table")
        self._lengths = {name: number(self._main, at) for name, at in _LENGTHS.items()}
        if sum(self._lengths.values()) > max_chars:
            raise LimitExceeded(f"The file holds more than {max_chars:,} characters.")
        self._pieces = list(self._found_pieces())
        self._text = "".join(map(self._units, self._pieces))
        self._runs = {which: sorted(self._found_runs(which)) for which in (_PARAGRAPHS, _CHARACTERS)}

    def text(self, name: str) -> tuple[int, str]:
        """Where one of the texts begins, and its characters, a surrogate each where they need two."""
        start = 0
        for other, length in self._lengths.items():
            if other == name:
                return start, self._text[start : start + length]
            start += length
        raise KeyError(name)

    def places(self, which: int) -> list[int]:
        """The places of a list: of marks of notes, or of the beginnings of notes and the end of the last."""
        data, size = self.listed(which), {COMMENT_REFS: 30, NOTE_REFS: 2, END_REFS: 2}.get(which, 0)
        count = (len(data) - 4) // (4 + size) + 1
        return [number(data, 4 * place) for place in range(max(count, 0))][: count - bool(size)]

    def listed(self, which: int) -> bytes:
        """The bytes of a list, by its number; empty for one that the file has not."""
        at = _LISTS + 8 * which
        start, length = number(self._main, at), number(self._main, at + 4)
        return self._table[start : start + length]

    def paragraph(self, place: int) -> Properties:
        """How the paragraph is set whose mark stands at a place."""
        at = self._stream_place(place)
        runs = self._runs[_PARAGRAPHS]
        found = bisect_right(runs, at, key=lambda run: run.start) - 1
        return runs[found].properties if found >= 0 and at < runs[found].end else {}

    def spans(self, property_number: int) -> Iterator[tuple[int, int]]:
        """The places, from one up to another, of characters for which a property is set."""
        for run in self._runs[_CHARACTERS]:
            if run.properties.get(property_number, 0) & 1:
                for piece in self._pieces:
                    length = (piece.end - piece.start) * piece.width
                    first, last = max(run.start, piece.place), min(run.end, piece.place + length)
                    if first < last:
                        begin = piece.start + (first - piece.place) // piece.width
                        yield begin, piece.start + (last - piece.place) // piece.width

    @property
    def _length(self) -> int:
        """The characters of all texts, and the mark behind the last."""
        return sum(self._lengths.values()) + 1

    @property
    def _flags(self) -> int:
        return number(self._main, 10, 2)

    def _check(self) -> None:
        kind = number(self._main, 0, 2) if len(self._main) > _LISTS else 0
        if kind == _OLDER or (kind == _WORD_97 and number(self._main, 2, 2) < 0xC1):
            raise UnsupportedDocument(
                "The file is of a Word before 1997, which is not read.", help="Save it as .docx and add that file."
            )
        if kind != _WORD_97:
            raise UnreadableDocument("The file is damaged: its text is not in it.")
        if self._flags & _ENCRYPTED:
            raise compound.locked()

    def _found_pieces(self) -> Iterator[_Piece]:
        data, at = self.listed(_PIECES), 0
        while at < len(data) and data[at] == 1:  # how pieces are set, of files that were saved in haste
            at += 3 + number(data, at + 1, 2)
        length = number(data, at + 1) if at < len(data) else 0
        data = data[at + 5 : at + 5 + length]
        count = (len(data) - 4) // (4 + _PIECE)
        for place in range(count):
            start, end = number(data, 4 * place), min(number(data, 4 * place + 4), self._length)
            where = number(data, 4 * (count + 1) + _PIECE * place + 2)
            is_packed = bool(where & _PACKED)
            first = (where & (_PACKED - 1)) // (2 if is_packed else 1)
            if start < end:
                yield _Piece(start, end, first, 1 if is_packed else 2)

    def _units(self, piece: _Piece) -> str:
        length = (piece.end - piece.start) * piece.width
        data = self._main[piece.place : piece.place + length]
        if piece.width == 1:
            return data.decode("cp1252", errors="replace").ljust(length, "\0")
        units = array("H", data[: len(data) // 2 * 2])
        return "".join(map(chr, units)).ljust(length // 2, "\0")

    def _stream_place(self, place: int) -> int:
        at = max(bisect_right(self._pieces, place, key=lambda piece: piece.start) - 1, 0)
        piece = self._pieces[at]
        return piece.place + (place - piece.start) * piece.width

    def _found_runs(self, which: int) -> Iterator[_Run]:
        """How characters or paragraphs are set, from the pages of 512 bytes that a list names."""
        data = self.listed(which)
        count = (len(data) - 4) // 8
        for place in range(max(count, 0)):
            page = number(data, 4 * (count + 1) + 4 * place) & 0x3FFFFF
            yield from _page_runs(self._main[page * _PAGE_BYTES : (page + 1) * _PAGE_BYTES], which)


def _page_runs(page: bytes, which: int) -> Iterator[_Run]:
    if len(page) < _PAGE_BYTES:
        return
    count, size = page[-1], 13 if which == _PARAGRAPHS else 1
    if 4 * (count + 1) + size * count >= _PAGE_BYTES:
        return
    for place in range(count):
        start, end = number(page, 4 * place), number(page, 4 * place + 4)
        at = 2 * page[4 * (count + 1) + size * place]
        found = _paragraph_set(page, at) if which == _PARAGRAPHS else _set(page[at + 1 : at + 1 + page[at]])
        yield _Run(start, end, found if at else {})


def _paragraph_set(page: bytes, at: int) -> Properties:
    start, length = (at + 1, 2 * page[at] - 1) if page[at] else (at + 2, 2 * page[at + 1])
    data = page[start : start + length]
    return {**_set(data[2:]), 0: int.from_bytes(data[:2], "little")}


def _set(data: bytes) -> Properties:
    """The properties that bytes set. What is cut off is left out."""
    found: Properties = {}
    at = 0
    while at + 3 <= len(data):
        code = number(data, at, 2)
        at += 2
        if code == _LONG:
            size = 1 + int.from_bytes(data[at : at + 2], "little")
        else:
            size = _OPERANDS.get(code >> 13, 0) or 1 + data[at]
        found[code] = int.from_bytes(data[at : at + min(size, 4)], "little")
        at += size
    return found
