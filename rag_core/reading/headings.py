"""Headings of a PDF without an outline, told from the body by their type, their words and the blank above them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_core.domain import Box, Line, Section
from rag_core.reading.base import Face, RawPage
from rag_core.reading.sections import bare_words

# A line this much larger than the body's size is taken for a heading.
LARGER = 1.15
# So is a bold line that is no smaller than the body, give or take rounding.
NO_SMALLER = 0.97
MAX_HEADING_CHARS = 120
# Lines in capitals or italics that are headings are shorter, and have so much of their height blank above them.
MAX_PLAIN_CHARS = 70
BLANK_ABOVE = 0.6
# Lines of a heading in larger type stand further apart; more of them than this are a list.
BLANK_BETWEEN, MAX_LINES = 0.9, 4
# Of the text's width: a heading in the body's size that is narrower does not go on in the next line.
FULL = 0.6
MAX_LEVELS = 3
# A heading has a number and its words for parts.
MOST_PARTS = 2
# Most lines of a table's head, blank above one in its height, and how far it may stand left of the figures.
MAX_HEAD_LINES, BLANK_OVER_ROWS, OFF_COLUMN = 20, 1.5, 0.01
# Of a page's characters: where so many are bold, bold sets nothing apart.
ALL_BOLD = 0.9
# A heading that returns more often than this is a running title.
MAX_REPEATS = 3
# More headings than this for each page are tables or posters, not chapters.
MAX_HEADINGS_PER_PAGE = 12
# Least share of pages on which headings must be found: those of a title page alone would name every later page.
LEAST_SPREAD = 0.15

_LETTERS = re.compile(r"[^\W\d_]{2}")
# Bold words within the text run on in small letters or end as sentences do.
_NOT_HEADING = re.compile(r"^[^\w(“\"]|^[a-zß-ÿ]|[.,]$")
# Signs of code and formulas.
_CODE = re.compile(r"[<>={}|_\\]|;$|\w\(")
_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|abbildung|tabelle)\s*[\dIVX]", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:(?:item|note|part|chapter|section|appendix|exhibit|article)\b\s*)?(?:\d+|[IVX]+|[A-Z])?[A-Za-z]?(?:\.\d+)*[.):]?",
    re.IGNORECASE,
)
_BEGINS_ANEW = re.compile(
    r"(?:item|note|part|chapter|section|appendix|exhibit)\s[\dIVX]|\d+(?:\.\d+)*\.?\s+\w", re.IGNORECASE
)
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+\w")
_RUNS_ON = re.compile(r"(?:[,–—-]|\b(?:and|or|of|the|for|to|in|on|with|by|from))$", re.IGNORECASE)
_FIGURE = re.compile(r"[\W_]*\d[\d.,%()\s]*[\W_]*|[—–-]")
_HYPHENS = "-\u00ad"
# Sections that papers have, in any type.
_NAMED = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s+|[IVX]+\.\s+)?(?:abstract|introduction|background|related work|(?:materials and )?methods?|"
    r"methodology|results|discussion|results and discussion|conclusions?|acknowledge?ments?|references|bibliography|"
    r"literature cited|zusammenfassung|einleitung|literatur(?:verzeichnis)?)[.:]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    title: str
    face: Face
    page: int
    start: int
    lines: int = 1


@dataclass(frozen=True, slots=True)
class _Measures:
    """Of a page: the body's size in the document and here, and how wide its text is."""

    size: float
    here: float
    width: float


@dataclass(frozen=True, slots=True)
class _Item:
    """A line with its text; above: blank above it in its height; is_row: whether it is a table's."""

    line: Line
    face: Face
    text: str
    above: float
    is_row: bool


def guess_sections(pages: Sequence[RawPage]) -> tuple[Section, ...]:
    """Return sections in reading order; none where the type tells no headings from the body."""
    body = _body_size(pages)
    found = [item for raw in pages for item in _on_page(_set_apart(raw), body)] if body else []
    counts = Counter(bare_words(item.title) for item in found)
    found = [item for item in found if counts[bare_words(item.title)] <= MAX_REPEATS]
    spread = len({item.page for item in found})
    if not found or len(found) > MAX_HEADINGS_PER_PAGE * len(pages) or spread < LEAST_SPREAD * len(pages):
        return ()
    faces = sorted({item.face for item in found}, reverse=True)
    levels = {face: min(level, MAX_LEVELS) for level, face in enumerate(faces, 1)}
    return tuple(Section(item.title, levels[item.face], item.page, item.start) for item in found)


def reads_as_heading(text: str) -> bool:
    """Whether a line that is set in bold has the words of a heading: few, and not those of a sentence or a caption."""
    bare = text.strip()
    is_named = len(bare) <= MAX_HEADING_CHARS and _LETTERS.search(bare) is not None and not _CAPTION.match(bare)
    return is_named and not _NOT_HEADING.search(bare) and not _CODE.search(bare)


def _body_size(pages: Sequence[RawPage]) -> float:
    weights: Counter[float] = Counter()
    for raw in pages:
        for line, face in zip(raw.page.lines, raw.faces, strict=True):
            weights[face.size] += line.end - line.start
    return weights.most_common(1)[0][0] if weights else 0.0


def _set_apart(raw: RawPage) -> RawPage:
    """The page; of one that is bold throughout, as notices are, without its bold."""
    lengths = [line.end - line.start for line in raw.page.lines]
    bold = sum(length for length, face in zip(lengths, raw.faces, strict=True) if face.bold)
    if len(lengths) <= MAX_LINES or bold < ALL_BOLD * sum(lengths):
        return raw
    return replace(raw, faces=tuple(Face(face.size, False, face.italic) for face in raw.faces))


