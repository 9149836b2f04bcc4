"""Books (EPUB): their chapters in the order of the spine, each on pages of its own, read as web pages are."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from functools import partial
from html import unescape
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rag_core.errors import UnreadableDocument, UnsupportedDocument
from rag_core.reading.base import Details
from rag_core.reading.encoding import decode
from rag_core.reading.flowing import archive, web
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.unseen import hidden_note, hidden_texts

_CONTAINER, _LOCKS = "META-INF/container.xml", "META-INF/encryption.xml"
_HEADING_WITHIN = 4  # blocks of a chapter among which its own heading is looked for


def read(path: Path, max_chars: int) -> Flow:
    """Open a book. Raises UnsupportedDocument for one that is locked to a shop's programs, and as `archive.checked`."""
    with archive.checked(path) as book:
        container = archive.xml(book.read(_CONTAINER), recover=True)
        place = container.xpath("string(//*[local-name()='rootfile']/@full-path)") or _package(book)
        package = archive.xml(book.read(place), recover=True)
        chapters = _chapters(package, posixpath.dirname(place))
        if not chapters:
            raise UnreadableDocument("The book lists no chapters.")
        _refuse_locked(book, chapters)
        names = _names(book, package, posixpath.dirname(place))
        held = set(book.namelist())
    missing = [chapter for chapter in chapters if chapter not in held]
    chapters = [chapter for chapter in chapters if chapter in held]
    notes = [f"Chapters that the book lists but does not hold: {', '.join(missing)[:300]}."] if missing else []
    title, author, language = (_said(package, name) for name in ("title", "creator", "language"))
    return Flow(_blocks(path, chapters, names, notes), Details(title, author, language=language), notes=notes)


def _package(book: zipfile.ZipFile) -> str:
    """The book's package where its container names none."""
    return next((name for name in book.namelist() if name.endswith(".opf")), "")


def _blocks(path: Path, chapters: list[str], names: dict[str, str], notes: list[str]) -> Iterator[Block]:
    """notes: filled with what was not read."""
    damaged, unseen = list[str](), list[str]()
    with archive.checked(path) as book:
        for number, chapter in enumerate(chapters):
            if number:
                yield Block("page")
            data = _part(book, chapter)
            if data is None:
                damaged.append(chapter)
            else:
                blocks = _chapter(data, chapter, names.get(chapter, ""), unseen)
                yield from spared(blocks, f"The chapter {chapter}", notes)
    if damaged:
        notes.append(f"Chapters that are damaged, and were left out: {', '.join(damaged)[:300]}.")
    notes += filter(None, [hidden_note(unseen)])


def _chapter(data: bytes, place: str, name: str, unseen: list[str]) -> Iterator[Block]:
    """unseen: filled with what the chapter hides."""
    root = web.parsed(decode(data)[0])
    unseen += hidden_texts(root)
    found = web.blocks(root, partial(_picture, posixpath.dirname(place)))
    first = list(islice(found, _HEADING_WITHIN))
    if name and not any(block.kind == "heading" for block in first):
        yield Block("heading", name)
    yield from chain(first, found)


def _picture(folder: str, address: str) -> str:
    """The place in the book of a picture that a chapter in a folder shows."""
    place = _within(folder, address)
    return place if archive.DRAWABLE.fullmatch(place) and ":" not in address else ""


def _part(book: zipfile.ZipFile, place: str) -> bytes | None:
    """A part of the book; None for one that is damaged or not there."""
    try:
        return book.read(place)
    except (KeyError, *archive.BROKEN):
        return None


def _chapters(package: Any, folder: str) -> list[str]:
    """The names of the chapters in the archive."""
    items = {item.get("id"): item for item in package.xpath("//*[local-name()='manifest']/*[local-name()='item']")}
    spine = package.xpath("//*[local-name()='spine']/*[local-name()='itemref'][not(@linear='no')]/@idref")
    chosen = (items[one] for one in spine if one in items)
    return [_within(folder, item.get("href", "")) for item in chosen if "html" in item.get("media-type", "")]


def _names(book: zipfile.ZipFile, package: Any, folder: str) -> dict[str, str]:
    """The names that the book's contents give its chapters, by their names in the archive."""
    names: dict[str, str] = {}
    for place in package.xpath("//*[local-name()='item'][contains(@media-type, 'dtbncx') or @properties='nav']/@href"):
        contents = _within(folder, place)
        data = _part(book, contents)
        root = archive.xml(data, recover=True) if data else None
        if root is None:
            continue
        points = root.xpath("//*[local-name()='navPoint']") or root.xpath("//*[local-name()='a'][@href]")
        for point in points:
            target = point.get("href") or point.xpath("string(*[local-name()='content']/@src)")
            # What HTML alone knows by name, as a blank, was left as written.
            name = unescape(point.xpath("string(*[local-name()='navLabel'])") or "".join(point.itertext()))
            names.setdefault(_within(posixpath.dirname(contents), target), name)
    return names


def _within(folder: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(reference.partition("#")[0])))


def _said(package: Any, name: str) -> str:
    found = package.xpath(f"//*[local-name()='metadata']/*[local-name()='{name}']/text()")
    return " ".join(found[0].split()) if found else ""


def _refuse_locked(book: zipfile.ZipFile, chapters: list[str]) -> None:
    """Books are locked chapter by chapter; one that has only its fonts locked is read."""
    if _LOCKS not in book.namelist():
        return
    locked = {unquote(place) for place in archive.xml(book.read(_LOCKS), recover=True).xpath("//*/@URI")}
    if locked & set(chapters):
        raise UnsupportedDocument(
            "The book is locked to the programs of the shop that sold it (DRM).", help="Add a copy that is not locked."
        )
