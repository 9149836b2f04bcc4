"""OpenDocument texts, sheets and slides (ODT, ODS, ODP): headings, paragraphs, lists and tables of content.xml."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from rag_core.errors import UnsupportedDocument
from rag_core.reading.base import Details
from rag_core.reading.flowing import archive
from rag_core.reading.flowing.blocks import Block, Flow, Row, comment, picture, running
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.sheet_tables import tables
from rag_core.reading.headings import reads_as_heading

_SPACES = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
_TEXT, _TABLE, _DRAW, _OFFICE, _SVG, _PRESENTATION, _STYLE, _FO = (
    f"{{{_SPACES.format(name)}}}"
    for name in ("text", "table", "drawing", "office", "svg-compatible", "presentation", "style", "xsl-fo-compatible")
)
_UNSEEN = {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}table-of-content", f"{_OFFICE}forms"}
_UNSEEN |= {f"{_TABLE}shapes", f"{_TEXT}sequence-decls"}
_COMMENT, _CREATOR = f"{_OFFICE}annotation", "{http://purl.org/dc/elements/1.1/}creator"
_MARKS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_STYLE_NAME = f"{_TEXT}style-name"
_LINK, _CHART, _BOX = "{http://www.w3.org/1999/xlink}", f"{{{_SPACES.format('chart')}}}", f"{_DRAW}text-box"
_BESIDE = {_BOX, f"{_DRAW}object"}
_OBJECT, _MOST_OBJECTS = re.compile(r"[^/]+/content\.xml"), 200
_STYLES = "styles.xml"
_LIST, _LOCKED = "META-INF/manifest.xml", b"encryption-data"
_MOST_COLUMNS, _MOST_ROWS = 256, 1000


def read(path: Path, max_chars: int) -> Flow:
    """Open an OpenDocument file. Raises UnsupportedDocument for one with a password, and as `archive.office` does."""
    archive.office(path)
    with archive.checked(path) as folder:
        if _LOCKED in (folder.read(_LIST) if _LIST in folder.namelist() else b""):
            raise UnsupportedDocument(
                "The file is protected by a password.", help="Save it without a password and add it again."
            )
        content, is_sound = archive.sound_xml(folder.read("content.xml"))
        charts = _charts(folder)
        said = archive.xml(folder.read("meta.xml"), recover=True) if "meta.xml" in folder.namelist() else None
        styles = archive.sound_xml(folder.read(_STYLES))[0] if _STYLES in folder.namelist() else None
    notes = () if is_sound else ("The file is damaged: what stands behind the damage was not read.",)

    def named(*names: str) -> str:
        found = (said.xpath(f"string(//*[local-name()='{name}'])").strip() for name in names if said is not None)
        return next(filter(None, found), "")

    details = Details(
        named("title"), named("initial-creator", "creator"), language=named("language"), notes=notes,
        modified=named("date")[:10],
    )  # fmt: skip
    around = () if styles is None else styles.iter(f"{_STYLE}header", f"{_STYLE}footer")
    texts = ((one.tag.rpartition("}")[2].capitalize(), _joined(one)) for one in around)
    body = _Content(content, charts)
    return Flow(chain(running(texts), body.blocks()), details, notes=body.notes)


class _Content:
    def __init__(self, root: Any, charts: dict[str, Any]) -> None:
        self.notes: list[str] = []
        self._charts = charts
        self._hidden = _styles(root, f"{_TABLE}display", "false")
        self._body = root.find(f"{_OFFICE}body")
        self._is_book = self._body.find(f"{_OFFICE}spreadsheet") is not None
        self._begun = False
        self._slide_level = 1  # of a slide's title; the first is that of all of them
        self._bold = _styles(root, f"{_FO}font-weight", "bold")
        self._breaking = _styles(root, f"{_FO}break-before", "page")
        self._bold_are_headings = self._bold_lead()

    def blocks(self) -> Iterator[Block]:
        """The blocks in order, without recursion."""
        waiting, hidden = list(reversed(self._body)), list[str]()
        while waiting:
            element = waiting.pop()
            tag = element.tag
            if tag == _COMMENT:
                yield from _comments(element)
            if tag in _UNSEEN:
                continue
            if tag in (f"{_TEXT}h", f"{_TEXT}p"):
                yield from spared(self._paragraph(element), "A paragraph", self.notes)
            elif tag == f"{_TABLE}table":
                yield from self._next_page(element.get(f"{_TABLE}name", "")) if self._is_book else ()
                yield from spared(_table(element), "A table", self.notes)
                yield from self._beside(element)
                if self._is_book and element.get(f"{_TABLE}style-name") in self._hidden:
                    hidden.append(element.get(f"{_TABLE}name", ""))
            elif tag == f"{_DRAW}object":
                yield from self._chart(element)
            elif tag == f"{_PRESENTATION}notes":
                words = [_words(paragraph) for paragraph in element.iter(f"{_TEXT}p")]
                if any(words):
                    yield Block("note", "Notes: " + "\n".join(words))
            else:
                if tag == f"{_DRAW}page":
                    yield from self._next_page("")
                waiting.extend(reversed(element))
        if hidden:
            self.notes.append(f"Sheets that the workbook hides, and that were read: {', '.join(hidden)[:300]}.")

    def _next_page(self, name: str) -> Iterator[Block]:
        if self._begun:
            yield Block("page")
        self._begun = True
        if name:
            yield Block("heading", name, level=2)

    def _paragraph(self, element: Any) -> Iterator[Block]:
        before = element.getprevious()
        if element.get(_STYLE_NAME) in self._breaking and before is not None and before.tag not in _UNSEEN:
            yield Block("page")
        if element.tag == f"{_TEXT}h":
            level = archive.number(element.get(f"{_TEXT}outline-level"), 1)
            yield Block("heading", _words(element), level)
        elif any(one.get(f"{_PRESENTATION}class") == "title" for one in element.iterancestors(f"{_DRAW}frame")):
            yield Block("heading", _words(element), self._slide_level)
            self._slide_level = 2
        else:
            listed = next(element.iterancestors(f"{_TEXT}list-item"), None) is not None
            is_heading = self._bold_are_headings and self._looks_like_heading(element)
            yield Block("item" if listed else "heading" if is_heading else "paragraph", _words(element))
        for note in element.iter(f"{_TEXT}note"):
            mark = note.findtext(f"{_TEXT}note-citation") or "*"
            yield Block("note", f"[{mark}] {' '.join(_words(one) for one in note.iter(f'{_TEXT}p'))}")
        yield from _comments(element)
        yield from self._beside(element)
        for _ in element.iter(f"{_TEXT}soft-page-break"):
            yield Block("page")

    def _beside(self, element: Any) -> Iterator[Block]:
        """What stands in boxes and charts that hang on a paragraph or a sheet."""
        for box in element.iter(_BOX):
            for text in box.iter(f"{_TEXT}p", f"{_TEXT}h"):
                if element.tag != f"{_TABLE}table" and next(text.iterancestors(_BOX)) is box:
                    yield Block("paragraph", _words(text))
        for one in element.iter(f"{_DRAW}object"):
            yield from self._chart(one)

    def _chart(self, element: Any) -> Iterator[Block]:
        """The title of a chart and the numbers that it draws."""
        root = self._charts.get(element.get(f"{_LINK}href", "").removeprefix("./"))
        for chart in () if root is None else root.iter(f"{_CHART}chart"):
            title = chart.find(f"{_CHART}title")
            yield Block("paragraph", "" if title is None else _joined(title))
            # A sheet has them in its cells.
            for table in () if self._is_book else chart.iterchildren(f"{_TABLE}table"):
                yield Block("table", rows=list(_rows(table)))

    def _bold_lead(self) -> bool:
        """Whether bold lines are the headings of a text without others: where most lines are bold, they are not."""
        texts = [one for one in self._body.iter(f"{_TEXT}p") if _words(one).strip()]
        has_headings = next(self._body.iter(f"{_TEXT}h"), None) is not None
        return not has_headings and 2 * sum(map(self._looks_like_heading, texts)) <= len(texts)

    def _looks_like_heading(self, element: Any) -> bool:
        """Whether a paragraph of the text is bold from its beginning to its end and reads as a heading."""
        if element.getparent().tag != f"{_OFFICE}text" or not reads_as_heading(_words(element)):
            return False
        if element.get(_STYLE_NAME) in self._bold:
            return True
        plain = [element.text, *(part.tail for part in element)]
        plain += [_words(part) for part in element if part.get(_STYLE_NAME) not in self._bold]
        return not any(text and text.strip() for text in plain)


def _charts(folder: zipfile.ZipFile) -> dict[str, Any]:
    """What charts and other objects within hold, by their names; those that cannot be read are left out."""
    names = [name for name in folder.namelist() if _OBJECT.fullmatch(name)][:_MOST_OBJECTS]
    return {name.removesuffix("/content.xml"): archive.sound_xml(folder.read(name))[0] for name in names}


def _styles(root: Any, name: str, value: str) -> set[str]:
    """The names of the text's own styles that set something so."""
    styles = root.iter(f"{_STYLE}style")
    return {style.get(f"{_STYLE}name") for style in styles if any(part.get(name) == value for part in style)}


