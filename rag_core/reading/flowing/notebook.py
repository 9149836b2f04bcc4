"""Notebooks (IPYNB): texts as Markdown, code, and what it printed; pictures are left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_core.errors import UnreadableDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import archive, web
from rag_core.reading.flowing.blocks import Block, Flow
from rag_core.reading.markdown import find_headings
from rag_core.reading.text import read_text

_PARAGRAPHS = re.compile(r"\n\s*\n")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*(?:\n|$)")
_NO_FRONT = 2  # front matter stands on a document's first page alone


def read(path: Path, max_chars: int) -> Flow:
    """Read a notebook. Raises UnreadableDocument for what is none, and LimitExceeded."""
    text, _ = read_text(path, 4 * max_chars)  # pictures, which are left out, make most of a notebook
    try:
        notebook = json.loads(text)
    except ValueError as error:
        raise UnreadableDocument("The file is named .ipynb but holds no JSON.") from error
    if not isinstance(notebook, dict):
        raise UnreadableDocument("The file is named .ipynb but holds no notebook.")
    sheets = [notebook, *_objects(notebook.get("worksheets"))]  # old notebooks have sheets
    cells = [cell for sheet in sheets for cell in _objects(sheet.get("cells"))]
    (said,) = _objects([notebook.get("metadata")]) or [{}]
    return Flow(_blocks(cells), Details(str(said.get("title", ""))))


def _blocks(cells: list[Any]) -> Iterator[Block]:
    for cell in cells:
        source = _joined(cell.get("source") or cell.get("input") or "")
        if cell.get("cell_type") == "markdown":
            yield from markdown(source)
        elif cell.get("cell_type") == "heading":
            yield Block("heading", source, archive.number(str(cell.get("level")), 1))
        else:
            yield Block("paragraph", source)
            for output in _objects(cell.get("outputs")):
                yield from _output(output)


def markdown(text: str) -> Iterator[Block]:
    """The headings and paragraphs of a piece of Markdown, which is otherwise kept as written."""
    position = 0
    for heading in find_headings(text, _NO_FRONT):
        start = heading.start or 0
        yield from _paragraphs(text[position:start])
        yield Block("heading", heading.title, heading.level)
        position = start + len(text[start:].partition("\n")[0]) + 1
        if underline := _UNDERLINE.match(text, position):
            position = underline.end()
    yield from _paragraphs(text[position:])


def _paragraphs(text: str) -> Iterator[Block]:
    for paragraph in _PARAGRAPHS.split(text):
        yield Block("paragraph", paragraph)


def _output(output: dict[str, Any]) -> Iterator[Block]:
    """What code printed: its table where it has one, else its text."""
    (data,) = _objects([output.get("data")]) or [output]
    page = _joined(data.get("text/html", data.get("html", "")))
    if "<table" in page:
        yield from web.blocks(web.parsed(page))
    else:
        printed = data.get("text/plain") or output.get("text") or output.get("traceback") or ""
        yield Block("paragraph", _COLOURS.sub("", _joined(printed)))


def _objects(found: Any) -> list[dict[str, Any]]:
    """Those of a list that are objects, as all of a notebook's parts should be."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _joined(lines: Any) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)
