"""Word documents (DOCX): python-docx opens them, and every paragraph is found however it is wrapped.

Page ends are those that Word drew last, where it left them, else those that the author set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from lxml import etree

from rag_core.reading.flowing import archive
from rag_core.reading.flowing.blocks import Block, Flow, Kind, Row, comment, picture, running
from rag_core.reading.flowing.damage import spared
from rag_core.reading.flowing.hidden import NOT_SHOWN, TINY, WHITE, Hidden
from rag_core.reading.flowing.numbering import Numbering
from rag_core.reading.flowing.word_comments import commented
from rag_core.reading.flowing.word_file import details_of, opened, style_of, styles_of
from rag_core.reading.headings import reads_as_heading
from rag_core.reading.text import raised

_TEXT, _BREAK, _DRAWN = qn("w:t"), qn("w:br"), qn("w:lastRenderedPageBreak")
_PARAGRAPH, _TABLE, _ROW = qn("w:p"), qn("w:tbl"), qn("w:tr")
_NOTES = {qn("w:footnoteReference"): "", qn("w:endnoteReference"): "e"}  # what is put before their numbers
_FORMULA = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_MARKS = {qn("w:tab"): "\t", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
# What was moved away or deleted, what a program without text boxes would show instead, and what makes up the layout.
_UNSEEN = {qn("w:del"), qn("w:moveFrom"), "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
_UNSEEN |= {qn("w:pPr"), qn("w:rPr"), qn("w:tblPr"), qn("w:sectPr")}
_PICTURE = qn("wp:docPr")
_BLIP, _EXTENT, _DRAWINGS = qn("a:blip"), qn("wp:extent"), (qn("wp:inline"), qn("wp:anchor"))
# In English Metric Units (ECMA-376), 360,000 a centimetre: what is smaller in both ways is a sign, no figure.
_LEAST_EMU = 540_000
_ALIGNED = f"{qn('w:rPr')}/{qn('w:vertAlign')}"
_BODY_LEVEL = 9
_MOST_COLUMNS, _MOST_BASES = 256, 11
_RUN, _SHAPE = qn("w:r"), qn("w:txbxContent")
_BOLD = qn("w:b")
_VANISH, _COLOUR, _SIZE = _HIDING = qn("w:vanish"), qn("w:color"), qn("w:sz")
_SHADE, _HIGHLIGHT, _FILL = qn("w:shd"), qn("w:highlight"), qn("w:fill")
_NO_FILL = ("auto", "FFFFFF", "ffffff")
_COMMENTED, _ID = qn("w:commentReference"), qn("w:id")
_CELL, _OF_CELL, _OF_TABLE = qn("w:tc"), qn("w:tcPr"), qn("w:tblPr")
_OFF, _WHITE, _TINY_HALF_PT = ("0", "false", "off"), ("FFFFFF", "ffffff"), 4


def read(path: Path, max_chars: int) -> Flow:
    """Open a Word document, also one with macros, which are not run, or a template. Raises as `archive.office`."""
    archive.office(path)
    document, notes = opened(path)
    word = _Word(document, notes)
    return Flow(word.blocks(), details_of(document), word.hidden(), notes)


class _Word:
    def __init__(self, document: Any, notes: list[str]) -> None:
        self._notes_on = notes
        self._part = document.part
        self._body = document.element.body
        self._styles = dict(styles_of(document))
        drawn = next(self._body.iter(_DRAWN), None) is not None
        self._ends = _is_drawn if drawn else _is_set
        self._bold_are_headings = self._bold_lead()

    def blocks(self) -> Iterator[Block]:
        """The paragraphs and tables in order; what letterheads and feet of pages say stands once, on the first page."""
        yield from running((name, " ".join(_joined(around).split())) for name, around in self._around)
        yield from self._within(self._body)
        yield from self._comments.values()  # those that stand nowhere in the text

    def hidden(self) -> Iterator[Hidden]:
        """The text that is set as hidden, tiny, or white where nothing is said of what it stands on."""
        yield from self._hidden_within(self._body)
        for _, around in self._around:
            yield from (Hidden(" ".join(text.split()), why) for text, why in self._hidden_within(around))

    def _hidden_within(self, around: Any) -> Iterator[Hidden]:
        roots = (around, *(style.element for style in self._styles.values()))
        if not any(map(_may_hide, (setting for root in roots for setting in root.iter(*_HIDING)))):
            return
        for paragraph in around.iter(_PARAGRAPH):
            runs = (element for element in _seen(paragraph) if element.tag == _RUN)
            for why, together in groupby(runs, key=lambda run: self._why_unseen(run, paragraph)):
                if why:
                    yield Hidden("".join(map(_joined, together)), why)

    def _why_unseen(self, run: Any, paragraph: Any) -> str:
        styles = [*self._styles_of(style_of(run)), *self._styles_of(style_of(paragraph))]
        said = [found for found in (run.rPr, *(style.element.rPr for style in styles)) if found is not None]

        def first(name: str) -> str | None:
            element = next((one for one in (part.find(name) for part in said) if one is not None), None)
            return None if element is None else str(element.get(qn("w:val"), ""))

        if first(_VANISH) not in (None, *_OFF):
            return NOT_SHOWN
        if (size := archive.number(first(_SIZE))) and size < _TINY_HALF_PT:
            return TINY
        return WHITE if first(_COLOUR) in _WHITE and not self._has_ground(run, said, paragraph, styles) else ""

    def _has_ground(self, run: Any, said: list[Any], paragraph: Any, styles: list[Any]) -> bool:
        """Whether a run stands on something: a shade, a highlight, a table whose style has shades, a shape."""
        settings = [*said, paragraph.pPr, *(style.element.pPr for style in styles)]
        for around in run.iterancestors(_CELL, _TABLE):
            settings += around.iterchildren(_OF_CELL, _OF_TABLE)
        shades = [shade for part in settings if part is not None for shade in part.iterchildren(_SHADE, _HIGHLIGHT)]
        for table in run.iterancestors(_TABLE):
            for style in self._styles_of(table.tblStyle_val):
                shades += style.element.iter(_SHADE)
        return (
            any(map(_is_seen, shades))
            or self._body.getparent().find(qn("w:background")) is not None
            or next(run.iterancestors(_SHAPE), None) is not None
        )

    def _styles_of(self, name: str | None) -> list[Any]:
        """A style and those that it is based on."""
        found: list[Any] = []
        style = self._styles.get(name or "")
        while style is not None and len(found) < _MOST_BASES:
            found.append(style)
            style = style.base_style
        return found

    def _within(self, around: Any) -> Iterator[Block]:
        for element in _parts(around):
            is_table = element.tag == _TABLE
            found = self._table(element) if is_table else self._paragraph(element)
            yield from spared(found, "A table" if is_table else "A paragraph", self._notes_on)

    def _paragraph(self, paragraph: Any) -> Iterator[Block]:
        """A paragraph, whole on the page where it begins, and the pages that end within it."""
        text, ends, pictures = "", 0, tuple[str, ...]()
        for element in _seen(paragraph):
            if self._ends(element):
                if not text.strip():
                    yield Block("page")
                else:
                    ends += 1
            text += _text(element)
            if element.tag == _BLIP and _is_large(element):
                pictures = (*pictures, archive.picture_part(self._part, element.get(qn("r:embed"), "")))
        style = self._style(paragraph)
        level = self._level(paragraph, style) or int(
            self._bold_are_headings and self._looks_like_heading(paragraph, text)
        )
        if not style.startswith("toc "):
            mark = self._mark(paragraph) if text.strip() else None
            kind: Kind = "heading" if level else "paragraph" if mark is None else "item"
            text = f"{mark} {text.lstrip()}" if level and mark else text
            is_caption = style == "caption"
            yield Block(kind, text, level or 1, mark=mark or "•", pictures=pictures, is_caption=is_caption)
        yield from self._beside(paragraph)
        yield from [Block("page")] * ends

    def _table(self, table: Any) -> Iterator[Block]:
        """A table, its first row again on each page that it goes on to; one of a single cell is a frame around text."""
        own = [row for row in table.iter(_ROW) if _table_of(row) is table]
        if all(len(list(_cells(row, ()))) == 1 for row in own):
            for cell in table.iter(_CELL):
                if _table_of(cell) is table:
                    yield from self._within(cell)
            return
        rows: list[Row] = []
        first: list[Row] = []
        for row in own:
            if rows and any(map(self._ends, row.iter(_BREAK, _DRAWN))):
                yield Block("table", rows=rows)
                yield Block("page")
                first, rows = first or rows[:1], []
            above = rows or first
            rows.append(list(_cells(row, above[-1] if above else ())))
            if inner := [one for one in row.iter(_TABLE) if _table_of(one) is table]:
                yield Block("table", rows=rows)
                first, rows = first or rows[:-1][:1], []
                for one in inner:
                    yield from self._table(one)
        yield Block("table", rows=[*first, *rows] if rows else ())
        yield from self._beside(table)

    @cached_property
    def _around(self) -> list[tuple[str, Any]]:
        """The heads and feet of pages."""
        kinds = (("Header", RELATIONSHIP_TYPE.HEADER), ("Footer", RELATIONSHIP_TYPE.FOOTER))
        found = ((name, root) for name, kind in kinds for root in self._related(kind))
        return [(name, parse_xml(etree.tostring(root))) for name, root in found]

    def _beside(self, element: Any) -> Iterator[Block]:
        """The comments on what a paragraph or table says, and its notes."""
        for mark in element.iter(_COMMENTED):
            if found := self._comments.pop(mark.get(_ID), None):
                yield found
        for mark in element.iter(*_NOTES):
            if element.tag == _TABLE and _table_of(mark) is not element:  # one in a table within, said there
                continue
            number = _number_of(mark)
            if text := self._footnotes.get(number, ""):
                yield Block("note", f"[{number}] {text}")

    @cached_property
    def _footnotes(self) -> dict[str, str]:
        """The texts of foot- and endnotes by their numbers."""
        foot = (("", note) for root in self._related(RELATIONSHIP_TYPE.FOOTNOTES) for note in root)
        end = (("e", note) for root in self._related(RELATIONSHIP_TYPE.ENDNOTES) for note in root)
        return {f"{kind}{note.get(_ID, '')}": _joined(note).strip() for kind, note in chain(foot, end)}

    @cached_property
    def _comments(self) -> dict[str, Block]:
        """The comments by their numbers, each taken out where it is read."""
        words = commented(self._body)
        found = (one for root in self._related(RELATIONSHIP_TYPE.COMMENTS) for one in root.iter(qn("w:comment")))
        return {
            (number := one.get(_ID)): comment(_joined(one), one.get(qn("w:author"), ""), words.get(number, ""))
            for one in found
        }

    def _related(self, kind: str) -> Iterator[Any]:
        """The roots of the document's parts of a kind, as far as they can be read."""
        for relation in self._part.rels.values():
            if relation.reltype == kind and not relation.is_external:
                root, is_sound = archive.sound_xml(relation.target_part.blob)
                if not is_sound:
                    self._notes_on.append(f"A part of the file is damaged: {relation.target_part.partname}.")
                if root is not None:
                    yield root

    def _style(self, paragraph: Any) -> str:
        style = self._styles.get(style_of(paragraph) or "")
        return (style.name or "").lower() if style is not None else ""

    def _level(self, paragraph: Any, style: str) -> int:
        """The heading's level by its style's name, else by the level in the outline that is set for it; 0 for none."""
        if style == "title":
            return 1
        name, _, number = style.partition(" ")
        if name == "heading" and number.isdecimal():
            return archive.number(number, 1)
        own = self._setting(paragraph, qn("w:outlineLvl"))
        level = archive.number(own.get(qn("w:val")), _BODY_LEVEL) if own is not None else _BODY_LEVEL
        return level + 1 if 0 <= level < _BODY_LEVEL else 0

    def _bold_lead(self) -> bool:
        """Whether bold lines are the headings of a document without others: where most lines are bold, they are not."""
        paragraphs = list(self._body.iterchildren(_PARAGRAPH))
        if any(self._level(one, name) for one in paragraphs if (name := self._style(one)) != "title"):
            return False
        texts = [(one, text) for one in paragraphs if (text := _joined(one)).strip()]
        return 2 * sum(self._looks_like_heading(one, text) for one, text in texts) <= len(texts)

    def _looks_like_heading(self, paragraph: Any, text: str) -> bool:
        """Whether a paragraph of the body is bold from its beginning to its end and reads as a heading."""
        if paragraph.getparent() is not self._body or not reads_as_heading(text):
            return False
        runs = [element for element in _seen(paragraph) if element.tag == _RUN and _joined(element).strip()]
        return bool(runs) and all(self._is_bold(run, paragraph) for run in runs)

    def _is_bold(self, run: Any, paragraph: Any) -> bool:
        styles = [*self._styles_of(style_of(run)), *self._styles_of(style_of(paragraph))]
        said = (part.find(_BOLD) for part in (run.rPr, *(one.element.rPr for one in styles)) if part is not None)
        first = next((one for one in said if one is not None), None)
        return first is not None and first.get(qn("w:val")) not in _OFF

    def _mark(self, paragraph: Any) -> str | None:
        """The number that a paragraph has in a list, "" for a bullet, None for one that is in none."""
        numbered = self._setting(paragraph, qn("w:numId"))
        if numbered is None or numbered.get(qn("w:val")) == "0" or self._numbering is None:
            return None
        level = numbered.getparent().find(qn("w:ilvl"))
        place = None if level is None else archive.number(level.get(qn("w:val")))
        return self._numbering.label(numbered.get(qn("w:val"), ""), place, style_of(paragraph) or "")

    @cached_property
    def _numbering(self) -> Numbering | None:
        return next((Numbering(root) for root in self._related(RELATIONSHIP_TYPE.NUMBERING)), None)

    def _setting(self, paragraph: Any, name: str) -> Any:
        """What a paragraph, its style or a style that this one is based on sets first."""
        elements = [paragraph.pPr, *(style.element.pPr for style in self._styles_of(style_of(paragraph)))]
        found = (next(element.iter(name), None) for element in elements if element is not None)
        return next((element for element in found if element is not None), None)


