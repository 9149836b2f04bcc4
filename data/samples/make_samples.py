"""Make the sample PDF again: `python data/samples/make_samples.py`.

Needs reportlab. The same bytes come out each time.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from handbook_source import AUTHOR, BODY, FRONT, SUBTITLE, TITLE  # noqa: E402

INK, QUIET, RULE, TINT = (HexColor(value) for value in ("#1d2733", "#5d6b7a", "#b9c4cf", "#eef2f5"))
# Cover, "about" and contents are numbered i to iii; chapter 1 begins on page 1.
FRONT_PAGES = 3
# 1 March 2024, seconds since 1970.
EDITION = 1_709_251_200

TEXT = ParagraphStyle("text", fontName="Times-Roman", fontSize=9.6, leading=12.6, textColor=INK, spaceAfter=5)
ITEM = ParagraphStyle("item", parent=TEXT, leftIndent=10, bulletIndent=1, spaceAfter=3)
CHAPTER = ParagraphStyle("chapter", parent=TEXT, fontName="Helvetica-Bold", fontSize=16, leading=20, spaceAfter=9)
SECTION = ParagraphStyle(
    "section", parent=TEXT, fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=6, spaceAfter=3
)
CELL = ParagraphStyle(
    "cell", parent=TEXT, fontName="Helvetica", fontSize=8, leading=10, spaceAfter=0, alignment=TA_LEFT
)
COVER = ParagraphStyle("cover", parent=CHAPTER, fontSize=26, leading=31, spaceAfter=10)
LINE = ParagraphStyle("line", parent=TEXT, fontName="Helvetica", fontSize=10, leading=14, textColor=QUIET)


class Heading(Paragraph):
    """A heading that enters itself in the outline."""

    def __init__(self, title: str, style: ParagraphStyle, level: int, key: str) -> None:
        super().__init__(title, style)
        self._entry = (title, key, level)

    def draw(self) -> None:
        """Draw the heading and add its outline entry."""
        title, key, level = self._entry
        self.canv.bookmarkHorizontal(key, 0, self.height)
        self.canv.addOutlineEntry(title, key, level=level, closed=level == 0)
        super().draw()


def blocks(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield kinds ("#", "##", "|", "-", "text") with their lines."""
    for part in re.split(r"\n\s*\n", source.strip()):
        kind, lines = "", [""][:0]
        for line in part.splitlines():
            mark = (re.match(r"##?(?= )|\||-(?= )", line) or [""])[0] or "text"
            if lines and (mark != kind or kind in ("#", "##")):
                yield kind, lines
                lines = []
            kind = mark
            lines.append(line[len(mark) :].strip() if mark not in ("text", "|") else line.strip())
        yield kind, lines


def story(source: str) -> Iterator[Flowable]:
    """Turn the source into flowables; every chapter begins a page."""
    for number, (kind, lines) in enumerate(blocks(source)):
        if kind == "#":
            if number:
                yield PageBreak()
            yield Heading(lines[0], CHAPTER, 0, f"c{lines[0]}")
        elif kind == "##":
            yield Heading(lines[0], SECTION, 1, f"s{number}{lines[0]}")
        elif kind == "|":
            yield table([[cell.strip() for cell in line.strip("|").split("|")] for line in lines])
            yield Spacer(1, 7)
        elif kind == "-":
            yield from (Paragraph(line, ITEM, bulletText="•") for line in lines)
        else:
            yield Paragraph(" ".join(lines), TEXT)


def table(rows: list[list[str]]) -> Table:
    """Make a table whose first row is its head."""
    head = [Paragraph(f"<b>{cell}</b>", CELL) for cell in rows[0]]
    body = [[Paragraph(cell, CELL) for cell in row] for row in rows[1:]]
    first = 40 * mm if len(rows[0]) > 3 else 46 * mm
    rest = (A5[0] - 34 * mm - first) / (len(rows[0]) - 1)
    made = Table([head, *body], colWidths=[first, *[rest] * (len(rows[0]) - 1)])
    made.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), TINT),
                ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
                ("TOPPADDING", (0, 0), (-1, -1), 3),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
            ]
        )
    )
    return made


def contents() -> Iterator[Flowable]:
    """List the chapters with the pages they begin on; each has one page."""
    yield Heading("Contents", CHAPTER, 0, "contents")
    titles = [lines[0] for kind, lines in blocks(BODY) if kind == "#"]
    rows = [[Paragraph(title, LINE), Paragraph(str(page), LINE)] for page, title in enumerate(titles, 1)]
    yield Table(rows, colWidths=[A5[0] - 50 * mm, 16 * mm], style=[("LINEBELOW", (0, 0), (-1, -1), 0.3, RULE)])


def cover() -> Iterator[Flowable]:
    """Title, edition and publisher."""
    yield Spacer(1, 45 * mm)
    yield Paragraph(TITLE.replace(" the ", "<br/>the "), COVER)
    yield Paragraph(SUBTITLE, LINE)
    yield Spacer(1, 60 * mm)
    yield Paragraph(f"{AUTHOR}, 4 Quay Street, Veyra Harbour", LINE)
    yield Paragraph("A sample document: islands, ships and people are invented.", LINE)


def furniture(canvas: Canvas, document: BaseDocTemplate) -> None:
    """Draw what stands on every page but the cover: the running title and the printed page number."""
    page = canvas.getPageNumber()
    label = ("i", "ii", "iii")[page - 1] if page <= FRONT_PAGES else str(page - FRONT_PAGES)
    canvas.saveState()
    canvas.setFillColor(QUIET)
    canvas.setStrokeColor(RULE)
    canvas.setFont("Helvetica", 7.5)
    canvas.line(17 * mm, A5[1] - 13 * mm, A5[0] - 17 * mm, A5[1] - 13 * mm)
    canvas.drawString(17 * mm, A5[1] - 11.5 * mm, TITLE)
    canvas.drawRightString(A5[0] - 17 * mm, 10 * mm, label)
    canvas.restoreState()


def bare(canvas: Canvas, document: BaseDocTemplate) -> None:
    """Set what holds for the whole document; the cover itself has no furniture."""
    canvas.setTitle(TITLE)
    canvas.setAuthor(AUTHOR)
    canvas.setSubject(SUBTITLE)
    canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
    canvas.addPageLabel(FRONT_PAGES, style="ARABIC", start=1)
    canvas.showOutline()


def make(path: Path) -> None:
    """Write the handbook as PDF to `path`."""
    # reportlab takes this for the time of writing, so that the bytes are always the same.
    os.environ["SOURCE_DATE_EPOCH"] = str(EDITION)
    document = BaseDocTemplate(str(path), pagesize=A5, lang="en")
    frame = Frame(17 * mm, 15 * mm, A5[0] - 34 * mm, A5[1] - 31 * mm, 0, 0, 0, 0)
    document.addPageTemplates(
        [PageTemplate("cover", [frame], onPage=bare), PageTemplate("page", [frame], onPage=furniture)]
    )
    turn = [NextPageTemplate("page"), PageBreak()]
    document.build([*cover(), *turn, *story(FRONT), PageBreak(), *contents(), PageBreak(), *story(BODY)])


if __name__ == "__main__":
    make(HERE / "veyra-ferry-handbook.pdf")
