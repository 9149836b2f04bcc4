"""A conversation as PDF, written with fpdf2 in fonts of this machine. Nothing in it can be followed or loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from itertools import groupby

from fpdf import FPDF
from fpdf.enums import XPos, YPos

from rag_core.exporting import fonts
from rag_core.exporting.thread import Paragraph, Style, Thread, paragraphs

MISSING = "This machine's fonts lack {count} of the characters above; the Markdown export has them."
_EMPHASIS = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`|^#{1,6}\s+", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")
_CORE = "helvetica"
# A table with more columns, or with more characters in them when each is as long as the longest, may not fit a page.
# Columns share its width by their longest cells, in characters.
_MOST_COLUMNS, _MOST_CHARS = 12, 1_500
_NARROW, _WIDE, _TABLE_POINTS = 8, 24, 9
# Points, bold, grey (0 black), millimetres above and from the left.
_LOOKS: dict[Style, tuple[float, bool, int, float, float]] = {
    "title": (18, True, 0, 0, 0),
    "note": (9, False, 110, 1, 0),
    "question": (12.5, True, 0, 7, 0),
    "answer": (11, False, 0, 2, 0),
    "source": (9, True, 60, 3, 0),
    "quote": (9, False, 60, 0.5, 5),
}


def pdf(thread: Thread) -> bytes:
    """The whole conversation on A4. Characters that no font has are boxes, and the last line counts them."""
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # tells of each table it leaves out
    written = [_plain(paragraph) for paragraph in paragraphs(thread)]
    text = "".join(paragraph.text for paragraph in written)
    page = FPDF(format="A4")
    page.set_margins(22, 20)
    page.set_auto_page_break(True, 20)
    page.set_title(thread.conversation.title)
    page.set_creator("Lectern")
    page.set_creation_date(thread.conversation.updated_at)
    family, known = _load(page, text)
    page.add_page()
    for paragraph in written:
        _write(page, family, paragraph, known)
    if missing := {character for character in text if ord(character) not in known and not character.isspace()}:
        _write(page, family, Paragraph("note", MISSING.format(count=len(missing))), known)
    return bytes(page.output())


def _load(page: FPDF, text: str) -> tuple[str, frozenset[int]]:
    """The family to write in, and the characters that it has together with those that help it out."""
    chosen = fonts.choose(text)
    if not chosen:
        return _CORE, frozenset(range(0x20, 0x7F)) | frozenset(range(0xA0, 0x100))
    body, *others = chosen
    page.add_font("body", "", body)
    page.add_font("body", "B", fonts.bold_of(body))
    for number, path in enumerate(others):
        page.add_font(f"other{number}", "", path)
    page.set_fallback_fonts([f"other{number}" for number in range(len(others))], exact_match=False)
    return "body", frozenset().union(*(fonts.characters(path) for path in chosen))


def _write(page: FPDF, family: str, paragraph: Paragraph, known: frozenset[int]) -> None:
    size, bold, grey, above, left = _LOOKS[paragraph.style]
    page.set_font(family, "B" if bold else "", size)
    page.set_text_color(grey)
    page.ln(above)
    text = "".join(
        c if ord(c) in known or c.isspace() else "?" if family == _CORE else "\u25a1" for c in paragraph.text
    )
    for is_row, group in groupby(text.split("\n"), key=lambda line: paragraph.style == "answer" and line[:1] == "|"):
        lines = list(group)
        if is_row and (rows := _rows(lines)):
            _table(page, rows)
            page.set_font_size(size)
        else:
            page.set_x(page.l_margin + left)
            page.multi_cell(0, size * 0.5, "\n".join(lines), align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)


def _rows(lines: Sequence[str]) -> list[list[str]]:
    """The cells of a Markdown table, as many in each row; none where it has no rule or would not fit a page."""
    found = [line[1:].rstrip().removesuffix("|").split("|") for line in lines if not _RULE.fullmatch(line)]
    if len(found) == len(lines):
        return []
    columns = max(map(len, found), default=0)
    longest = max((len(cell) for row in found for cell in row), default=0)
    if columns > _MOST_COLUMNS or columns * longest > _MOST_CHARS:
        return []
    return [[cell.strip() for cell in row] + [""] * (columns - len(row)) for row in found]


def _table(page: FPDF, rows: Sequence[Sequence[str]]) -> None:
    """A table of text, its first row the head."""
    widths = [min(max(_NARROW, *map(len, column)), _WIDE) for column in zip(*rows, strict=True)]
    page.set_font_size(_TABLE_POINTS)
    page.set_draw_color(180)
    with page.table(
        rows, col_widths=widths, text_align="LEFT", borders_layout="HORIZONTAL_LINES", padding=0.8,
        line_height=_TABLE_POINTS * 0.5,
    ):  # fmt: skip
        pass


def _plain(paragraph: Paragraph) -> Paragraph:
    """Text without marks of emphasis; an answer keeps its lines."""
    lines = paragraph.text.splitlines() if paragraph.style == "answer" else [paragraph.text]
    text = "\n".join(" ".join(line.split()) for line in lines)
    return Paragraph(paragraph.style, _EMPHASIS.sub(lambda match: match[1] or match[2] or "", text))