def _may_hide(setting: Any) -> bool:
    said = setting.get(qn("w:val"), "")
    return bool(
        said in _WHITE
        or (setting.tag == _VANISH and said not in _OFF)
        or (setting.tag == _SIZE and 0 < archive.number(said) < _TINY_HALF_PT)
    )


def _is_seen(shade: Any) -> bool:
    return shade.get(_FILL) not in _NO_FILL or shade.get(qn("w:val"), "clear") != "clear"


def _parts(element: Any) -> Iterator[Any]:
    """The paragraphs and tables below an element, those of content controls and marked changes too."""
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if child.tag in (_PARAGRAPH, _TABLE):
            yield child
        elif child.tag not in _UNSEEN:
            waiting.extend(reversed(child))


def _seen(element: Any, *, tables: bool = True) -> Iterator[Any]:
    """What is below an element, in order, without what nobody sees. tables: whether those within are a part of it."""
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if child.tag not in _UNSEEN and (tables or child.tag != _TABLE):
            yield child
            waiting.extend(reversed(child))


def _text(element: Any) -> str:
    if element.tag in (_TEXT, _FORMULA):
        said = element.text or ""
        if not said.isdecimal():
            return said
        place = element.getparent().find(_ALIGNED)
        return raised(said) if place is not None and place.get(qn("w:val")) == "superscript" else said
    if element.tag == _BREAK:
        return "\n"
    if element.tag in _NOTES:
        return f"[{_number_of(element)}]"
    if element.tag == _PICTURE and (told := picture(element.get("descr"))):
        return f" {told} "
    if element.tag == _PARAGRAPH or (element.tag == _RUN and _is_behind_box(element)):  # the first of a text box
        return "\n"
    return _MARKS.get(element.tag, "")


