"""PowerPoint files of 1997 to 2003 (PPT): a page for each slide, its title a heading, the speaker's notes behind.

A file holds its slides as often as it was saved in haste; which of them count, the last list of places says (MS-PPT,
2.1.2). Texts of slides stand in their boxes, or in the outline that the boxes name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.flowing import compound
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.compound import number
from rag_core.reading.flowing.damage import spared

# Kinds of records.
_DOCUMENT, _SLIDE, _SLIDE_SAYS, _NOTES, _LIST = 1000, 1006, 1007, 1008, 4080
_PLACE, _KIND, _TEXT, _BYTES, _NAMED = 1011, 3999, 4000, 4008, 3998
_EDIT, _PLACES = 4085, 6002
_BOX, _GROUP, _ANCHOR = 0xF00D, 0xF003, 0xF00F
_HEADER = 8
_LISTS = 15  # the bits by which a record that holds others is known
_SLIDES, _SPEAKERS = 0, 2  # what a list of slides is one of
_TITLES = (0, 6)
_FIELDS = str.maketrans({"\x0b": "\n", "\r": "\n"})
_LOCKED = 0xF3D1C4DF
_MOST_EDITS, _MOST_DEEP, _MOST_RECORDS = 1000, 40, 2_000_000
_MOST_BYTES = 256 * 2**20


class _Record(NamedTuple):
    kind: int
    place: int  # of what it holds
    end: int
    version: int
    instance: int


class _Text(NamedTuple):
    """A text of a slide. kind: what the slide's design says that it is. top, left: where it stands in its group."""

    kind: int
    text: str
    group: int = 0
    top: int = 0
    left: int = 0


@dataclass(slots=True)
class _Entry:
    """A slide as the list of slides has it. place: its number among places. texts: what it says in the outline."""

    place: int
    slide: int
    texts: list[_Text] = field(default_factory=list)


def read(path: Path, max_chars: int) -> Flow:
    """Read a presentation or a show. Raises UnsupportedDocument for one with a password, and LimitExceeded."""
    if path.stat().st_size > _MOST_BYTES:
        raise LimitExceeded(f"The presentation has {path.stat().st_size:,} bytes, more than {_MOST_BYTES:,}.")
    with compound.opened(path) as file:
        if file.exists("EncryptedSummary"):
            raise compound.locked()
        show = _Show(compound.stream(file, "PowerPoint Document"), compound.stream(file, "Current User"))
        return Flow(show.blocks(), compound.details(file), notes=show.notes)


def _rows(texts: list[_Text]) -> list[list[str]]:
    """The rows of a table, which is a group of boxes in rows and columns; none for other groups."""
    tops, lefts = sorted({one.top for one in texts}), sorted({one.left for one in texts})
    if min(len(tops), len(lefts)) < 2 or len({(one.top, one.left) for one in texts}) < len(texts) or (
        2 * len(texts) <= len(tops) * len(lefts)
    ):  # fmt: skip
        return []
    rows = [[""] * len(lefts) for _ in tops]
    for one in texts:
        rows[tops.index(one.top)][lefts.index(one.left)] = " ".join(one.text.split())
    return rows


