"""Word files of 1997 to 2003 (DOC): headings, paragraphs, lists, tables, notes, comments, boxes, heads and feet."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from rag_core.errors import LimitExceeded
from rag_core.reading.flowing import compound, word97_file
from rag_core.reading.flowing.blocks import Block, Flow, comment, running
from rag_core.reading.flowing.compound import number
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.hidden import NOT_SHOWN, Hidden
from rag_core.reading.flowing.word97_file import Properties, WordFile
from rag_core.reading.headings import reads_as_heading
from rag_core.text.spans import united

# Numbers of properties (sprm) of characters and paragraphs.
_DELETED, _VANISHED, _BOLD = 0x0800, 0x083C, 0x0835
_STYLE, _IN_TABLE, _ROW_END, _BREAK, _OUTLINE, _LIST = 0, 0x2416, 0x2417, 0x2407, 0x2640, 0x460B
_LEVELS = 9  # styles of these numbers are those of headings
_FIELD = re.compile("[\x13\x14\x15]")
_PARAGRAPH = re.compile("[^\r\x07\x0c]*(?:[\r\x07\x0c]|$)")
_NOTE, _COMMENT, _CELL, _PAGE, _GONE = "\x02", "\x05", "\x07", "\x0c", "\0"
_SHOWN = str.maketrans({"\x0b": "\n", "\x0e": "\n", "\x1e": "-", "\x1f": None, **dict.fromkeys("\0\1\2\5\x08")})
_AUTHOR_BYTES = 30
_SEPARATORS, _PER_SECTION = 6, 6
_MOST_BYTES_A_CHAR = 200


def read(path: Path, max_chars: int) -> Flow:
    """Read a document. Raises UnsupportedDocument for one with a password or of an older Word, and LimitExceeded."""
    if path.stat().st_size > _MOST_BYTES_A_CHAR * max_chars:
        raise LimitExceeded(f"The file has {path.stat().st_size:,} bytes, too many to be read.")
    with compound.opened(path) as file:
        text = _Text(WordFile(file, max_chars))
        return Flow(text.blocks(), compound.details(file), hidden=text.hidden(), notes=text.notes)


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A paragraph of a text. start and mark: where it begins and ends."""

    text: str
    start: int
    mark: int
    end: str
    properties: Properties


