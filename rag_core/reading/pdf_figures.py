"""The pictures and charts of a PDF's page, with their captions.

A caption is a line that begins with a word and a number; its figure is what is drawn above it, else below it, up to the
nearest paragraph. Pictures without such a line are taken where they are large enough to show something.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium

from rag_core.domain import Box, Figure, Line
from rag_core.reading.base import Face
from rag_core.reading.pdf_arrange import Reading
from rag_core.reading.pdf_rules import form_matrix, moved_by, spanned
from rag_core.reading.pdf_text import Geometry
from rag_core.text.figures import caption_likelihood

# A page with more objects than this has figures of thousands of strokes, whose first ones say where they stand.
_MOST_OBJECTS, _DEPTH = 4_000, 2
# All in fractions of the page. What is drawn over more than this is the page's ground.
_GROUND = 0.85
# How far a figure may stand from its caption; how far apart its parts may be, down and across.
_FROM_CAPTION, _DOWN, _ACROSS = 0.06, 0.03, 0.015
# The least of a figure, and of a picture that has no caption.
_WIDTH, _HEIGHT, _PICTURE_AREA = 0.1, 0.04, 0.02
_ROUNDS = 6
# A line of prose has so many words; two, so many of their heights apart, are a paragraph.
_PROSE_WORDS, _PARAGRAPH_GAP = 7, 1.2
# Lines of a caption, how many heights apart; below a picture its words stand no further than this.
_CAPTION_LINES, _CAPTION_GAP, _BELOW_PICTURE = 8, 0.9, 0.025
_MOST_LABEL_WORDS = 6
# What is left free at the end of a line that is a paragraph's last.
_ROOM = 0.08
_LOOKED_AT = 60
_PICTURES = (pdfium.FPDF_PAGEOBJ_IMAGE,)
_DRAWN = (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING, *_PICTURES)
Place = Callable[[tuple[float, float, float, float]], Box]


@dataclass(frozen=True, slots=True)
class _Item:
    """Something drawn on the page."""

    box: Box
    is_picture: bool
    handle: Any


def page_figures(page: Any, reading: Reading, geometry: Geometry, is_new: Callable[[int], bool]) -> tuple[Figure, ...]:
    """The figures of a loaded FPDF_PAGE in the order of their captions. geometry: of the page as shown.

    is_new: whether no page before this one shows a picture of so many bytes. What is shown again, as letterheads are,
    and what is small has no words to recognise.
    """
    captions = list(_captions(reading))
    items = [
        item for item in _items(page, geometry.box, _DRAWN if captions else _PICTURES) if _area(item.box) < _GROUND
    ]
    pictures = [item.box for item in items if item.is_picture and _is_seen(item.box)]
    if not captions and not pictures:
        return ()
    prose = _paragraphs(reading.text, reading.lines)
    found: list[Figure] = []
    for at in captions:
        figure = _captioned(reading, at, items, prose)
        if figure and not any(one.box and figure.box and _within(figure.box, one.box) for one in found):
            found.append(figure)
    found += list(_uncaptioned(reading, pictures, [one.box for one in found], prose))
    large = [item for item in items if item.is_picture and _area(item.box) >= _PICTURE_AREA]
    ordered = sorted(found, key=lambda figure: figure.start)
    return tuple(replace(one, words=(one.end, one.end)) if _may_say(one, large, is_new) else one for one in ordered)


def _may_say(figure: Figure, pictures: Sequence[_Item], is_new: Callable[[int], bool]) -> bool:
    """Whether a figure has a large picture that the document did not show before."""
    own = (item.handle for item in pictures if figure.box and _within(item.box, figure.box))
    return any([is_new(pdfium.FPDFImageObj_GetImageDataRaw(picture, None, 0)) for picture in own])


def _captions(reading: Reading) -> list[int]:
    """The lines that may begin a caption, the likeliest first."""
    likelihood = [caption_likelihood(reading.text[line.start : line.start + _LOOKED_AT]) for line in reading.lines]
    return sorted((at for at, likely in enumerate(likelihood) if likely), key=lambda at: -likelihood[at])


def _items(page: Any, place: Place, kinds: Sequence[int]) -> Iterator[_Item]:
    count = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
    return _drawn((pdfium.FPDFPage_GetObject(page, index) for index in range(count)), place, kinds, _DEPTH)


def _drawn(objects: Iterable[Any], place: Place, kinds: Sequence[int], depth: int) -> Iterator[_Item]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for item in objects:
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth:
            yield from _in_form(item, place, kinds, depth)
        elif kind in kinds and pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            box = place((left.value, top.value, right.value, bottom.value))
            yield _Item(box, kind == pdfium.FPDF_PAGEOBJ_IMAGE, item)


def _in_form(form: Any, place: Place, kinds: Sequence[int], depth: int) -> Iterator[_Item]:
    """What a form draws; charts are put into pages as forms, and some writers put all of a page into one."""
    matrix, count = form_matrix(form), min(pdfium.FPDFFormObj_CountObjects(form), _MOST_OBJECTS)

    def within(rect: tuple[float, float, float, float]) -> Box:
        left, top, right, bottom = rect
        return place(spanned(moved_by(matrix, left, top), moved_by(matrix, right, bottom)))

    return _drawn((pdfium.FPDFFormObj_GetObject(form, index) for index in range(count)), within, kinds, depth - 1)


def _paragraphs(text: str, lines: Sequence[Line]) -> list[Box]:
    """The boxes of the lines of paragraphs: no figure reaches over one."""
    prose = [line for line in lines if not line.cells and len(text[line.start : line.end].split()) >= _PROSE_WORDS]
    found: list[Box] = []
    for one, other in pairwise(prose):
        if -1.0 < (other.box.top - one.box.bottom) / max(one.box.height, 1e-6) < _PARAGRAPH_GAP:
            found += [one.box, other.box]
    return found


def _captioned(reading: Reading, at: int, items: Sequence[_Item], prose: Sequence[Box]) -> Figure | None:
    """The figure of the caption that begins with a line, if anything is drawn beside it."""
    lines = list(_caption(reading.lines[at:], reading.faces[at:]))
    caption = Box.around([line.box for line in lines])
    others = [box for box in prose if not _within(box, caption)]
    for is_above in (True, False):
        edge = _bound(caption, others, is_above)
        free = [item.box for item in items if _is_beside(item.box, caption, edge, is_above)]
        near = [box for box in free if _overlap(box, caption) and _gap(box, caption) <= _FROM_CAPTION]
        if near and (box := _labelled(_grown(near, free), reading, caption)) and _is_large(box):
            return Figure(lines[0].start, lines[-1].end, box)
    return None


def _caption(lines: Sequence[Line], faces: Sequence[Face]) -> Iterator[Line]:
    """The lines of a caption: those that go on below the first in its type."""
    yield lines[0]
    first = faces[0].size
    for (above, line), face in zip(pairwise(lines[:_CAPTION_LINES]), faces[1:], strict=False):
        gap = (line.box.top - above.box.bottom) / max(above.box.height, 1e-6)
        is_next = -0.5 < gap < _CAPTION_GAP and _overlap(above.box, line.box)
        if face.size != first or not is_next or _has_room(above.box, line.box):
            return
        yield line


def _has_room(line: Box, below: Box) -> bool:
    """Whether a paragraph ends with a line: there was room in it for more, as the one below shows."""
    return abs(line.left - below.left) < _ACROSS and line.right < below.right - _ROOM


def _bound(caption: Box, prose: Sequence[Box], is_above: bool) -> float:
    """Where the nearest paragraph above a caption ends, or the nearest below it begins."""
    columns = [box for box in prose if _overlap(box, caption)]
    if is_above:
        return max((box.bottom for box in columns if box.bottom <= caption.top + _ACROSS), default=0.0)
    return min((box.top for box in columns if box.top >= caption.bottom - _ACROSS), default=1.0)


def _is_beside(box: Box, caption: Box, edge: float, is_above: bool) -> bool:
    if is_above:
        return edge - _ACROSS <= box.top and box.bottom <= caption.top + _ACROSS
    return caption.bottom - _ACROSS <= box.top and box.bottom <= edge + _ACROSS


def _grown(near: Sequence[Box], free: Sequence[Box]) -> Box:
    """The box of what is drawn near, with what touches it and what touches that."""
    box, left = Box.around(near), list(free)
    for _ in range(_ROUNDS):
        parts = [one for one in left if _touches(box, one)]
        grown = Box.around([box, *parts])
        if grown == box:
            break
        box, left = grown, [one for one in left if one not in parts]
    return box


def _labelled(box: Box, reading: Reading, caption: Box) -> Box:
    """A figure's box with the words at its edges: of axes and legends."""
    labels = [
        line.box
        for line in reading.lines
        if _touches(box, line.box)
        and not _within(line.box, caption)
        and all(len(reading.text[part.start : part.end].split()) <= _MOST_LABEL_WORDS for part in line.cells or (line,))
    ]
    return Box.around([box, *labels])