class _Show:
    def __init__(self, data: bytes, user: bytes) -> None:
        if not data:
            raise UnreadableDocument("The file is damaged: its slides are not in it.")
        self.notes: list[str] = []
        self._data = data
        self._left = _MOST_RECORDS
        if len(user) >= 20 and number(user, 12) == _LOCKED:
            raise compound.locked()
        self._places = self._found_places(number(user, 16) if len(user) >= 20 else -1)

    def blocks(self) -> Iterator[Block]:
        """The slides in order; of a file whose lists are damaged, those that are found in it."""
        slides, speakers = self._listed()
        for order, entry in enumerate(slides):
            if order:
                yield Block("page")
            yield from spared(self._slide(entry, order, speakers), f"Slide {order + 1}", self.notes)

    def _listed(self) -> tuple[list[_Entry], dict[int, _Entry]]:
        """The slides, and the speaker's notes by the number that slides name them by."""
        roots = [one for one in self._records(0, len(self._data)) if one.kind == _DOCUMENT]
        slides, speakers = list[_Entry](), list[_Entry]()
        for one in self._records(roots[-1].place, roots[-1].end) if roots else ():
            if one.kind == _LIST and one.instance in (_SLIDES, _SPEAKERS):
                (slides if one.instance == _SLIDES else speakers).extend(self._entries(one))
        if not slides:
            raise UnreadableDocument("The file is damaged: the list of its slides is not in it.")
        return slides, {one.slide: one for one in speakers}

    def _entries(self, listed: _Record) -> list[_Entry]:
        found, kind = list[_Entry](), 0
        for one in self._records(listed.place, listed.end):
            if one.kind == _PLACE:
                found.append(_Entry(number(self._data, one.place), number(self._data, one.place + 12)))
            elif one.kind == _KIND:
                kind = number(self._data, one.place)
            elif one.kind in (_TEXT, _BYTES) and found:
                found[-1].texts.append(_Text(kind, self._text(one)))
        return found

    def _slide(self, entry: _Entry, order: int, speakers: dict[int, _Entry]) -> Iterator[Block]:
        slide = self._at(entry.place, _SLIDE)
        texts = list(self._texts(slide, entry)) or entry.texts
        title = next((one for one in texts if one.kind in _TITLES and one.text.strip()), None)
        if title:
            yield Block("heading", title.text, level=2 if order else 1)
        for group, found in groupby((one for one in texts if one is not title), key=lambda one: one.group):
            together = list(found)
            if group and (rows := _rows(together)):
                yield Block("table", rows=rows)
                continue
            for one in together:
                lines = [line for line in one.text.split("\n") if line.strip()]
                yield from (Block("item" if len(lines) > 1 else "paragraph", line) for line in lines)
        says = next(one for one in self._records(slide.place, slide.end) if one.kind == _SLIDE_SAYS)
        beside = speakers.get(number(self._data, says.place + 16))
        said = [one.text for one in self._texts(self._at(beside.place, _NOTES), beside)] if beside else []
        if words := "\n".join(text for text in said if len(text.strip()) > 1):  # a star stands for the page's number
            yield Block("note", f"Notes: {words}")

    def _texts(self, holder: _Record, entry: _Entry) -> Iterator[_Text]:
        """The texts in the boxes of a slide, in their order."""
        kind, place = -1, (0, 0)
        for group, one in self._within(holder, 0, ()):
            if one.kind == _ANCHOR:
                place = number(self._data, one.place + 4), number(self._data, one.place)
            elif one.kind == _KIND:
                kind = number(self._data, one.place)
            elif one.kind in (_TEXT, _BYTES):
                yield _Text(kind, self._text(one), group, *place)
            elif one.kind == _NAMED and (named := number(self._data, one.place)) < len(entry.texts):
                yield entry.texts[named]

    def _within(self, holder: _Record, depth: int, groups: tuple[int, ...]) -> Iterator[tuple[int, _Record]]:
        """The records in the boxes of a slide and where boxes stand, each with its group; 0 for that of all."""
        if holder.kind == _GROUP:
            groups = (*groups, holder.place)
        for one in self._records(holder.place, holder.end):
            if one.version == _LISTS and one.kind != _LIST and depth < _MOST_DEEP:
                yield from self._within(one, depth + 1, groups)
            elif holder.kind == _BOX or one.kind == _ANCHOR:
                yield groups[-1] if len(groups) > 1 else 0, one

    def _at(self, place: int, kind: int) -> _Record:
        found = next(self._records(self._places.get(place, -1), len(self._data)), None)
        if found is None or found.kind != kind:
            raise UnreadableDocument("it is not where the file says that it is.")
        return found

    def _text(self, one: _Record) -> str:
        data = self._data[one.place : one.end]
        text = data.decode("utf-16-le" if one.kind == _TEXT else "latin-1", errors="replace")
        return text.translate(_FIELDS).strip("\0")

    def _found_places(self, edit: int) -> dict[int, int]:
        """Where what the file lists stands in it, by number: of all times that it was saved, the last one counts."""
        places = dict[int, int]()
        for _ in range(_MOST_EDITS):
            one = next(self._records(edit, len(self._data)), None)
            if one is None or one.kind != _EDIT:
                break
            listed = next(self._records(number(self._data, one.place + 12), len(self._data)), None)
            if listed is not None and listed.kind == _PLACES:
                places = {**self._listed_places(listed), **places}
            if not (edit := number(self._data, one.place + 8)):
                break
        return places

    def _listed_places(self, listed: _Record) -> dict[int, int]:
        found, at = dict[int, int](), listed.place
        while at + 4 <= listed.end:
            head = number(self._data, at)
            first, count = head & 0xFFFFF, head >> 20
            for order in range(min(count, (listed.end - at) // 4 - 1)):
                found[first + order] = number(self._data, at + 4 + 4 * order)
            at += 4 + 4 * count
        return found

    def _records(self, start: int, end: int) -> Iterator[_Record]:
        """The records from a place up to another; what reaches behind its holder is cut off there."""
        while start >= 0 and start + _HEADER <= end and self._left:
            self._left -= 1
            head, kind, length = (number(self._data, start + at, size) for at, size in ((0, 2), (2, 2), (4, 4)))
            place = start + _HEADER
            yield _Record(kind, place, min(place + length, end), head & 0xF, head >> 4)
            start = place + length