def _is_large(picture: Any) -> bool:
    """Whether a picture is large enough to be a figure."""
    drawing = next(picture.iterancestors(*_DRAWINGS), None)
    size = None if drawing is None else drawing.find(_EXTENT)
    return size is None or max(archive.number(size.get(side), _LEAST_EMU) for side in ("cx", "cy")) >= _LEAST_EMU


def _is_behind_box(run: Any) -> bool:
    before = run.getprevious()
    return before is not None and before.tag == _RUN and next(before.iter(_SHAPE), None) is not None


def _number_of(mark: Any) -> str:
    return f"{_NOTES[mark.tag]}{mark.get(_ID)}"


def _joined(element: Any) -> str:
    return "".join(map(_text, _seen(element)))


def _table_of(element: Any) -> Any:
    return next(element.iterancestors(_TABLE))


def _cells(row: Any, above: Row) -> Iterator[str | None]:
    """The cells of a row. One that goes on from the row above says its text again where it names the row."""
    yield from [""] * _count(row.find(f"{qn('w:trPr')}/{qn('w:gridBefore')}"), 0)
    cells = [cell for cell in row.iter(_CELL) if next(cell.iterancestors(_ROW)) is row]
    for cell in cells:
        merged = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
        goes_on = merged is not None and merged.get(qn("w:val"), "continue") == "continue"
        own = "".join(map(_text, _seen(cell, tables=False)))  # tables within are read behind the row
        yield (above[0] if above and cell is cells[0] else "") if goes_on else own
        yield from [None] * (_count(cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}"), 1) - 1)


def _count(setting: Any, default: int) -> int:
    """A number of columns that a setting has, kept within reason."""
    return default if setting is None else min(archive.number(setting.get(qn("w:val")), default), _MOST_COLUMNS)


def _is_drawn(element: Any) -> bool:
    return bool(element.tag == _DRAWN)


def _is_set(element: Any) -> bool:
    return bool(element.tag == _BREAK and element.get(qn("w:type")) == "page")
