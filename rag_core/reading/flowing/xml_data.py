"""XML: names as labels and headings, runs of like elements as tables; news feeds (RSS, Atom) by their entries.

No entity and no document type is followed, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import archive, web
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.flowing.records import Record, record_blocks, title_of

_MOST_BYTES, _MOST_BYTES_A_CHAR, _DEEPEST = 64 * 2**20, 16, 100
_FEEDS = {"rss", "feed", "RDF"}
_ENTRIES = ("item", "entry")
_TEXTS = ("encoded", "content", "description", "summary")  # of an entry, the longest form first
_WRITERS, _DAYS = ("author", "creator", "name"), ("pubDate", "published", "updated", "date")


def read(path: Path, max_chars: int) -> Flow:
    """Read a file of XML. Raises UnreadableDocument for what is none, and LimitExceeded."""
    size = path.stat().st_size
    if size > min(_MOST_BYTES, _MOST_BYTES_A_CHAR * max_chars):
        raise LimitExceeded(f"The file has {size:,} bytes, too many for XML that is read whole.")
    root, is_sound = archive.sound_xml(path.read_bytes())
    if root is None:
        raise UnreadableDocument("The file is named as XML is, but holds none.")
    notes = () if is_sound else ("The file is damaged: what stands behind the damage may not have been read.",)
    entries = [one for one in root.iter(etree.Element) if _name(one) in _ENTRIES] if _name(root) in _FEEDS else []
    if entries:
        return Flow(_feed(root, entries), Details(_said(_holder(root), "title"), notes=notes))
    value = _value(root, 0)
    title = title_of(value)
    head = [Block("heading", title or _name(root))]
    return Flow(_after(head, record_blocks(value, 2)), Details(title, notes=notes))


def _after(first: list[Block], rest: Iterator[Block]) -> Iterator[Block]:
    yield from first
    yield from rest


def _value(element: Any, depth: int) -> Any:
    """What an element holds: a text, or a record of its attributes and elements. Text with elements in it is a text."""
    children = [one for one in element if isinstance(one.tag, str)]
    said = [(etree.QName(name).localname, value) for name, value in element.attrib.items()]
    beside = [element.text, *(one.tail for one in element)]
    is_prose = bool(children) and any(text and text.strip() for text in beside)
    if not children or is_prose or depth == _DEEPEST:
        text = " ".join("".join(_texts(element)).split())
        return Record([*said, ("", text)]) if said else text
    return Record([*said, *((_name(one), _value(one, depth + 1)) for one in children)])


def _texts(element: Any) -> Iterator[str]:
    """The texts within an element, without comments and entities."""
    yield element.text or ""
    for one in element:
        if isinstance(one.tag, str):
            yield from _texts(one)
        yield one.tail or ""


def _feed(root: Any, entries: list[Any]) -> Iterator[Block]:
    """A feed's title and what it says of itself, and a heading for each entry with who wrote it, when, and what."""
    holder = _holder(root)
    yield Block("heading", _said(holder, "title"))
    yield from _html(next(filter(None, (_said(holder, name) for name in ("description", "subtitle"))), ""))
    for entry in entries:
        yield Block("heading", _said(entry, "title") or _first(entry, _DAYS), 2)
        lines = (("By", _first(entry, _WRITERS)), ("Date", _first(entry, _DAYS)), ("Link", _link(entry)))
        yield Block("paragraph", "\n".join(f"{name}: {said}" for name, said in lines if said))
        yield from _html(_first(entry, _TEXTS))


def _holder(root: Any) -> Any:
    """The element that says what a feed is: its channel, or the root itself."""
    return next((one for one in root if _name(one) == "channel"), root)


def _html(text: str) -> Iterator[Block]:
    """The blocks of a piece of a web page."""
    if "<" in text:
        yield from web.blocks(web.parsed(text))
    else:
        yield Block("paragraph", text)


def _first(entry: Any, names: tuple[str, ...]) -> str:
    return next(filter(None, (_said(entry, name) for name in names)), "")


def _said(element: Any, name: str) -> str:
    """What the first element of this name within another says."""
    found = next((one for one in element if _name(one) == name), None)
    if found is None:
        return ""
    if any(isinstance(one.tag, str) for one in found):  # Atom's people are elements, its texts may be pages
        inner = next((one for one in found if _name(one) == "name"), None)
        return (
            str(inner.text or "") if inner is not None else etree.tostring(found, encoding="unicode", with_tail=False)
        )
    return (found.text or "").strip()


def _link(entry: Any) -> str:
    found = [one for one in entry if _name(one) == "link"]
    links = ((one.get("href") or one.text or "").strip() for one in found if one.get("rel", "alternate") == "alternate")
    return next(filter(None, links), "")


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