def _on_page(raw: RawPage, body: float) -> Iterator[_Found]:
    """Yield headings of one page; lines of one face that follow each other closely are one heading."""
    items = _with_heads(list(_items(raw)))
    if not items:
        return
    boxes = [item.line.box for item in items]
    width = max(box.right for box in boxes) - min(box.left for box in boxes)
    measures = _Measures(body, min(body, _body_size([raw])), width)
    run: _Found | None = None
    last = items[0]
    for item, before, after in zip(items, [None, *items[:-1]], [*items[1:], None], strict=True):
        is_heading = _is_heading(item, before, after, measures)
        if run and _continues(last, item, measures):
            title = f"{run.title}{item.text}" if run.title[-1] in _HYPHENS else f"{run.title} {item.text}"
            run = replace(run, title=title, lines=run.lines + 1)
        else:
            yield from _fitting(run, measures)
            run = _Found(item.text, item.face, raw.page.number, item.line.start) if is_heading else None
        last = item
    yield from _fitting(run, measures)


def _fitting(run: _Found | None, measures: _Measures) -> Iterator[_Found]:
    """The heading, unless it is as long as a list or a paragraph or ends as a sentence does."""
    if run is None or len(run.title) > MAX_HEADING_CHARS or run.lines > MAX_LINES:
        return
    if run.face.size >= LARGER * measures.size or not _NOT_HEADING.search(run.title):
        yield run


def _items(raw: RawPage) -> Iterator[_Item]:
    page = raw.page
    start, end = page.body or (0, len(page.text))
    bottom = 0.0
    for line, face in zip(page.lines, raw.faces, strict=True):
        if start <= line.start < end:
            text = " ".join(page.text[line.start : line.end].split())
            gap = line.box.top - bottom if line.box.top > bottom else 1.0
            figures = any(_FIGURE.fullmatch(page.text[cell.start : cell.end]) for cell in line.cells[1:])
            is_row = figures or len(line.cells) > MOST_PARTS
            yield _Item(line, face, text, gap / max(line.box.height, 1e-6), is_row)
            bottom = line.box.bottom


def _with_heads(items: Sequence[_Item]) -> list[_Item]:
    """The lines, those that stand over the figures of a table's first row, and beside these, as rows too."""
    heads: set[int] = set()
    for at, item in enumerate(items):
        if item.is_row and at and not items[at - 1].is_row:
            heads |= _heads_above(items, at)
    return [replace(item, is_row=item.is_row or at in heads) for at, item in enumerate(items)]


def _heads_above(items: Sequence[_Item], row: int) -> set[int]:
    """The numbers of the lines above a table's first row that follow each other closely and stand over its figures, or
    beside one that does."""
    first = items[row].line
    left = first.cells[1].box.left if len(first.cells) > 1 else first.box.right
    near: list[int] = []
    top = first.box.top
    for at in range(row - 1, max(row - MAX_HEAD_LINES - 1, -1), -1):
        box = items[at].line.box
        if items[at].is_row or top - box.bottom > BLANK_OVER_ROWS * box.height:
            break
        near.append(at)
        top = min(top, box.top)
    over = [at for at in near if items[at].line.box.left >= left - OFF_COLUMN]
    beside = (at for at in near if any(_is_beside(items[at].line.box, items[other].line.box) for other in over))
    return {*over, *beside}


def _is_beside(one: Box, other: Box) -> bool:
    return other.top < one.middle < other.bottom


def _is_heading(item: _Item, before: _Item | None, after: _Item | None, measures: _Measures) -> bool:
    text = item.text
    if not _LETTERS.search(text) or _CAPTION.match(text) or item.is_row or _is_in_table(item, before, after):
        return False
    if _CODE.search(text) and not _NUMBERED.match(text):
        return False
    if len(item.line.cells) > 1 and not _NUMBER.fullmatch(text[: item.line.cells[0].end - item.line.start].strip()):
        return False
    if item.face.size >= LARGER * measures.size:
        return True
    if item.face.size < NO_SMALLER * measures.here or _NOT_HEADING.search(text):
        return False
    return item.face.bold or _NAMED.fullmatch(text) is not None or _is_plain_heading(item, after)


def _is_in_table(item: _Item, before: _Item | None, after: _Item | None) -> bool:
    """Whether a line stands among a table's rows, or names those that follow."""
    if after is None or not after.is_row:
        return False
    return item.text.endswith(":") or (before is not None and before.is_row)


def _is_plain_heading(item: _Item, after: _Item | None) -> bool:
    """Whether a line in the body's own weight and size stands alone in capitals or italics above text."""
    if len(item.text) > MAX_PLAIN_CHARS or item.above < BLANK_ABOVE or after is None:
        return False
    if item.text.isupper():
        return len(item.text.split()) > 1 and not after.text.isupper()
    return item.face.italic and not after.face.italic and item.text[-1].isalnum() and not after.is_row


def _continues(last: _Item, item: _Item, measures: _Measures) -> bool:
    """Whether a heading goes on in the next line."""
    if last.face != item.face or item.is_row or _BEGINS_ANEW.match(item.text):
        return False
    if last.face.size >= LARGER * measures.size:
        return item.above < BLANK_BETWEEN
    if not last.face.bold:
        return False
    wide = last.line.box.right - last.line.box.left >= FULL * measures.width
    return item.above < BLANK_ABOVE and (wide or item.text[:1].islower() or _RUNS_ON.search(last.text) is not None)