def _table(table: Any) -> Iterator[Block]:
    """The tables of a sheet, or the one of a text, with the comments on it and the texts drawn on it."""
    yield from tables(_rows(table))
    yield from _comments(table)
    for text in table.iterfind(f"{_TABLE}shapes//{_TEXT}p"):
        yield Block("paragraph", _words(text))


def _rows(table: Any) -> Iterator[Row]:
    """The rows of a table. Cells that stand for many equal ones are written as often, within reason."""
    for row in table.iter(f"{_TABLE}table-row"):
        cells: list[str | None] = []
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            text = _cell_words(cell)
            covered = cell.tag == f"{_TABLE}covered-table-cell"
            cells += [None if covered and not text else text] * _times(cell, "columns", _MOST_COLUMNS)
        filled = any(cells)
        yield from [cells[:_MOST_COLUMNS]] * (_times(row, "rows", _MOST_ROWS) if filled else 1)


def _comments(element: Any) -> Iterator[Block]:
    """The comments on a paragraph, or on a table's cells, with what the cell says."""
    for one in element.iter(_COMMENT):
        said = " ".join(_words(paragraph) for paragraph in one.iter(f"{_TEXT}p"))
        cell = next(one.iterancestors(f"{_TABLE}table-cell"), None)
        row = [] if cell is None else [_cell_words(other) for other in cell.getparent()]
        about = [] if cell is None else [next(filter(None, row), ""), _cell_words(cell)]
        yield comment(said, one.findtext(_CREATOR) or "", ", ".join(filter(None, dict.fromkeys(about))))