class _Text:
    def __init__(self, file: WordFile) -> None:
        self.notes: list[str] = []
        self._file = file
        self._bold = united(file.spans(_BOLD))
        self._deleted = list(file.spans(_DELETED))
        self._marks = _note_marks(file)
        self._marked = sorted(self._marks)
        self._found = list(self._paragraphs("main"))
        titles = [one for one in self._found if one.text.strip() and not one.properties.get(_IN_TABLE)]
        said = [one for one in titles if self._is_bold_title(one)]
        self._bold_lead = not any(map(_level, titles)) and 2 * len(said) <= len(titles)

    def blocks(self) -> Iterator[Block]:
        """All that the file says."""
        yield from running(spared(self._around(), "Heads and feet of pages", self.notes))
        beside = [*spared(self._note_texts(), "The notes", self.notes)]
        beside += spared(self._comments(), "The comments", self.notes)
        waiting = sorted(beside, key=lambda one: one[0], reverse=True)
        yield from spared(self._main(waiting), "The text", self.notes)
        boxes = spared(self._paragraphs("boxes"), "The texts in boxes", self.notes)
        yield from (Block("paragraph", one.text) for one in boxes)

    def hidden(self) -> Iterator[Hidden]:
        """What is set as hidden in the main text."""
        _, text = self._file.text("main")
        for start, end in self._file.spans(_VANISHED):
            yield Hidden(text[start:end].translate(_SHOWN), NOT_SHOWN)

    def _main(self, waiting: list[tuple[int, Block]]) -> Iterator[Block]:
        """waiting: notes and comments with the places of their marks, the last first."""
        rows: list[list[str]] = []
        cells: list[str] = []
        inside: list[str] = []  # the paragraphs of the cell so far
        for one in self._found:
            beside: list[Block] = []
            while waiting and waiting[-1][0] <= one.mark:
                beside.append(waiting.pop()[1])
            if one.properties.get(_ROW_END):
                rows, cells = [*rows, cells], []
            elif one.end == _CELL or one.properties.get(_IN_TABLE):
                inside.append(one.text.strip())
                if one.end == _CELL:
                    cells, inside = [*cells, " ".join(filter(None, inside))], []
            else:
                yield from (Block("table", rows=rows),) if rows else ()
                rows, cells = [], []
                yield from (Block("page"),) if one.properties.get(_BREAK) and one.start else ()
                yield self._block(one)
                yield from (Block("page"),) if one.end == _PAGE else ()
            yield from beside
        yield from (Block("table", rows=[*rows, cells] if cells else rows),) if rows or cells else ()

    def _block(self, one: _Paragraph) -> Block:
        if level := _level(one):
            return Block("heading", one.text, level)
        if self._bold_lead and self._is_bold_title(one):
            return Block("heading", one.text)
        return Block("item" if one.properties.get(_LIST) else "paragraph", one.text)

    def _is_bold_title(self, one: _Paragraph) -> bool:
        found = bisect_right(self._bold, (one.start, sys.maxsize)) - 1
        return found >= 0 and one.mark <= self._bold[found][1] and reads_as_heading(one.text)

    def _paragraphs(self, name: str) -> Iterator[_Paragraph]:
        """The paragraphs of a text without the codes of fields and what was deleted."""
        first, text = self._file.text(name)
        whole = _blanked(text, [(start - first, end - first) for start, end in self._deleted])
        whole = _blanked(whole, _codes(whole))
        for found in _PARAGRAPH.finditer(whole):
            if found[0]:
                start, mark = first + found.start(), first + found.end() - 1
                end = found[0][-1] if found[0][-1] in "\r\x07\x0c" else ""
                shown = found[0][: -1 if end else None]
                for place in self._marked[bisect_left(self._marked, start) : bisect_right(self._marked, mark)]:
                    shown = shown[: place - start] + chr(0xE000 + self._marks[place]) + shown[place - start + 1 :]
                yield _Paragraph(_shown(shown), start, mark, end, self._file.paragraph(mark))

    def _parts(self, name: str, which: int) -> Iterator[str]:
        """What stands between the places of a list, each on one line."""
        _, text = self._file.text(name)
        whole = _blanked(text, _codes(text))
        for start, end in pairwise(self._file.places(which)):
            yield " ".join(_shown(whole[start:end].replace("\r", " ").replace(_CELL, " ")).split())

    def _note_texts(self) -> Iterator[tuple[int, Block]]:
        kinds = (("notes", word97_file.NOTE_REFS, word97_file.NOTES),
                 ("endnotes", word97_file.END_REFS, word97_file.ENDNOTES))  # fmt: skip
        for name, marks, texts in kinds:
            for place, said in zip(self._file.places(marks), self._parts(name, texts), strict=False):
                yield place, Block("note", f"[{self._marks.get(place, '*')}] {said}")

    def _comments(self) -> Iterator[tuple[int, Block]]:
        data, owners = self._file.listed(word97_file.COMMENT_REFS), _names(self._file.listed(word97_file.OWNERS))
        places = self._file.places(word97_file.COMMENT_REFS)
        said = self._parts("comments", word97_file.COMMENTS)
        for order, (place, text) in enumerate(zip(places, said, strict=False)):
            at = number(data, 4 * (len(places) + 1) + _AUTHOR_BYTES * order + 20, 2)
            yield place, comment(text, owners[at] if at < len(owners) else "")

    def _around(self) -> Iterator[tuple[str, str]]:
        for order, text in enumerate(self._parts("around", word97_file.AROUND)):
            if order >= _SEPARATORS:
                yield ("Footer" if (order - _SEPARATORS) % _PER_SECTION in (2, 3, 5) else "Header"), text


def _note_marks(file: WordFile) -> dict[int, int]:
    """The numbers of notes, by the places of their marks."""
    places = chain(file.places(word97_file.NOTE_REFS), file.places(word97_file.END_REFS))
    return {place: order for order, place in enumerate(places, 1) if order < 0x1000}


def _level(one: _Paragraph) -> int:
    """The level of a heading; 0 for a paragraph that is none, or says nothing."""
    style, outline = one.properties.get(_STYLE, 0), one.properties.get(_OUTLINE, _LEVELS)
    if not one.text.strip() or one.properties.get(_IN_TABLE):
        return 0
    return style if 1 <= style <= _LEVELS else outline + 1 if outline < _LEVELS else 0


def _codes(text: str) -> Iterator[tuple[int, int]]:
    """Where the codes of fields stand, the signs around what they show included."""
    began: list[int | None] = []
    for sign in _FIELD.finditer(text):
        if sign[0] == "\x13":
            began.append(sign.start())
        elif began:
            start = began[-1]
            if start is not None:
                yield start, sign.end()
            else:
                yield sign.start(), sign.end()
            if sign[0] == "\x14":
                began[-1] = None
            else:
                began.pop()


def _blanked(text: str, spans: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> str:
    """The text with nothing in these places, of the same length."""
    signs = list(text)
    for start, end in spans:
        if 0 <= start < end <= len(signs):
            signs[start:end] = _GONE * (end - start)
    return "".join(signs)


def _shown(text: str) -> str:
    """The text as it is shown, marks of notes in brackets."""
    text = text.translate(_SHOWN).encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    return re.sub("[\ue001-\uefff]", lambda mark: f"[{ord(mark[0]) - 0xE000}]", text)


def _names(data: bytes) -> list[str]:
    """A list of names, each behind its length."""
    found, at = list[str](), 0
    while at + 2 <= len(data):
        length = 2 * number(data, at, 2)
        found.append(data[at + 2 : at + 2 + length].decode("utf-16-le", errors="replace"))
        at += 2 + length
    return found