def _uncaptioned(
    reading: Reading, boxes: Sequence[Box], taken: Sequence[Box | None], prose: Sequence[Box]
) -> Iterator[Figure]:
    """The pictures that have no caption; one in tiles is one. Behind paragraphs they are the page's ground."""
    left = [box for box in boxes if not any(one and _within(box, one) for one in taken)]
    while left:
        whole = _grown(left[:1], left)
        left = [box for box in left if not _within(box, whole)]
        behind = sum(_within(box, whole) for box in prose)
        if _is_large(whole) and _PICTURE_AREA <= _area(whole) < _GROUND and behind < 2:
            yield Figure(*_words_below(reading, whole), whole)


def _words_below(reading: Reading, picture: Box) -> tuple[int, int]:
    """The span of the line that stands right below a picture, else the place behind what stands above it."""
    below = [
        line for line in reading.lines
        if _overlap(line.box, picture) and -0.01 <= line.box.top - picture.bottom <= _BELOW_PICTURE
    ]  # fmt: skip
    if below:
        line = min(below, key=lambda one: one.box.top)
        return line.start, line.end
    end = max((line.end for line in reading.lines if line.box.bottom <= picture.top + _ACROSS), default=0)
    return end, end


def _is_seen(box: Box) -> bool:
    """Whether a picture is more than a rule or a dot, which some writers draw as pictures."""
    return box.right - box.left > _ACROSS and box.height > _ACROSS


def _is_large(box: Box) -> bool:
    return box.right - box.left >= _WIDTH and box.height >= _HEIGHT


def _area(box: Box) -> float:
    return (box.right - box.left) * box.height


def _gap(one: Box, other: Box) -> float:
    return max(one.top - other.bottom, other.top - one.bottom, 0.0)


def _overlap(one: Box, other: Box) -> bool:
    return one.left < other.right and other.left < one.right


def _within(inner: Box, outer: Box) -> bool:
    """Whether the middle of a box stands in another."""
    across, down = (inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2
    return outer.left <= across <= outer.right and outer.top <= down <= outer.bottom


def _touches(one: Box, other: Box) -> bool:
    return (
        other.left <= one.right + _ACROSS and one.left <= other.right + _ACROSS
        and other.top <= one.bottom + _DOWN and one.top <= other.bottom + _DOWN
    )  # fmt: skip