def _joined(element: Any) -> str:
    return " ".join(" ".join(_words(one).split()) for one in element.iter(f"{_TEXT}p", f"{_TEXT}h"))


def _cell_words(cell: Any) -> str:
    paragraphs = (one for one in cell.iter(f"{_TEXT}p", f"{_TEXT}h") if next(one.iterancestors(_COMMENT), None) is None)
    return " ".join(map(_words, paragraphs))


def _times(element: Any, what: str, most: int) -> int:
    return min(max(archive.number(element.get(f"{_TABLE}number-{what}-repeated"), 1), 1), most)


def _words(element: Any) -> str:
    """The text of a paragraph with its blanks and tabs; a note within it is a mark."""
    words: list[str] = [element.text or ""]
    waiting = [(child, True) for child in reversed(element)]
    while waiting:
        child, begins = waiting.pop()
        if not begins:
            words.append(child.tail or "")
            continue
        waiting.append((child, False))
        if child.tag == f"{_TEXT}note":
            words.append(f"[{child.findtext(f'{_TEXT}note-citation') or '*'}]")
        elif child.tag == f"{_TEXT}s":
            words.append(" " * min(archive.number(child.get(f"{_TEXT}c"), 1), 100))
        elif child.tag in (f"{_SVG}title", f"{_SVG}desc"):
            # A picture's name is left out where it is described too.
            described = child.tag == f"{_SVG}title" and child.getparent().findtext(f"{_SVG}desc")
            words.append("" if described else f" {picture(child.text)} ")
        elif child.tag not in _UNSEEN and child.tag not in _BESIDE:
            words.append(_MARKS.get(child.tag, "") + (child.text or ""))
            waiting.extend((one, True) for one in reversed(child))
    return "".join(words)
