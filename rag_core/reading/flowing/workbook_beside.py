"""What stands beside the cells of a workbook: comments on them, of the old kind and in threads, and text in boxes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple
from zipfile import ZipFile

from rag_core.reading.flowing import archive

_PERSONS = "xl/persons/person.xml"
_SPOKEN = "rPh"  # how a text is pronounced


class CellComment(NamedTuple):
    """A comment on the cell at `place`, as "B3"."""

    place: str
    author: str
    text: str


def comments_of(sheet: str, parts: ZipFile) -> list[CellComment]:
    """The comments on the sheet in a part of a workbook, threads for the notes that stand for them in old programs."""
    persons = {one.get("id"): one.get("displayName", "") for one in _elements(parts, _PERSONS, "person")}
    threads = [
        CellComment(one.get("ref", ""), persons.get(one.get("personId"), ""), _text(one, "text"))
        for part in _related(sheet, "threadedComment", parts)
        for one in _elements(parts, part, "threadedComment")
    ]
    threaded = {one.place for one in threads}
    notes = (one for part in _related(sheet, "comments", parts) for one in _notes(parts, part))
    return [*(one for one in notes if one.place not in threaded), *threads]


def boxes_of(sheet: str, parts: ZipFile) -> Iterator[str]:
    """The paragraphs in the boxes and shapes that are drawn on a sheet."""
    for part in _related(sheet, "drawing", parts):
        for body in _elements(parts, part, "txBody"):
            yield from filter(None, (_text(paragraph, "t").strip() for paragraph in body.iter("{*}p")))


def _related(sheet: str, kind: str, parts: ZipFile) -> Iterator[str]:
    """The parts of a kind that belong to a sheet."""
    folder, name = posixpath.split(sheet)
    for relation in _elements(parts, posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
        if relation.get("Type", "").endswith(f"/{kind}"):
            yield posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:]


def _notes(parts: ZipFile, part: str) -> Iterator[CellComment]:
    authors = ["".join(one.itertext()) for one in _elements(parts, part, "author")]
    for one in _elements(parts, part, "comment"):
        at = archive.number(one.get("authorId"), -1)
        author = authors[at] if 0 <= at < len(authors) else ""
        text = _text(one, "t").strip()
        yield CellComment(one.get("ref", ""), author, text.removeprefix(f"{author}:") if author else text)


def _elements(parts: ZipFile, part: str, name: str) -> Iterator[Any]:
    """The elements of a name in a part, as far as there is such a one."""
    try:
        root = archive.sound_xml(parts.read(part))[0]
    except (KeyError, *archive.BROKEN):
        return
    yield from () if root is None else root.iter(f"{{*}}{name}")


def _text(element: Any, name: str) -> str:
    texts = (one for one in element.iter(f"{{*}}{name}") if not one.getparent().tag.endswith(f"}}{_SPOKEN}"))
    return "".join(one.text or "" for one in texts)
