"""PowerPoint files (PPTX): a page for each slide, its title a heading, charts as tables, the speaker's notes behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError
from pptx.package import Package

from rag_core.reading.base import Details
from rag_core.reading.flowing import archive
from rag_core.reading.flowing.blocks import Block, Flow, Row, comment, picture

_RUNNING = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
# What python-pptx raises where parts are missing or make no sense.
_DAMAGED = (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, PythonPptxError)
_EMBEDDED = "./*[local-name()='blipFill']/*[local-name()='blip']/@*[local-name()='embed']"
_DESCRIBED = ".//*[local-name()='cNvPr'][@descr]"
_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/"
_DIAGRAMS, _DRAWINGS = f"{{{_SPACE}diagram}}", f"{{{_SPACE}main}}"
_SAYING = ("{*}cm", "{*}reply")
_DIAGRAM = ".//*[local-name()='relIds']/@*[local-name()='dm']"


def read(path: Path, max_chars: int) -> Flow:
    """Open a presentation, a show or a template. Raises as `archive.office` does."""
    archive.office(path)
    notes: list[str] = []
    try:
        presentation = _opened(str(path))
    except (*archive.MENDABLE, PythonPptxError):
        # python-pptx wants all parts that are named, whole and in the usual form
        copy, notes = archive.mended(path)
        presentation = _opened(copy)
    said = presentation.core_properties
    changed = said.modified.date().isoformat() if said.modified else ""
    details = Details(said.title.strip(), said.author.strip(), language=said.language, modified=changed)
    return Flow(_blocks(presentation, notes), details, notes=notes)


def _opened(file: str | BytesIO) -> Any:
    part: Any = Package.open(file).main_document_part
    return part.presentation


def _blocks(presentation: Any, notes: list[str]) -> Iterator[Block]:
    """notes: filled with what was not read."""
    for number, entry in enumerate(presentation.element.get_or_add_sldIdLst()):
        if number:
            yield Block("page")
        try:
            yield from _slide(presentation.part.related_slide(entry.rId), number, notes)
        except _DAMAGED:
            notes.append(f"Slide {number + 1} is damaged or not in the file: what was not found of it was not read.")


def _slide(slide: Any, number: int, notes: list[str]) -> Iterator[Block]:
    title = slide.shapes.title
    if title is not None:
        yield Block("heading", title.text_frame.text, level=1 if not number else 2)
    for shape in _flat(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            try:
                yield from _shape(shape)
            except _DAMAGED:
                notes.append(f"On slide {number + 1} “{shape.name}” is damaged: what is drawn there was not read.")
    yield from _comments(slide)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None and frame.text.strip():
        yield Block("note", f"Notes: {frame.text}")


def _comments(slide: Any) -> Iterator[Block]:
    """The comments on a slide with their answers, of old programs and new ones."""
    presentation = slide.part.package.main_document_part
    listed = chain.from_iterable(_related(presentation, kind) for kind in ("commentAuthors", "authors"))
    authors = {one.get("id"): one.get("name", "") for root in listed for one in root}
    for root in _related(slide.part, "comments"):
        for one in root.iter(*_SAYING):
            texts = (part for part in one.iter("{*}text", "{*}t") if next(part.iterancestors(*_SAYING)) is one)
            yield comment(" ".join(part.text or "" for part in texts), authors.get(one.get("authorId"), ""))


def _related(part: Any, kind: str) -> Iterator[Any]:
    """The roots of a part's relations of a kind, as far as they can be read."""
    for relation in part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            root, _ = archive.sound_xml(relation.target_part.blob)
            yield from [] if root is None else [root]


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes of a slide, those of groups too."""
    waiting = list(reversed(list(shapes)))
    while waiting:
        shape = waiting.pop()
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            waiting.extend(reversed(list(shape.shapes)))
        else:
            yield shape


def _shape(shape: Any) -> Iterator[Block]:
    if shape.is_placeholder and shape.placeholder_format.type in _RUNNING:
        return
    if shape.has_text_frame:
        paragraphs = [paragraph.text for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
        for text in paragraphs:
            yield Block("item" if len(paragraphs) > 1 else "paragraph", text)
    elif getattr(shape, "has_table", False):
        yield Block("table", rows=[[_cell(cell) for cell in row.cells] for row in shape.table.rows])
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    for name in shape.element.xpath(_DIAGRAM):
        relation = shape.part.rels.get(name)  # not there where the file lacks the part
        if relation is not None and not relation.is_external:
            yield from _diagram(relation.target_part.blob)
    said = [picture(element.get("descr")) for element in shape.element.xpath(_DESCRIBED)[:1]]
    pictures = tuple(archive.picture_part(shape.part, name) for name in shape.element.xpath(_EMBEDDED))
    if said or pictures:
        yield Block("paragraph", "".join(said), pictures=pictures)


def _cell(cell: Any) -> str | None:
    """The text of a cell; None for one that goes on from the cell to its left."""
    return None if cell.is_spanned and not cell.text else str(cell.text)


def _diagram(data: bytes) -> Iterator[Block]:
    """The texts of a drawn list, process or organisation (SmartArt), in the order in which they were written."""
    root, _ = archive.sound_xml(data)
    for point in () if root is None else root.iter(f"{_DIAGRAMS}pt"):
        if text := "".join(point.itertext(f"{_DRAWINGS}t")).strip():
            yield Block("item", text)


def _chart(chart: Any) -> Iterator[Block]:
    """The numbers that a chart draws: a row for each category, a column for each series."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield Block("paragraph", chart.chart_title.text_frame.text)
    for plot in chart.plots:
        series = [(one.name, list(one.values)) for one in plot.series]
        rows: list[Row] = [["", *(name for name, _ in series)]]
        for place, label in enumerate(plot.categories):
            values = (found[place] if place < len(found) else None for _, found in series)
            rows.append([str(label), *("" if value is None else f"{value:.15g}" for value in values)])
        yield Block("table", rows=rows)
