"""Drawings (SVG): their title, descriptions and the words that are drawn, without tags, styles and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag_core.errors import LimitExceeded, UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import archive
from rag_core.reading.flowing.blocks import Block, Flow

_MOST_BYTES = 64 * 2**20
_SAYING, _UNDRAWN = ("title", "desc", "text"), ("script", "style", "metadata", "foreignObject")
_PLACED = ("x", "y", "dy")


def read(path: Path, max_chars: int) -> Flow:
    """Read a drawing. Raises UnreadableDocument for what is none, and LimitExceeded."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise LimitExceeded(f"The file has {size:,} bytes, too many for a drawing that is read whole.")
    root, is_sound = archive.sound_xml(path.read_bytes())
    if root is None or _name(root) != "svg":
        raise UnreadableDocument("The file is named as drawings are (SVG), but holds none.")
    title = next((_words(one) for one in root if _name(one) == "title"), "")
    notes = () if is_sound else ("The file is damaged: what stands behind the damage may not have been read.",)
    lines = [line for line in _lines(root) if line]
    if title and title in lines:
        lines.remove(title)
    blocks = [Block("heading", title), Block("paragraph", "\n".join(lines))]
    return Flow(blocks, Details(title, notes=notes))


def _lines(root: Any) -> Iterator[str]:
    """What each element says that says anything, in order."""
    for element in root.iter(etree.Element):
        around = {_name(one) for one in element.iterancestors()}
        if _name(element) in _SAYING and not around & {*_SAYING, *_UNDRAWN}:
            yield _words(element)


def _words(element: Any) -> str:
    """The words of an element on one line, those apart that are set at places of their own."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Any) -> Iterator[str]:
    for event, one in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event == "start":
            yield " " if any(one.get(place) for place in _PLACED) else ""
            yield one.text or ""
        elif one is not element:
            yield one.tail or ""


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
